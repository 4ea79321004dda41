"""The minimum map Newton method: iterates of a readable twin, every linear solver and fallback, honest ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.solvers.method import misfit
from perp.solvers.newton.minimum_map.equation import gradient, held_direction, newton_direction
from perp.solvers.newton.minimum_map.minimum_map import MinimumMap

PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())
OF_NOTES = MinimumMap(singular="stop", fallback="none")
LINEAR = [MinimumMap(), MinimumMap(linear="pcg"), MinimumMap(linear="gmres")]
linear = pytest.mark.parametrize("method", LINEAR, ids=lambda method: method.linear)
for_any_matrix = pytest.mark.parametrize("method", [LINEAR[0], LINEAR[2]], ids=lambda method: method.linear)

SIZES = {"boxed_stack": 96, "infeasible_psd": 90, "hilbert": 8, "murty": 6, "fathi": 6, "several_solutions": 5}


def iterates_of_twin(problem, x):
    """The listing of NOTES 5.4 for a box, with the projected point as the iterate (the listing forgets that)."""
    A, b = problem.A.to_dense(), problem.b
    lower, upper = problem.bounds(x)

    def theta(x):
        return 0.5 * np.sum((x - np.clip(x - (A @ x + b), lower, upper)) ** 2)

    while True:
        y = A @ x + b
        H = x - np.clip(x - y, lower, upper)
        active = (y < x - lower) & (y > x - upper)  # eq. 77
        dx = -H
        right = A[np.ix_(active, ~active)] @ H[~active] - H[active]  # eq. 80
        dx[active] = np.linalg.solve(A[np.ix_(active, active)], right)
        tau = 1.0
        while theta(np.clip(x + tau * dx, lower, upper)) > theta(x) + 1e-4 * tau * -2.0 * theta(x):  # eq. 69, 83
            tau *= 0.5
            if tau < 1e-10:
                return
        x = np.clip(x + tau * dx, lower, upper)
        yield x


def counters(result):
    return {name: values[-1] for name, values in result.history.counters.items()}


def honest(result, tol=1e-8):
    """What must hold of every result, whatever its status."""
    found = perp.verify(result.problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation <= 1e-12
    assert result.success == (found.residual <= tol)
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(result.problem, result.certificate.u).valid
    return result


# -- the method of NOTES ----------------------------------------------------------------------------------------------


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_the_iterates_are_those_of_the_twin(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2))
    state = OF_NOTES.start(problem, x.copy())
    for k, expected in enumerate(iterates_of_twin(problem, x)):
        if perp.verify(problem, expected).residual < 1e-10:
            break
        OF_NOTES.step(problem, state, 1)
        np.testing.assert_allclose(state.x, expected, atol=1e-9, err_msg=f"iteration {k}")


@linear
@given(problem=PROBLEMS, seed=strategies.SEEDS)
@settings(max_examples=40)
def test_a_positive_definite_problem_is_solved_from_any_start(method, problem, seed):
    x0 = 3.0 * np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2)
    result = honest(perp.solve(problem, method, x0=x0, tol=1e-10), 1e-10)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-8)


@given(problem=strategies.lcps(max_n=8))
@settings(max_examples=30)
def test_an_lcp_and_its_boxed_form_have_the_same_bits(problem):
    plain, boxed = perp.solve(problem, MinimumMap()), perp.solve(problem.to_box(), MinimumMap())
    np.testing.assert_array_equal(plain.x, boxed.x)
    assert plain.iterations == boxed.iterations
    found = perp.solve(problem, "enumeration")
    np.testing.assert_allclose(plain.x, found.x, atol=1e-7)


@linear
@pytest.mark.parametrize("kind", ["boxed_stack", "boxed_pile", "poisson_2d"])
def test_steps_of_two_and_three_are_a_step_of_five(method, kind):
    problem = gallery.make(kind, n=96).problem
    parts, whole = (method.start(problem, problem.project(np.zeros(problem.n))) for _ in range(2))
    for count in (0, 2, 3):
        method.step(problem, parts, count)
    method.step(problem, whole, 5)
    np.testing.assert_array_equal(parts.x, whole.x)
    assert parts.counters == whole.counters


def test_without_a_fallback_the_merit_falls_in_every_iteration():
    problem = gallery.make("boxed_stack", n=96, compliance=1e-4).problem
    method = MinimumMap(fallback="none")
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    merits = [state.theta]
    while state.ended is None and state.theta > 1e-20:
        method.step(problem, state, 1)
        merits.append(state.theta)
    assert len(merits) > 5
    assert all(after < before for before, after in pairwise(merits[:-1]))


def test_with_memory_the_merit_may_rise_but_not_above_the_last_few():
    method = MinimumMap(memory=4)
    problem = gallery.make("boxed_stack", n=192, compliance=1e-4).problem
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    merits = [state.theta]
    for _ in range(25):
        method.step(problem, state, 1)
        merits.append(state.theta)
    assert any(after > before for before, after in pairwise(merits))
    for k in range(1, len(merits)):
        assert merits[k] <= max(merits[max(0, k - 4) : k])


# -- the linear solvers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fluid_like", "boxed_pd", "boxed_stack"])
def test_krylov_methods_solved_tightly_follow_the_iterates_of_the_direct_one(kind):
    problem = gallery.make(kind, n=120, **({"compliance": 1e-2} if kind == "boxed_stack" else {})).problem
    x = problem.project(np.zeros(problem.n))
    methods = [MinimumMap(), MinimumMap(linear="pcg", forcing=1e-12), MinimumMap(linear="gmres", forcing=1e-12)]
    states = [method.start(problem, x.copy()) for method in methods]
    for _ in range(8):
        for method, state in zip(methods, states, strict=True):
            method.step(problem, state, 1)
        for state in states[1:]:
            np.testing.assert_allclose(state.x, states[0].x, atol=1e-7)
    assert [("inner_iterations" in state.counters) for state in states] == [False, True, True]


@pytest.mark.parametrize("name", ["pcg", "gmres"])
@pytest.mark.parametrize("forcing", [0.5, 1e-2, 1e-6])
def test_an_inexact_direction_obeys_equation_71(name, forcing):
    problem = gallery.make("poisson_2d", n=400).problem
    method = MinimumMap(linear=name, forcing=forcing)
    state = method.start(problem, np.zeros(problem.n))
    for _ in range(5):
        direction = newton_direction(problem, state, state.here.active)
        assert direction.left <= (1.0 + 1e-6) * forcing**2 * 2.0 * state.theta
        assert direction.slope <= -(1.0 - forcing) * 2.0 * state.theta * (1.0 - 1e-6)  # eq. 72: hence a descent
        method.step(problem, state, 1)


def test_a_smaller_forcing_term_takes_fewer_newton_and_more_inner_iterations():
    problem = gallery.make("poisson_2d", n=900).problem
    rough, tight = (perp.solve(problem, MinimumMap(linear="pcg", forcing=gamma)) for gamma in (0.1, 1e-8))
    assert rough.success
    assert tight.success
    assert tight.iterations < rough.iterations
    assert counters(tight)["inner_iterations"] > counters(rough)["inner_iterations"]


@pytest.mark.parametrize("preconditioner", ["none", "jacobi", "ic0", "ict"])
@pytest.mark.parametrize("name", ["pcg", "gmres"])
def test_any_preconditioner_leads_to_the_planted_solution(name, preconditioner):
    example = gallery.make("poisson_2d", n=400)
    method = MinimumMap(linear=name, preconditioner=preconditioner)
    result = perp.solve(example.problem, method)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)


def forbid(*args, **kwargs):
    raise AssertionError("A was formed")


@pytest.mark.parametrize("name", ["pcg", "gmres"])
def test_with_jacobi_a_factored_operator_is_never_formed(name, monkeypatch):
    problem = gallery.make("boxed_stack", n=300, compliance=1e-2).problem
    expected = perp.solve(problem, "block_principal", tol=1e-10)
    for ability in ("to_sparse", "to_dense", "submatrix", "row", "scale_rows"):
        monkeypatch.setattr(perp.FactoredOperator, ability, forbid)
    result = perp.solve(problem, MinimumMap(linear=name))
    assert result.success
    np.testing.assert_allclose(result.x, expected.x, atol=1e-4)
    bad = BoxLCP(perp.FactoredOperator([[1.0], [1.0]], [1.0]), [-1.0, -2.0], -np.inf, np.inf)
    assert not honest(perp.solve(bad, MinimumMap(linear=name))).success  # the two rows contradict each other


def bare(A):
    A = np.asarray(A, dtype=np.float64)
    return LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=np.float64)


def test_a_bare_product_is_enough_without_a_preconditioner():
    problem = gallery.make("dense_p", n=30).problem
    free = perp.LCP(bare(problem.A.to_dense()), problem.b)
    result = perp.solve(free, MinimumMap(linear="gmres", preconditioner="none"))
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, MinimumMap()).x, atol=1e-7)
    with pytest.raises(MethodRefused, match="'diagonal'"):
        perp.solve(free, MinimumMap(linear="gmres"))
    with pytest.raises(MethodRefused, match="'to_sparse'"):
        perp.solve(free, MinimumMap())


def test_where_a_transposed_product_cannot_be_had_the_end_says_so():
    problem = perp.LCP(bare([[0.0, 2.0], [-2.0, 0.0]]), [-1.0, 1.0])
    result = honest(perp.solve(problem, MinimumMap(linear="gmres", preconditioner="none")))
    assert result.status is Status.NON_DESCENT
    assert "A^T" in result.message


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_every_space_of_the_direct_solver_gives_the_same_answer(space):
    problem = gallery.make("boxed_stack", n=96, compliance=1e-3).problem
    result = perp.solve(problem, MinimumMap(space=space), tol=1e-10)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-8)


# -- globalisation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["boxed_stack", "contact_like", "dense_p"])
def test_the_gradient_is_that_of_the_merit_function(kind):
    problem = gallery.make(kind, n=24).problem
    x = problem.project(np.random.default_rng(0).uniform(0.1, 2.0, problem.n))
    state = MinimumMap().start(problem, x)
    slope = gradient(problem, state, bool(problem.is_symmetric)) / state.here.unit**2
    step = 1e-7
    for i in range(problem.n):
        ahead, behind = (problem.project(x + sign * step * np.eye(problem.n)[i]) for sign in (1.0, -1.0))
        if ahead[i] - behind[i] == pytest.approx(2 * step, rel=1e-6):
            rise = state.trial.measure(problem, ahead) - state.trial.measure(problem, behind)
            assert slope[i] == pytest.approx(rise / (2 * step), abs=1e-5 * np.abs(slope).max())


def test_held_rows_stay_and_the_direction_leaves_the_box_nowhere():
    problem = gallery.make("boxed_pile", n=36).problem
    method = MinimumMap(fallback="none")
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    method.step(problem, state, 100)
    assert state.ended[0] is Status.NON_DESCENT  # the projection cuts off what Newton's direction lives by
    newton = newton_direction(problem, state, state.here.active)
    held = held_direction(problem, state, newton.dx)
    at_lower, at_upper = state.x <= problem.lower, state.x >= problem.upper
    assert (at_lower & (newton.dx < 0.0) & state.here.active).any()
    assert not (at_lower & (held.dx < 0.0)).any()
    assert not (at_upper & (held.dx > 0.0)).any()
    assert held.slope < 0.0
    result = perp.solve(problem, MinimumMap())
    assert result.success
    assert counters(result)["held_steps"] > 0
    only_gradient = perp.solve(problem, MinimumMap(fallback="gradient"))
    assert only_gradient.success
    assert counters(only_gradient)["gradient_steps"] > 0
    assert only_gradient.iterations > result.iterations


@pytest.mark.parametrize("seed", range(4))
def test_holding_rows_solves_walls_that_newton_alone_does_not(seed):
    problem = gallery.make("boxed_stack", n=300, seed=seed, compliance=1e-4).problem
    assert honest(perp.solve(problem, MinimumMap())).success
    assert honest(perp.solve(problem, OF_NOTES)).status in (Status.NON_DESCENT, Status.CONVERGED)


@for_any_matrix
@pytest.mark.parametrize("a", [1.5, 2.0, 10.0])
def test_row_48_the_line_search_breaks_the_cycle_of_the_plain_method(method, a):
    example = gallery.make("newton_min_cycle", a=a)
    result = honest(perp.solve(example.problem, method, x0=[1.0, 0.0, 0.0]))
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)
    circular = gallery.make("block_pivot_cycle")
    np.testing.assert_allclose(perp.solve(circular.problem, method).x, circular.x, atol=1e-7)


def test_a_local_minimum_is_one():
    problem = gallery.make("unsolvable").problem
    result = perp.solve(problem, MinimumMap())
    assert result.status is Status.LOCAL_MINIMUM
    rng = np.random.default_rng(0)
    here = perp.verify(problem, result.x).natural_2
    for _ in range(300):
        near = problem.project(result.x + 1e-4 * rng.standard_normal(2))
        assert perp.verify(problem, near).natural_2 >= here - 1e-9


def test_tolerance_zero_runs_until_rounding():
    for kind in ("dense_pd", "boxed_stack", "poisson_2d"):
        result = perp.solve(gallery.make(kind, n=100).problem, MinimumMap(), tol=0.0)
        assert result.status in (Status.STAGNATED, Status.CONVERGED)
        assert result.residual < 1e-12


# -- hard inputs ------------------------------------------------------------------------------------------------------

SIGNS = {(-1, -1): "INFEASIBLE", (0, -1): "INFEASIBLE"}


@linear
@pytest.mark.parametrize(("a", "b"), [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)])
def test_rows_10_to_18_the_table_of_signs(method, a, b):
    example = gallery.make("sign_table", a=a, b=b)
    result = honest(perp.solve(example.problem, method))
    assert result.status.name == SIGNS.get((a, b), "CONVERGED")
    if result.success:
        assert result.x[0] == max(0.0, -b if a == 1 else 0.0)
    else:
        np.testing.assert_array_equal(result.certificate.u, [1.0])


@linear
def test_row_19_the_empty_problem(method):
    for A in (np.empty((0, 0)), sparse.csr_array((0, 0))):
        result = perp.solve(perp.LCP(A, []), method)
        assert result.status is Status.CONVERGED
        assert result.iterations == 0
        state = method.start(result.problem, np.empty(0))
        method.step(result.problem, state, 3)
        assert state.ended is None


@linear
def test_rows_8_and_9_fixed_rows_and_equations(method):
    fixed = perp.solve(BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf]), method)
    np.testing.assert_allclose(fixed.x, [0.5, -0.75], atol=1e-8)
    free = BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], -np.inf, np.inf)
    np.testing.assert_allclose(perp.solve(free, method).x, np.linalg.solve([[2, 1], [1, 3]], [-1, 2]), atol=1e-7)
    assert perp.solve(BoxLCP(np.zeros((2, 2)), [1.0, -1.0], 3.0, 3.0), method).success


def test_row_9_equations_that_contradict_each_other_are_proved_infeasible():
    result = honest(perp.solve(BoxLCP(np.ones((3, 3)), [1.0, 2.0, 0.0], -np.inf, np.inf), MinimumMap()))
    assert result.status is Status.INFEASIBLE
    consistent = perp.solve(BoxLCP(np.ones((3, 3)), [2.0, 2.0, 2.0], -np.inf, np.inf), MinimumMap())
    assert consistent.success


@linear
def test_row_41_redundant_contacts_and_ties_are_solved(method):
    for kind in ("redundant_contacts", "degenerate"):
        result = honest(perp.solve(gallery.make(kind).problem, method))
        assert result.success
        np.testing.assert_allclose(result.y, 0.0, atol=1e-8)


@pytest.mark.parametrize("kind", ["infeasible", "infeasible_psd", "closed_fluid"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_42_44_and_67_infeasibility_is_proved(kind, seed):
    result = honest(perp.solve(gallery.make(kind, seed=seed).problem, MinimumMap()))
    assert result.status is Status.INFEASIBLE


def test_row_42_a_zero_matrix():
    assert perp.solve(perp.LCP(np.zeros((3, 3)), [1.0, 0.0, 2.0]), MinimumMap()).success
    assert perp.solve(perp.LCP(np.zeros((3, 3)), [1.0, -1.0, 2.0]), MinimumMap()).status is Status.INFEASIBLE


@linear
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_rows_and_columns_scaled_from_1e_minus_8_to_1e8_leave_the_answer_as_it_is(method, form, seed):
    example = gallery.make("dense_pd", n=40, seed=seed, condition=100.0)
    A, b = example.problem.A.to_dense(), example.problem.b
    d = 10.0 ** np.random.default_rng(seed).uniform(-4.0, 4.0, 40)
    result = perp.solve(perp.LCP(form(d[:, None] * A * d), d * b), method)
    assert honest(result).success
    tight = perp.solve(perp.LCP(form(d[:, None] * A * d), d * b), method, tol=1e-13)
    np.testing.assert_allclose(d * tight.x, example.x, atol=1e-7)


@for_any_matrix
@pytest.mark.parametrize("seed", range(3))
def test_rows_scaled_from_1e_minus_8_to_1e8_leave_the_answer_as_it_is(method, seed):
    example = gallery.make("dense_pd", n=40, seed=seed, condition=100.0)
    d = 10.0 ** np.random.default_rng(seed).uniform(-8.0, 8.0, 40)
    problem = perp.LCP(d[:, None] * example.problem.A.to_dense(), d * example.problem.b)
    result = honest(perp.solve(problem, method))
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-4)


@linear
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_row_53_an_extreme_factor_changes_nothing(method, factor):
    example = gallery.make("dense_pd", n=20)
    problem = perp.LCP(example.problem.A.to_dense() * factor, example.problem.b * factor)
    result = perp.solve(problem, method)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)


@linear
def test_row_54_tiny_and_huge_numbers_end_honestly(method):
    for size in (1e-320, 1e-200, 1e200, 1e308):
        result = perp.solve(perp.LCP(2.0 * np.eye(4), np.full(4, -size)), method, tol=0.0)
        assert np.isfinite(result.x).all()
        np.testing.assert_allclose(result.x, 0.5 * size, rtol=1e-2)


@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "poisson_2d", "boxed_stack"])
def test_row_78_a_start_at_the_solution_takes_at_most_one_iteration(kind):
    problem = gallery.make(kind, n=96, **({"compliance": 1e-4} if kind == "boxed_stack" else {})).problem
    cold = perp.solve(problem, MinimumMap(), tol=1e-10)
    assert cold.success
    assert perp.solve(problem, MinimumMap(), tol=1e-10, x0=cold).iterations <= 1


@linear
@pytest.mark.parametrize("kind", list(gallery.kinds()))
def test_every_kind_of_the_gallery_is_refused_or_ends_honestly_and_twice_alike(method, kind):
    size = gallery.kinds()[kind].size
    example = gallery.make(kind) if size is None else gallery.make(kind, n=SIZES.get(kind, 36))
    if misfit(method, example.problem) is not None:
        with pytest.raises(MethodRefused, match="minimum_map"):
            perp.solve(example.problem, method)
        return
    result = honest(perp.solve(example.problem, method, max_iterations=60))
    assert result.method == "minimum_map"
    if example.expected in ("infeasible", "unsolvable"):
        assert not result.success
    again = perp.solve(example.problem, method, max_iterations=60)
    np.testing.assert_array_equal(again.x, result.x)
    for name in MinimumMap.counted:
        assert (np.diff(result.history.counters[name]) >= 0).all()


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"linear": "pgc"}, "did you mean 'pcg'"),
        ({"fallback": "grad"}, "gradient"),
        ({"singular": "go"}, "refine"),
        ({"space": "bodies"}, "did you mean 'body'"),
        ({"preconditioner": "jacoby"}, "did you mean 'jacobi'"),
        ({"forcing": 1.0}, "eq. 71"),
        ({"forcing": 0.0}, "forcing is 0.0"),
        ({"sufficient": 0.5}, "sufficient < reduction < 1"),
        ({"reduction": 1.0}, "sufficient < reduction < 1"),
        ({"memory": 0}, "memory is 0"),
        ({"restart": 0}, "restart is 0"),
        ({"inner_limit": 0}, "inner_limit is 0"),
        ({"least_step": -1.0}, "least_step"),
    ],
)
def test_an_option_that_makes_no_sense_raises(options, words):
    with pytest.raises(ValueError, match=words):
        MinimumMap(**options)


def test_what_a_method_needs_depends_on_its_linear_solver():
    assert MinimumMap.needs == MinimumMap().needs == {"apply", "diagonal", "to_sparse"}
    assert MinimumMap(linear="gmres", preconditioner="none").needs == {"apply"}
    assert MinimumMap(linear="pcg").needs == {"apply", "diagonal"}


def test_what_cannot_be_done_is_refused_with_the_reason():
    skew, grid = gallery.make("skew").problem, gallery.make("poisson_2d", n=100).problem
    with pytest.raises(MethodRefused, match="symmetric"):
        perp.solve(skew, MinimumMap(linear="pcg"))
    with pytest.raises(MethodRefused, match="factored"):
        perp.solve(grid, MinimumMap(space="body"))


def test_an_empty_row_goes_to_the_bound_that_its_slack_asks_for():
    assert perp.solve(perp.LCP([[0.0]], [1.0]), MinimumMap(), x0=[3.0]).success
    A, b = np.array([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 2.0]]), [-1.0, 0.2, -1.0]
    box = perp.BoxLCP(A, b, [0.0, -0.7, 0.0], np.inf)
    np.testing.assert_allclose(perp.solve(box, MinimumMap()).x, [1.0, -0.7, 1.0], atol=1e-8)
