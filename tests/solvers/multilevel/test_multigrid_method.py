"""Projected multigrid: right answers, cycles that do not know the grid, an objective that never rises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multigrid_twin import LENGTH, twin_projected_cycle
from scipy import sparse

import perp
from perp import gallery
from perp.errors import MethodRefused
from perp.linalg.multigrid.hierarchy import COARSEST
from perp.problems.operators import StencilOperator
from perp.solvers.multilevel.multigrid import Multigrid
from perp.solvers.results import Status


def objective(problem, x):
    return 0.5 * float(x @ (problem.slack(x) + problem.b))


def random_box(rng, shape, storage):
    """A pressure matrix with walls, dead cells and leaks, and bounds of all kinds."""
    dead = rng.random(shape) < 0.15
    faces = []
    for axis in range(len(shape)):
        size = tuple(n - (k == axis) for k, n in enumerate(shape))
        ahead = np.take(dead, range(1, shape[axis]), axis) | np.take(dead, range(shape[axis] - 1), axis)
        faces.append(-np.where(ahead, 0.0, rng.uniform(0.2, 1.0, size)))
    couplings = -1.0 if storage == "constant" else faces
    row_sums = -np.asarray(StencilOperator(shape, 0.0, couplings).to_sparse().sum(axis=1)).reshape(shape)
    diagonal = np.where(row_sums > 0.0, row_sums, 1.0) + rng.choice([0.0, 0.5], shape)
    diagonal.flat[0] += 1.0  # the matrix is not singular
    lower = np.where(rng.random(shape) < 0.3, -np.inf, -rng.random(shape))
    upper = np.where(rng.random(shape) < 0.5, np.inf, rng.random(shape))
    if storage == "faces":
        diagonal[dead], lower[dead], upper[dead] = 1.0, 0.0, 0.0
    else:
        lower[lower == -np.inf] = -2.0
    b = rng.standard_normal(shape) * (~dead)
    lower = np.where(np.isinf(lower) & np.isinf(upper), -5.0, lower)
    lower, upper = np.maximum(lower, -5.0), np.minimum(upper, 5.0)
    return perp.BoxLCP(StencilOperator(shape, diagonal, couplings), b.ravel(), lower.ravel(), upper.ravel())


SHAPES = st.one_of(
    st.tuples(st.integers(1, 60)),
    st.tuples(st.integers(1, 16), st.integers(1, 16)),
    st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 7)),
)


@given(
    shape=SHAPES,
    storage=st.sampled_from(["constant", "faces"]),
    seed=st.integers(0, 10**6),
    cycle=st.sampled_from(["V", "F", "W"]),
    coarse=st.sampled_from(["truncated", "monotone"]),
    initial=st.sampled_from(["nested", "given"]),
    sweeps=st.sampled_from([(2, 2), (1, 1), (0, 1), (2, 0)]),
)
def test_any_grid_with_any_bounds_is_solved(shape, storage, seed, cycle, coarse, initial, sweeps):
    problem = random_box(np.random.default_rng(seed), shape, storage)
    method = Multigrid(cycle=cycle, coarse=coarse, initial=initial, pre=sweeps[0], post=sweeps[1])
    result = perp.solve(problem, method, max_iterations=200)
    assert result.success
    assert perp.verify(problem, result.x).natural_inf <= 1e-8


@given(shape=SHAPES, seed=st.integers(0, 10**6), coarse=st.sampled_from(["truncated", "monotone"]))
def test_the_objective_never_rises(shape, seed, coarse):
    rng = np.random.default_rng(seed)
    problem = random_box(rng, shape, "faces")
    method = Multigrid(coarse=coarse, initial="given", accelerate="always")
    state = method.start(problem, problem.project(rng.standard_normal(problem.n)))
    before = objective(problem, state.x)
    for _ in range(6):
        method.step(problem, state, 1)
        after = objective(problem, state.x)
        assert after <= before + 1e-12 * (1.0 + abs(before))
        before = after


@pytest.mark.parametrize(("region", "active"), [("smooth", 0.1), ("smooth", 0.5), ("smooth", 0.9), ("random", 0.5)])
@pytest.mark.parametrize(("kind", "sizes"), [("poisson_2d", (32**2, 256**2)), ("poisson_3d", (12**3, 40**3))])
def test_a_finer_grid_takes_no_more_cycles(kind, sizes, region, active):
    cycles = []
    for n in sizes:
        example = gallery.make(kind, n=n, form="stencil", region=region, active=active)
        result = perp.solve(example.problem, Multigrid())
        assert result.success
        np.testing.assert_allclose(result.x, example.x, atol=1e-5)
        cycles.append(result.iterations)
    assert cycles[1] <= max(1.5 * cycles[0], 8)
    assert cycles[1] <= 9


@pytest.mark.parametrize("shape", [(9, 11), (5, 6, 7), (30,)], ids=str)
def test_a_cycle_is_that_of_its_twin_of_dense_matrices(shape):
    rng = np.random.default_rng(4)
    A = StencilOperator(shape, 2.0 * len(shape) + 0.1, -1.0)
    problem = perp.BoxLCP(A, rng.standard_normal(A.n), -0.1, 0.4)
    method = Multigrid(initial="given", accelerate="never")
    state = method.start(problem, np.zeros(A.n))
    expected, length = np.zeros(A.n), LENGTH
    for _ in range(3):
        method.step(problem, state, 1)
        expected, length = twin_projected_cycle(problem, expected, method.pre, COARSEST, length)
        np.testing.assert_allclose(state.x, expected, atol=1e-12)
    assert ((expected > -0.1) & (expected < 0.4)).any()
    assert (expected == -0.1).any()


def test_step_by_step_is_bit_for_bit_the_same_and_so_is_a_second_run():
    problem = gallery.make("poisson_2d", n=900, form="stencil").problem
    method = Multigrid(accelerate="always")
    together, apart = (method.start(problem, np.zeros(problem.n)) for _ in range(2))
    method.step(problem, together, 5)
    method.step(problem, apart, 2)
    method.step(problem, apart, 0)
    method.step(problem, apart, 3)
    np.testing.assert_array_equal(together.x, apart.x)


def test_the_full_approximation_scheme_is_the_correction_scheme():
    """u = R x + v solves A_c u = A_c R x - P^T y exactly if v solves A_c v = -P^T y: whatever R and A_c are."""
    rng = np.random.default_rng(1)
    A_c = np.diag(np.full(6, 2.5)) - np.diag(np.ones(5), 1) - np.diag(np.ones(5), -1)
    R, P, x, y = rng.random((6, 12)), rng.random((12, 6)), rng.standard_normal(12), rng.standard_normal(12)
    lower, upper = -rng.random(6), rng.random(6)
    correction = perp.BoxLCP(A_c, P.T @ y, lower, upper)
    full = perp.BoxLCP(A_c, P.T @ y - A_c @ R @ x, R @ x + lower, R @ x + upper)
    v, u = (perp.solve(problem, "principal", tol=1e-12).x for problem in (correction, full))
    np.testing.assert_allclose(u, R @ x + v, atol=1e-12)


def test_a_good_start_is_kept_and_a_bad_one_is_not():
    example = gallery.make("poisson_2d", n=64**2, form="stencil")
    near = perp.solve(example.problem, Multigrid(), x0=example.x + 1e-9)
    assert near.iterations <= 2
    far = perp.solve(example.problem, Multigrid(), x0=np.full(example.problem.n, 1e3))
    assert far.success
    assert far.iterations <= 9


def test_coarser_grids_are_not_asked_where_a_start_is_better_than_none(monkeypatch):
    example = gallery.make("poisson_2d", n=32**2, form="stencil")

    def refuse(problem):
        raise AssertionError(problem)

    perp.solve(example.problem, Multigrid())  # kernels are loaded on a small problem that is nested
    monkeypatch.setattr("perp.solvers.nested_start.coarsen", refuse)
    assert perp.solve(example.problem, Multigrid(), x0=0.9 * example.x).success
    with pytest.raises(AssertionError):
        perp.solve(example.problem, Multigrid(), x0=example.x + 100.0)


def test_a_nested_start_saves_cycles_where_much_is_active():
    example = gallery.make("poisson_2d", n=256**2, form="stencil", active=0.9)
    cycles = [perp.solve(example.problem, Multigrid(initial=initial)).iterations for initial in ("nested", "given")]
    assert cycles[0] <= 0.7 * cycles[1]


def test_row_67_a_closed_vessel_that_more_flows_into_than_out_is_proved_infeasible():
    for n in (25, 400, 4096):
        problem = gallery.make("closed_fluid", n=n, form="stencil").problem
        result = perp.solve(problem, Multigrid())
        assert result.status is Status.INFEASIBLE
        assert result.certificate is not None
        assert result.certificate.valid
        np.testing.assert_array_equal(result.certificate.u, np.ones(problem.n))


def test_closed_regions_that_share_coarse_cells_with_open_ones_are_found_too():
    """Two cells between walls in a grid that is open elsewhere."""
    across, along = -np.ones((8, 9)), -np.ones((9, 8))
    across[3:5, 4:6] = along[4, 3] = along[4, 5] = 0.0
    across[3, 4:6] = across[4, 4:6] = 0.0
    row_sums = -np.asarray(StencilOperator((9, 9), 0.0, [across, along]).to_sparse().sum(axis=1)).reshape(9, 9)
    row_sums[0] += 1.0
    b = np.ones((9, 9))
    b[4, 4], b[4, 5] = -2.0, 1.0
    result = perp.solve(perp.LCP(StencilOperator((9, 9), row_sums, [across, along]), b.ravel()), Multigrid())
    assert result.status is Status.INFEASIBLE
    assert np.flatnonzero(result.certificate.u).tolist() == [4 * 9 + 4, 4 * 9 + 5]


def test_closed_regions_that_as_much_flows_into_as_out_are_solved():
    problem = gallery.make("closed_fluid", n=32**2, form="stencil").problem
    consistent = perp.LCP(problem.A, problem.b - problem.b.mean())
    result = perp.solve(consistent, Multigrid())
    assert result.success
    assert result.iterations <= 12


def test_thin_walls_are_solved_in_few_cycles_by_acceleration():
    rng = np.random.default_rng(7)
    faces = [-np.where(rng.random(size) < 0.3, 0.0, rng.random(size)) for size in ((39, 40), (40, 39))]
    row_sums = -np.asarray(StencilOperator((40, 40), 0.0, faces).to_sparse().sum(axis=1)).reshape(40, 40)
    A = StencilOperator((40, 40), row_sums + 0.01, faces)
    problem = perp.LCP(A, rng.standard_normal(A.n))
    plain, accelerated = (
        perp.solve(problem, Multigrid(accelerate=word), max_iterations=2000) for word in ("never", "auto")
    )
    assert accelerated.success
    assert accelerated.iterations < 0.6 * plain.iterations
    assert accelerated.history.counters["accelerated"][-1] > 0


def test_other_units_take_the_same_cycles():
    example = gallery.make("poisson_2d", n=30**2, form="stencil")
    A, b = example.problem.A, example.problem.b
    small = perp.LCP(StencilOperator(A.grid, 4e-6, -1e-6), 1e-6 * b)
    plain, scaled = perp.solve(example.problem, Multigrid()), perp.solve(small, Multigrid())
    assert scaled.success
    assert scaled.iterations <= plain.iterations + 1
    np.testing.assert_allclose(scaled.x, plain.x, atol=1e-6)


def test_single_cells_lines_and_dead_grids_are_solved():
    for shape in ((1,), (1, 1, 1), (2,), (1, 5), (3, 1, 4)):
        A = StencilOperator(shape, 2.0 * len(shape), -1.0)
        assert perp.solve(perp.LCP(A, -np.ones(A.n)), Multigrid()).success
    dead = perp.BoxLCP(StencilOperator((6, 6), 1.0, 0.0), np.zeros(36), 0.0, 0.0)
    assert perp.solve(dead, Multigrid()).success


def test_options_are_checked():
    for words in ({"cycle": "X"}, {"initial": "zero"}, {"coarse": "x"}, {"accelerate": "x"}, {"pre": 0, "post": 0}):
        with pytest.raises(ValueError, match="|".join(words)):
            Multigrid(**words)
    with pytest.raises(MethodRefused, match="symmetric"):
        perp.solve(perp.LCP(np.array([[2.0, 1.0], [0.0, 2.0]]), -np.ones(2)), Multigrid())


def test_without_pyamg_only_stencils_are_accepted(monkeypatch):
    monkeypatch.setattr("perp.solvers.multilevel.multigrid.find_spec", lambda name: None)
    example = gallery.make("poisson_2d", n=100)
    with pytest.raises(MethodRefused, match="pip install pyamg"):
        perp.solve(example.problem, Multigrid())
    stencil = gallery.make("poisson_2d", n=100, form="stencil")
    assert perp.solve(stencil.problem, Multigrid()).success


class TestMatricesThatAreNoStencils:
    @pytest.fixture(autouse=True)
    def _needs_pyamg(self):
        pytest.importorskip("pyamg")

    @pytest.mark.parametrize("cycle", ["V", "F", "W"])
    def test_rows_of_a_grid_take_about_as_many_cycles_as_the_grid(self, cycle):
        example = gallery.make("poisson_2d", n=40**2)
        result = perp.solve(example.problem, Multigrid(cycle=cycle))
        assert result.success
        assert result.iterations <= 15
        np.testing.assert_allclose(result.x, example.x, atol=1e-6)

    @pytest.mark.parametrize("kind", ["dense", "box", "four axes", "diagonal"])
    def test_other_symmetric_matrices_are_solved(self, kind):
        rng = np.random.default_rng(0)
        if kind == "dense":
            G = rng.standard_normal((80, 80))
            problem = perp.LCP(G @ G.T / 80.0 + np.eye(80), rng.standard_normal(80))
        elif kind == "box":
            A = sparse.csr_array(gallery.make("poisson_2d", n=400).problem.A.to_sparse())
            problem = perp.BoxLCP(A, rng.standard_normal(400), -0.1, rng.random(400))
        elif kind == "four axes":
            problem = perp.LCP(StencilOperator((4, 4, 4, 4), 8.0, -1.0), rng.standard_normal(256))
        else:
            problem = perp.LCP(sparse.diags_array(np.arange(1.0, 61.0)), rng.standard_normal(60))
        assert perp.solve(problem, Multigrid()).success

    def test_a_closed_vessel_is_proved_infeasible(self):
        result = perp.solve(gallery.make("closed_fluid", n=900).problem, Multigrid())
        assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize(("grid", "diagonal"), [((16, 16), 2.0), ((64, 64), 3.99), ((8, 8, 8), 5.0), ((300,), 1.9)])
def test_a_diagonal_that_is_too_small_is_told_as_a_breakdown(grid, diagonal):
    A = perp.StencilOperator(grid, diagonal, -1.0)
    result = perp.solve(perp.LCP(A, -np.ones(A.n)), "multigrid")
    assert result.status is perp.Status.BREAKDOWN
    assert "not positive semi-definite" in result.message


@pytest.mark.parametrize("start", [1e-3, 1.0])
def test_rows_that_all_stay_at_their_bounds_need_no_levels(start):
    pytest.importorskip("pyamg")
    A = perp.StencilOperator((10, 10), 4.0).to_sparse()
    result = perp.solve(perp.LCP(A, np.ones(100)), "multigrid", x0=np.full(100, start))
    assert result.success
    assert not result.x.any()


def test_a_small_matrix_is_its_own_coarsest_level():
    pytest.importorskip("pyamg")
    walls = -np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    diagonal = np.full(12, 1e-6)
    diagonal[:-1] -= walls
    diagonal[1:] -= walls
    A = perp.StencilOperator((12,), diagonal, [walls]).to_sparse()
    result = perp.solve(perp.LCP(A, np.random.default_rng(0).standard_normal(12)), "multigrid")
    assert result.success
    assert result.iterations < 20


def test_bounds_on_coarse_levels_are_refused_where_there_is_no_grid():
    A = perp.StencilOperator((6, 6), 4.0).to_sparse()
    with pytest.raises(perp.errors.MethodRefused, match="coarse='monotone' needs a stencil"):
        perp.solve(perp.LCP(A, -np.ones(36)), perp.Multigrid(coarse="monotone"))
