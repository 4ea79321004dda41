"""Policy iteration: the iterates of a dense twin, what theory says of M-matrices, and what becomes of other ones."""

from __future__ import annotations

from itertools import pairwise

import grid_operators as grids
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.solvers.newton.policy_iteration.policy_iteration import SHARE, PolicyIteration, begin_nested

EXACT = PolicyIteration(forcing=1e-13, initial="given")


def listed_policies(problem, x, count):
    """Each row takes the least of its equations at x (the middle, for a box); then they are solved."""
    A, (lower, upper) = problem.A.to_dense(), problem.bounds(x)
    points, sets = [], []
    for _ in range(count):
        slack = (A @ x + problem.b) / np.diag(A)
        chosen = np.where((slack >= x - lower) | (lower == upper), -1, np.where(slack <= x - upper, 1, 0))
        free = chosen == 0
        x = np.select([chosen == -1, chosen == 1], [lower, upper], 0.0)
        if free.any():
            right = -(problem.b + A @ np.where(free, 0.0, x))
            x[free] = np.linalg.solve(A[np.ix_(free, free)], right[free])
        points.append(x)
        sets.append(chosen)
    return points, sets


@st.composite
def m_matrices(draw, max_n=20):
    """Symmetric, without positive entries off the diagonal, strictly dominant."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    n = draw(st.integers(1, max_n))
    B = np.triu(rng.uniform(0.0, 1.0, (n, n)) * (rng.random((n, n)) < 0.4), 1)
    B = B + B.T
    return np.diag(B.sum(axis=1) + rng.uniform(0.05, 1.0, n)) - B


@st.composite
def pressure_lcps(draw):
    A = draw(m_matrices())
    b = np.random.default_rng(draw(strategies.SEEDS)).standard_normal(len(A))
    return perp.LCP(strategies.explicit(A, draw(st.sampled_from(strategies.FORMS[:3]))), b)


def points_of(method, problem, x, count):
    state = method.start(problem, x.copy())
    points, free = [], []
    for _ in range(count):
        method.step(problem, state, 1)
        points.append(state.point.copy())
        free.append(state.free.copy())
    return points, free


# -- the iterates -----------------------------------------------------------------------------------------------------


@given(A=m_matrices(), seed=strategies.SEEDS, is_boxed=st.booleans())
def test_the_iterates_are_those_of_a_dense_twin(A, seed, is_boxed):
    rng = np.random.default_rng(seed)
    n = len(A)
    problem = perp.LCP(A, rng.standard_normal(n))
    if is_boxed:
        lower = rng.choice([-np.inf, -0.5, 0.0], n)
        problem = BoxLCP(A, problem.b, lower, np.maximum(lower, -1.0) + rng.choice([0.0, 1.0, np.inf], n))
    x = problem.project(rng.standard_normal(n))
    points, _ = points_of(EXACT, problem, x, 4)
    expected, _ = listed_policies(problem, x, 4)
    for point, wanted in zip(points, expected, strict=True):
        np.testing.assert_allclose(point, wanted, atol=1e-8 * (1.0 + np.abs(wanted).max()))


@given(problem=pressure_lcps(), seed=strategies.SEEDS)
def test_on_an_m_matrix_x_rises_from_the_first_policy_and_the_free_set_grows_from_the_second(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    points, free = points_of(EXACT, problem, x, 6)
    tolerance = 1e-9 * (1.0 + max(np.abs(point).max() for point in points))
    for before, after in pairwise(points):
        assert (after >= before - tolerance).all()
    for point in points[1:]:
        assert (point >= -tolerance).all()
    for before, after in pairwise(free[1:]):
        assert (after | ~before).all()


@given(problem=pressure_lcps(), seed=strategies.SEEDS)
def test_on_an_m_matrix_it_ends_after_at_most_as_many_policies_as_rows(problem, seed):
    """The free set grows strictly from the second policy until nothing changes."""
    x0 = np.random.default_rng(seed).standard_normal(problem.n)
    result = perp.solve(problem, EXACT, x0=x0, tol=1e-9)
    assert result.success
    assert result.iterations <= problem.n + 3
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-7)


@given(problem=st.one_of(strategies.lcps(), strategies.box_lcps()), seed=strategies.SEEDS)
def test_positive_definite_problems_are_solved_from_any_start(problem, seed):
    x0 = np.random.default_rng(seed).standard_normal(problem.n)
    result = perp.solve(problem, PolicyIteration(), x0=x0, tol=1e-9)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-6)


@given(problem=pressure_lcps())
def test_two_steps_and_three_are_five_bit_by_bit(problem):
    method, x = PolicyIteration(), np.zeros(problem.n)
    once, twice = method.start(problem, x.copy()), method.start(problem, x.copy())
    method.step(problem, once, 5)
    method.step(problem, twice, 2)
    method.step(problem, twice, 3)
    np.testing.assert_array_equal(once.x, twice.x)
    assert once.counters == twice.counters


# -- other matrices ---------------------------------------------------------------------------------------------------

CIRCLE = perp.LCP([[11.0, -14.0, -8.0], [-14.0, 20.0, 14.0], [-8.0, 14.0, 14.0]], [-4.0, 5.0, 2.0])
"""Symmetric and positive definite, but no M-matrix: policies from zero come back to themselves."""


def test_where_policies_go_round_in_circles_single_rows_lead_out():
    _, sets = listed_policies(CIRCLE, np.zeros(3), 12)
    seen = [tuple(chosen) for chosen in sets]
    assert seen[-1] != seen[-2]
    assert seen[-1] in seen[:-2]
    result = perp.solve(CIRCLE, EXACT, tol=1e-9)
    assert result.success
    assert result.history.counters["single_changes"][-1] >= 1
    np.testing.assert_allclose(result.x, perp.solve(CIRCLE, "lemke").x, atol=1e-8)


@pytest.mark.parametrize("seed", range(150))
def test_no_status_lies_on_semidefinite_problems(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    J = rng.standard_normal((n, max(1, round(n * (1 - rng.uniform(0, 0.6))))))
    problem = perp.LCP(J @ J.T, rng.standard_normal(n))
    result = perp.solve(problem, PolicyIteration(), max_iterations=300)
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert result.success == (found.residual <= 1e-8)
    assert found.bound_violation == 0.0
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(problem, result.certificate.u).valid


@pytest.mark.parametrize("problem", [perp.LCP([[-1.0]], [-1.0]), perp.LCP([[0.0, 2.0], [2.0, 0.0]], [-1.0, -1.0])])
def test_an_indefinite_matrix_ends_with_breakdown_or_is_solved(problem):
    result = perp.solve(problem, PolicyIteration())
    assert result.success == (perp.verify(problem, result.x).residual <= 1e-8)
    assert result.success or result.status in (Status.BREAKDOWN, Status.INFEASIBLE)


def test_an_asymmetric_matrix_is_refused():
    with pytest.raises(MethodRefused, match=r"policy_iteration.*symmetric"):
        perp.solve(perp.LCP([[2.0, -1.0], [0.0, 2.0]], [-1.0, -1.0]), PolicyIteration())


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300])
def test_the_units_of_a_and_b_do_not_matter(size):
    problem = gallery.make("poisson_2d", n=100).problem
    scaled = perp.LCP(problem.A.to_sparse() * size, problem.b * size)
    expected = perp.solve(problem, PolicyIteration(), tol=1e-10)
    result = perp.solve(scaled, PolicyIteration(), tol=1e-10)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, expected.x, atol=1e-9)


def test_rows_of_unlike_size_are_solved_together():
    """D A D with entries of D from 1e-3 to 1e3: rows choose in units of their own."""
    problem = gallery.make("poisson_2d", n=144).problem
    d = 10.0 ** np.random.default_rng(0).uniform(-3.0, 3.0, problem.n)
    D = sparse.diags_array(d)
    result = perp.solve(perp.LCP(D @ problem.A.to_sparse() @ D, d * problem.b), PolicyIteration(), max_iterations=100)
    assert result.success, result.message
    np.testing.assert_allclose(d * result.x, perp.solve(problem, "block_principal").x, atol=1e-5)


# -- operators and preconditioners ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["auto", "none", "jacobi", "ic0", "mic0", "multigrid"])
@pytest.mark.parametrize("form", ["sparse", "stencil"])
def test_every_preconditioner_serves(name, form):
    if (name, form) == ("multigrid", "sparse"):
        pytest.importorskip("pyamg")
    example = gallery.make("poisson_3d", n=9**3, form=form)
    result = perp.solve(example.problem, PolicyIteration(preconditioner=name), tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)
    assert result.history.counters["policies"][-1] == result.iterations
    assert result.history.counters["inner_failures"][-1] == 0


def test_a_matrix_that_can_only_be_applied_needs_its_diagonal_as_well():
    example = gallery.make("poisson_2d", n=100)
    matrix = example.problem.A.to_sparse()
    bare = LinearOperator(matrix.shape, matvec=lambda v: matrix @ v, dtype=np.float64)
    with pytest.raises(MethodRefused, match="diagonal"):
        perp.solve(perp.LCP(bare, example.problem.b), PolicyIteration())
    known = perp.MatrixFreeOperator(bare, diagonal=matrix.diagonal())
    result = perp.solve(perp.LCP(known, example.problem.b), PolicyIteration(), tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)


def test_what_auto_means():
    grid, dense = gallery.make("poisson_2d", n=100, form="stencil").problem, gallery.make("dense_pd", n=20).problem
    matrix = gallery.make("poisson_2d", n=100).problem
    positive = perp.LCP(abs(matrix.A.to_sparse()), matrix.b)
    names = [PolicyIteration().recipe(problem).name for problem in (grid, matrix, positive, dense)]
    assert names == ["multigrid", "mic0", "ic0", "jacobi"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"forcing": 1.0}, ValueError),
        ({"forcing": 0.0}, ValueError),
        ({"initial": "nest"}, ValueError),
        ({"preconditioner": "multgrid"}, ValueError),
        ({"preconditioner": 3}, TypeError),
        ({"inner_limit": 0}, ValueError),
    ],
)
def test_options_are_checked(options, error):
    with pytest.raises(error, match=next(iter(options))):
        PolicyIteration(**options)


# -- closed regions, dead cells (HARD-INPUTS 66, 67) ------------------------------------------------------------------


@pytest.mark.parametrize("form", ["sparse", "stencil"])
@pytest.mark.parametrize("initial", ["nested", "given"])
def test_row_67_a_closed_vessel_that_fills_is_infeasible_and_ones_prove_it(form, initial):
    problem = gallery.make("closed_fluid", n=400, form=form).problem
    result = perp.solve(problem, PolicyIteration(initial=initial))
    assert result.status is Status.INFEASIBLE
    np.testing.assert_allclose(result.certificate.u, 1.0, rtol=1e-6)


@pytest.mark.parametrize("initial", ["nested", "given"])
@pytest.mark.parametrize("level", [0.0, 0.3])
def test_a_closed_vessel_that_does_not_fill_is_solved_from_any_start(initial, level):
    """From x0 = 1 all cells are free at first: a singular matrix, which contradicts b where its mean is not zero."""
    closed = gallery.make("closed_fluid", n=400, form="stencil").problem
    problem = perp.LCP(closed.A, closed.b - closed.b.mean() + level)
    for x0 in (None, np.ones(400)):
        result = perp.solve(problem, PolicyIteration(initial=initial), x0=x0)
        assert result.success, result.message


def dead_cell_problem(cells=24):
    """A tank with a solid block in it, air above, and one cell without any neighbour (row 66)."""
    shape = (cells, cells)
    liquid = np.ones(shape, dtype=bool)
    liquid[cells // 3 : cells // 2, cells // 3 : cells // 2] = False
    liquid[: cells // 8] = False
    air = np.zeros(shape, dtype=bool)
    air[: cells // 8] = True
    liquid[-1, 0], liquid[-2, 0], liquid[-1, 1] = True, False, False
    couplings = [-(liquid[1:] & liquid[:-1]).astype(float), -(liquid[:, 1:] & liquid[:, :-1]).astype(float)]
    bare = perp.StencilOperator(shape, 0.0, couplings)
    surface = np.zeros(shape)
    surface[1:] += (liquid[1:] & air[:-1]).astype(float)
    diagonal = -(bare @ np.ones(bare.n)).reshape(shape) + surface
    diagonal[~liquid] = 1.0
    b = np.where(liquid, np.random.default_rng(1).standard_normal(shape) - 0.1, 0.0)
    b[-1, 0] = 0.5
    return BoxLCP(
        perp.StencilOperator(shape, diagonal, couplings), b.reshape(-1), 0.0, np.where(liquid, np.inf, 0.0).reshape(-1)
    )


@pytest.mark.parametrize("initial", ["nested", "given"])
def test_row_66_dead_cells_and_a_cell_without_neighbours(initial):
    problem = dead_cell_problem()
    assert (problem.A.centre == 0.0).sum() == 1
    result = perp.solve(problem, PolicyIteration(initial=initial), tol=1e-9)
    assert result.success, result.message
    assert not result.x[problem.upper == 0.0].any()
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal").x, atol=1e-7)


def test_all_solid_is_solved_at_once():
    problem = BoxLCP(perp.StencilOperator((10, 10), 1.0, 0.0), np.zeros(100), 0.0, 0.0)
    result = perp.solve(problem, PolicyIteration())
    assert result.success
    assert result.iterations == 0


# -- nested start -----------------------------------------------------------------------------------------------------


def policies(kind, cells, initial, **options):
    problem = gallery.make(kind, n=cells**2, form="stencil", **options).problem
    result = perp.solve(problem, PolicyIteration(initial=initial))
    assert result.success
    return result.iterations


@pytest.mark.parametrize("kind", ["radial_obstacle", "membrane", "double_obstacle"])
def test_from_coarser_grids_policies_do_not_grow_with_the_grid(kind):
    """From a cold start the free set gains a layer of cells a policy: twice the cells, about twice the policies."""
    cold = [policies(kind, cells, "given") for cells in (32, 64, 128)]
    nested = [policies(kind, cells, "nested") for cells in (32, 64, 128)]
    assert cold[2] >= 1.5 * cold[1] >= 1.5**2 * cold[0] * 0.9
    assert max(nested) <= 7
    assert max(nested) - min(nested) <= 2


def test_inner_iterations_grow_by_less_than_half_from_sixteen_cells_a_side_to_forty_eight():
    counts = []
    for cells in (16, 32, 48):
        problem = gallery.make("poisson_3d", n=cells**3, form="stencil", active=0.5).problem
        result = perp.solve(problem, PolicyIteration())
        assert result.success
        counts.append(result.history.counters["inner_iterations"][-1])
    assert max(counts) <= 1.5 * counts[0]


def test_a_good_start_is_not_thrown_away():
    problem = gallery.make("radial_obstacle", n=64**2, form="stencil").problem
    answer = perp.solve(problem, PolicyIteration(), tol=1e-10).x
    near = problem.project(answer * (1.0 + 1e-7))
    method = PolicyIteration()
    warm = method.start(problem, near.copy())
    method.step(problem, warm, 1)
    given = PolicyIteration(initial="given").start(problem, near.copy())
    PolicyIteration(initial="given").step(problem, given, 1)
    np.testing.assert_array_equal(warm.x, given.x)
    far = method.start(problem, np.full(problem.n, 5.0))
    method.step(problem, far, 1)
    cold = method.start(problem, np.zeros(problem.n))
    method.step(problem, cold, 1)
    np.testing.assert_array_equal(far.x, cold.x)


def test_nested_is_given_where_there_are_no_coarser_grids():
    problem = gallery.make("poisson_2d", n=400).problem
    results = [perp.solve(problem, PolicyIteration(initial=initial)) for initial in ("nested", "given")]
    np.testing.assert_array_equal(results[0].x, results[1].x)


def islands(seed, grid=(9, 8)):
    """Walls make regions that nothing holds, each with couplings from 1e-3 to 1e3."""
    rng = np.random.default_rng(seed)
    couplings, diagonal = [], np.zeros(grid)
    for axis in range(2):
        between = 10.0 ** rng.uniform(-3.0, 3.0, grids.face_shape(grid, axis))
        between[rng.random(between.shape) < 0.4] = 0.0
        diagonal[(slice(None),) * axis + (slice(1, None),)] += between
        diagonal[(slice(None),) * axis + (slice(None, -1),)] += between
        couplings.append(-between)
    return perp.StencilOperator(grid, np.where(diagonal > 0.0, diagonal, 1.0), couplings), rng


@pytest.mark.parametrize("seed", [5, 22, 116, 145])
def test_a_policy_whose_equations_contradict_each_other_is_left_where_bounds_hold_x(seed):
    A, rng = islands(seed)
    b = rng.standard_normal(A.n)
    problem = BoxLCP(A, b, -rng.random(A.n), rng.random(A.n))
    x0 = problem.project(1e3 * rng.standard_normal(A.n))
    assert perp.solve(problem, PolicyIteration(initial="given"), tol=1e-7, x0=x0).success


@pytest.mark.parametrize("form", ["constant", "faces", "rows"])
def test_a_row_of_zeros_with_a_negative_bias_is_a_proof(form):
    couplings = {"constant": 0.0, "faces": [np.zeros(2)]}.get(form, 0.0)
    A = perp.StencilOperator((3,), [2.0, 0.0, 1.0], couplings)
    result = perp.solve(perp.LCP(A.to_sparse() if form == "rows" else A, [-1.0, -1.0, 0.5]), PolicyIteration())
    assert result.status is Status.INFEASIBLE
    np.testing.assert_array_equal(result.certificate.u, [0.0, 1.0, 0.0])


@pytest.mark.parametrize("spread", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("preconditioner", ["multigrid", "mic0"])
def test_a_large_closed_region_is_proved_overfull_and_nothing_is_formed(preconditioner, spread):
    grid, rng = (17, 17, 17), np.random.default_rng(0)
    couplings, diagonal = [], np.zeros(grid)
    for axis in range(3):
        between = 10.0 ** rng.uniform(-spread, spread, grids.face_shape(grid, axis))
        diagonal[(slice(None),) * axis + (slice(1, None),)] += between
        diagonal[(slice(None),) * axis + (slice(None, -1),)] += between
        couplings.append(-between)
    A = perp.StencilOperator(grid, diagonal, couplings)
    b = rng.standard_normal(A.n)
    result = perp.solve(perp.LCP(A, b - b.mean() - 0.01), PolicyIteration(preconditioner=preconditioner))
    assert result.status is Status.INFEASIBLE
    np.testing.assert_array_equal(result.certificate.u, np.ones(A.n))
    assert result.notes == ()


def test_a_start_that_ran_off_on_coarser_grids_is_not_taken():
    A = grids.pressure_matrix(np.ones((70, 70), dtype=bool))
    b = np.random.default_rng(1).standard_normal(A.n)
    result = perp.solve(perp.LCP(A, b - b.mean() - 0.01), PolicyIteration())
    assert result.status is Status.INFEASIBLE


def test_coarser_grids_cost_no_more_than_some_iterations_on_the_finest():
    rng = np.random.default_rng(2)
    couplings = [-(10.0 ** rng.uniform(-3.0, 3.0, grids.face_shape((64, 64), axis))) for axis in range(2)]
    diagonal = np.zeros((64, 64))
    for axis, one in enumerate(couplings):
        diagonal[(slice(None),) * axis + (slice(1, None),)] -= one
        diagonal[(slice(None),) * axis + (slice(None, -1),)] -= one
    problem = perp.LCP(perp.StencilOperator((64, 64), diagonal + 1e-3, couplings), rng.standard_normal(4096))
    method = PolicyIteration(preconditioner="jacobi")
    state = method.start(problem, np.zeros(problem.n))
    begin_nested(problem, state, method)
    work, cells = 0, problem.n
    while cells > 64:
        cells //= 4
        work += 2 * SHARE * problem.n // cells  # the last solve begins within the limit, and has the same one
    assert 0 < state.counters["coarse_inner_iterations"] <= work
