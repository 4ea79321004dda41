"""Principal pivoting: its pivots against a readable twin, its endings, and what it says of hard problems."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import perp
from perp import Status
from perp.errors import MethodRefused
from perp.kernels.pivoting.principal_pivots import FIXED, FREE, LOWER, UPPER
from perp.solvers.pivoting.all_solutions import enumerate_solutions
from perp.solvers.pivoting.principal import Principal

RULES = ("least_index", "keller")


def twin_sides(problem, x):
    """The index sets that the least-index rule visits, by solving a linear system for each (THESIS eq. 2.40-2.44)."""
    A, b = problem.A.to_dense(), problem.b
    lower, upper = problem.bounds(x)
    free = (lower < x) & (x < upper) & ((x != 0) | (np.isinf(lower) & np.isinf(upper)))
    side = np.where(free, FREE, np.where(x - lower <= upper - x, LOWER, UPPER))
    side[lower == upper] = FIXED
    while True:
        yield side.copy()
        free = side == FREE
        x = np.where(free, 0.0, np.where(side == UPPER, upper, lower))
        x[free] = np.linalg.solve(A[np.ix_(free, free)], -(A @ x + b)[free])
        y = np.where(free, 0.0, A @ x + b)
        for i in range(b.size):
            if free[i] and x[i] < lower[i] - 1e-12:
                side[i] = LOWER  # eq. 2.41
            elif free[i] and x[i] > upper[i] + 1e-12:
                side[i] = UPPER  # eq. 2.42
            elif (side[i] == LOWER and y[i] < -1e-12) or (side[i] == UPPER and y[i] > 1e-12):
                side[i] = FREE  # eq. 2.43 and 2.44
            else:
                continue
            break
        else:
            return


def sides_of_pivots(problem, x):
    """The index sets of the method, one pivot at a time."""
    method = Principal()
    state = method.start(problem, x.copy())
    sides = [state.tableau.side.copy()]
    while state.ended is None:
        method.step(problem, state, 1)
        if state.unused == 0:
            sides.append(state.tableau.side.copy())
    return sides, state


def p_matrix(rng, n):
    K = rng.standard_normal((n, n))
    return strategies.spd_matrix(rng, n) + (K - K.T)


@given(strategies.SEEDS, st.integers(1, 10))
def test_least_index_visits_the_index_sets_of_its_twin_on_p_matrices(seed, n):
    rng = np.random.default_rng(seed)
    problem = perp.LCP(p_matrix(rng, n), rng.standard_normal(n))
    sides, _ = sides_of_pivots(problem, np.zeros(n))
    np.testing.assert_array_equal(sides, list(twin_sides(problem, np.zeros(n))))


@given(strategies.box_lcps(max_n=9))
def test_least_index_visits_the_index_sets_of_its_twin_on_boxes(problem):
    x = problem.project(np.zeros(problem.n))
    sides, state = sides_of_pivots(problem, x)
    np.testing.assert_array_equal(sides, list(twin_sides(problem, x)))
    assert perp.verify(problem, state.x).residual < 1e-10


@pytest.mark.parametrize("n", [4, 8, 12, 16])
def test_murty_takes_every_index_set_but_one(n):
    example = perp.gallery.make("murty", n=n)
    result = perp.solve(example.problem, Principal(), max_iterations=100_000)
    assert result.success
    assert result.iterations == 2**n - 1
    assert result.history.counters["pivots"][-1] == 2**n - 1
    np.testing.assert_array_equal(result.x, example.x)


@pytest.mark.parametrize("n", [16, 24, 40])
def test_murty_ends_at_its_limit(n):
    result = perp.solve(perp.gallery.make("murty", n=n).problem, Principal())
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == max(1000, 50 * n)
    assert np.isfinite(result.x).all()


def test_least_index_needs_two_pivots_where_block_pivoting_goes_round_in_circles():
    result = perp.solve(perp.gallery.make("block_pivot_cycle").problem, Principal())
    assert result.success
    assert result.iterations == 2


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("kind", "n"), [("dense_pd", 60), ("boxed_pd", 60), ("murty", 6)])
def test_the_pivots_are_the_same_however_they_are_asked_for(rule, kind, n):
    problem = perp.gallery.make(kind, n=n).problem
    method = Principal(rule)
    if method.objection(problem) is not None:
        return
    runs = []
    for portions in ([5], [2, 3], [0, 1, 0, 1, 1, 2]):
        state = method.start(problem, problem.project(np.zeros(n)))
        for _ in range(40):
            for count in portions:
                method.step(problem, state, count)
        runs.append((state.x, state.tableau.M, state.progress, state.offer))
    for run in runs[1:]:
        for ours, first in zip(run, runs[0], strict=True):
            np.testing.assert_array_equal(ours, first)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(20))
def test_planted_solutions_of_boxed_problems_are_found(rule, seed):
    example = perp.gallery.make("boxed_pd", n=12, seed=seed)
    result = perp.solve(example.problem, Principal(rule))
    assert result.success
    np.testing.assert_allclose(result.x, example.x, rtol=1e-10, atol=1e-10)


@given(strategies.SEEDS, st.integers(1, 8))
def test_pivoting_and_enumeration_agree_on_p_matrices(seed, n):
    rng = np.random.default_rng(seed)
    problem = perp.LCP(p_matrix(rng, n), rng.standard_normal(n))
    result, all_of_them = perp.solve(problem, Principal()), enumerate_solutions(problem)
    assert result.success
    assert all_of_them.count == 1
    np.testing.assert_allclose(result.x, all_of_them.isolated[0], rtol=1e-9, atol=1e-11)


def random_psd(seed):
    """Redundant rows: a rank from 40 % of n up; b in the range of A or not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    G = rng.standard_normal((n, max(1, round(n * rng.uniform(0.4, 1.0)))))
    G[rng.random(n) < 0.2] = G[0]
    b = G @ rng.standard_normal(G.shape[1]) if seed % 2 else rng.standard_normal(n)
    return perp.LCP(G @ G.T, b)


def is_feasible(problem):
    n = problem.n
    return linprog(np.zeros(n), A_ub=-problem.A.to_dense(), b_ub=problem.b, bounds=(0, None)).status == 0


@pytest.mark.parametrize("seed", range(200))
def test_kellers_rule_solves_every_semidefinite_problem_or_proves_that_there_is_no_solution(seed):
    problem = random_psd(seed)
    result = perp.solve(problem, Principal("keller"))
    assert np.isfinite(result.x).all()
    assert result.residual == perp.verify(problem, result.x).residual
    assert result.status is (Status.CONVERGED if is_feasible(problem) else Status.INFEASIBLE)


@pytest.mark.parametrize("seed", range(200))
def test_least_index_is_honest_on_semidefinite_problems(seed):
    problem = random_psd(seed)
    result = perp.solve(problem, Principal())
    assert np.isfinite(result.x).all()
    assert result.success == (perp.verify(problem, result.x).residual <= 1e-8)
    assert result.status in (Status.CONVERGED, Status.INFEASIBLE, Status.BREAKDOWN, Status.ITERATION_LIMIT)
    if result.status is Status.INFEASIBLE:
        assert not is_feasible(problem)


@given(strategies.SEEDS, st.integers(1, 7))
def test_kellers_rule_finds_a_solution_or_a_ray_of_any_symmetric_problem(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    problem = perp.LCP(A + A.T, rng.standard_normal(n))
    result = perp.solve(problem, Principal("keller"))
    assert result.status in (Status.CONVERGED, Status.RAY, Status.INFEASIBLE)
    if enumerate_solutions(problem).count == 0:
        assert not result.success


@given(strategies.box_lcps())
def test_kellers_rule_takes_boxes_and_lets_the_objective_fall(problem):
    method = Principal("keller")
    A = problem.A.to_dense()
    at_bound = np.where(np.isfinite(problem.lower), problem.lower, problem.upper)
    state = method.start(problem, np.where(np.isfinite(at_bound), at_bound, 0.0))
    objectives = []
    while state.ended is None:
        method.step(problem, state, 1)
        objectives.append(0.5 * state.x @ A @ state.x + problem.b @ state.x)
    assert perp.verify(problem, state.x).residual < 1e-10
    assert (np.diff(objectives) <= 1e-10).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e12, 1e300])
def test_scaling_the_data_by_an_extreme_factor_changes_nothing(rule, factor):
    example = perp.gallery.make("dense_pd", n=30)
    problem = perp.LCP(example.problem.A.to_dense() * factor, example.problem.b * factor)
    result = perp.solve(problem, Principal(rule))
    assert result.success
    np.testing.assert_allclose(result.x, example.x, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_rows_of_very_different_size_are_all_seen(rule):
    scale = 10.0 ** np.linspace(-6, 6, 30)
    example = perp.gallery.make("dense_pd", n=30)
    problem = perp.LCP(example.problem.A.to_dense() * scale[:, None] * scale, example.problem.b * scale)
    result = perp.solve(problem, Principal(rule))
    np.testing.assert_allclose(result.x * scale, example.x, rtol=1e-8, atol=1e-8)


SIGNS = [  # a, b, status by least index, x
    (-1.0, -1.0, Status.INFEASIBLE, None),
    (-1.0, 0.0, Status.CONVERGED, 0.0),
    (-1.0, 1.0, Status.CONVERGED, 0.0),
    (0.0, -1.0, Status.INFEASIBLE, None),
    (0.0, 0.0, Status.CONVERGED, 0.0),
    (0.0, 1.0, Status.CONVERGED, 0.0),
    (2.0, -1.0, Status.CONVERGED, 0.5),
    (2.0, 0.0, Status.CONVERGED, 0.0),
    (2.0, 1.0, Status.CONVERGED, 0.0),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("a", "b", "status", "x"), SIGNS)
def test_the_table_of_signs(rule, a, b, status, x):
    result = perp.solve(perp.LCP([[a]], [b]), Principal(rule))
    assert result.status is status
    if x is None:
        assert result.certificate.u[0] == 1.0
    else:
        assert result.x[0] == x


@pytest.mark.parametrize("rule", RULES)
def test_an_infeasible_problem_is_proved_to_be_one(rule):
    result = perp.solve(perp.gallery.make("infeasible").problem, Principal(rule))
    assert result.status is Status.INFEASIBLE
    assert result.certificate.valid


@pytest.mark.parametrize("seed", range(5))
def test_kellers_ray_proves_that_contradicting_redundant_rows_are_infeasible(seed):
    result = perp.solve(perp.gallery.make("infeasible_psd", n=120, seed=seed, rank=40).problem, Principal("keller"))
    assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("kind", "rule", "status", "words"),
    [
        ("unsolvable", "least_index", Status.BREAKDOWN, "row 1: the pivot is negative"),
        ("unsolvable", "keller", Status.RAY, r"nothing stops x\[1\]"),
        ("lemke_ray", "least_index", Status.BREAKDOWN, "row 0: the pivot is zero.*not a P-matrix"),
        ("lemke_ray", "keller", Status.RAY, r"nothing stops x\[0\]"),
        ("skew", "least_index", Status.BREAKDOWN, "row 0: the pivot is zero"),
    ],
)
def test_what_is_no_p_matrix_is_told_at_the_row_where_it_shows(kind, rule, status, words):
    result = perp.solve(perp.gallery.make(kind).problem, Principal(rule))
    assert result.status is status
    assert result.certificate is None
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(result.message)


@pytest.mark.parametrize("rule", RULES)
def test_redundant_contacts_are_solved(rule):
    for kind in ("redundant_contacts", "degenerate", "several_solutions"):
        assert perp.solve(perp.gallery.make(kind).problem, Principal(rule)).success


@pytest.mark.parametrize("rule", RULES)
def test_equal_bounds_fix_a_row_and_leave_its_slack_free(rule):
    problem = perp.BoxLCP([[0.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = perp.solve(problem, Principal(rule))
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, -0.75], atol=1e-14)


@pytest.mark.parametrize("rule", RULES)
def test_rows_without_bounds_are_a_linear_system(rule):
    problem = perp.BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], -np.inf, np.inf)
    result = perp.solve(problem, Principal(rule))
    assert result.success
    np.testing.assert_allclose(result.x, np.linalg.solve([[2, 1], [1, 3]], [-1, 2]), atol=1e-14)


@pytest.mark.parametrize("rule", RULES)
def test_a_singular_linear_system_is_a_breakdown_that_names_the_rank(rule):
    G = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 2.0]])
    lower = np.array([-np.inf, -np.inf, -np.inf, 0.0])
    result = perp.solve(perp.BoxLCP(G @ G.T, -np.ones(4), lower, np.inf), Principal(rule))
    assert result.status is Status.BREAKDOWN
    assert "the 3 rows without bounds have a matrix" in result.message
    assert "2" in result.message.split("matrix")[1]


@pytest.mark.parametrize("rule", RULES)
def test_a_warm_start_begins_with_the_rows_that_are_between_their_bounds(rule):
    example = perp.gallery.make("boxed_pd", n=40, seed=3)
    problem = example.problem
    inside = (example.x > problem.lower) & (example.x < problem.upper)
    x0 = np.where(inside, np.clip(example.x + 1e-3, problem.lower, problem.upper), example.x)
    result = perp.solve(problem, Principal(rule), x0=x0)
    assert result.success
    assert result.iterations <= 2
    assert perp.solve(problem, Principal(rule), x0=result).iterations == 0


@pytest.mark.parametrize("rule", RULES)
def test_a_start_at_zero_between_the_bounds_is_a_cold_one_at_the_nearest_bounds(rule):
    A = strategies.spd_matrix(np.random.default_rng(2), 4)
    problem = perp.BoxLCP(A, [-1.0, 1.0, 0.5, 0.1], [-0.1, -0.1, -0.3, -np.inf], [0.1, 0.2, 0.1, np.inf])
    state = Principal(rule).start(problem, np.zeros(4))
    np.testing.assert_array_equal(state.tableau.side, [LOWER, LOWER, UPPER, FREE])
    assert perp.solve(problem, Principal(rule), tol=1e-12).success
    state = Principal(rule).start(problem, np.array([0.05, 0.0, -0.3, 0.0]))
    np.testing.assert_array_equal(state.tableau.side, [FREE, LOWER, LOWER, FREE])


@pytest.mark.parametrize("rule", RULES)
def test_bounds_that_stand_for_infinity_cost_no_accuracy(rule):
    example = perp.gallery.make("boxed_pd", n=40, one_sided=0.0)
    lower, upper = np.maximum(example.problem.lower, -1e20), np.minimum(example.problem.upper, 1e20)
    result = perp.solve(perp.BoxLCP(example.problem.A, example.problem.b, lower, upper), Principal(rule))
    np.testing.assert_allclose(result.x, example.x, atol=1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_a_warm_start_on_a_singular_block_is_a_cold_one(rule):
    problem = perp.LCP(np.ones((4, 4)), -np.ones(4))
    result = perp.solve(problem, Principal(rule), x0=np.ones(4))
    assert result.success
    np.testing.assert_array_equal(result.x, [1.0, 0.0, 0.0, 0.0])


@given(strategies.SEEDS, st.integers(1, 8))
def test_kellers_rule_recovers_from_a_warm_start_outside_the_solution(seed, n):
    rng = np.random.default_rng(seed)
    problem = perp.LCP(strategies.spd_matrix(rng, n), rng.standard_normal(n))
    assert perp.solve(problem, Principal("keller"), x0=rng.uniform(0, 2, n)).success


def test_kellers_rule_refuses_what_is_not_symmetric():
    problem = perp.gallery.make("dense_p", n=10).problem
    with pytest.raises(MethodRefused, match="symmetric"):
        perp.solve(problem, Principal("keller"))


def test_too_many_rows_for_a_dense_tableau_are_refused():
    with pytest.raises(MethodRefused, match="dense, and 10000 rows"):
        perp.solve(perp.gallery.make("poisson_2d", n=10_000).problem, Principal())


def test_an_unknown_rule_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="least_index"):
        Principal("least")


def test_a_stopped_solve_returns_the_index_set_with_the_fewest_wrong_rows():
    problem = perp.gallery.make("murty", n=12).problem
    method = Principal()
    state = method.start(problem, np.zeros(12))
    fewest = 13
    for _ in range(200):
        method.step(problem, state, 1)
        wrong = state.counters["infeasible"]
        if wrong < fewest:
            fewest, x = wrong, state.x.copy()
        np.testing.assert_array_equal(state.offer, x)


def test_an_ill_conditioned_matrix_ends_honestly():
    for rule in RULES:
        for n in (8, 12):
            result = perp.solve(perp.gallery.make("hilbert", n=n).problem, Principal(rule))
            assert np.isfinite(result.x).all()
            assert result.success == (result.verify().residual <= 1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_denormal_numbers_do_no_harm(rule):
    for A, b in ((np.eye(4), np.full(4, -1e-320)), (np.eye(4) * 1e-310, np.full(4, -1e-310))):
        assert np.isfinite(perp.solve(perp.LCP(A, b), Principal(rule), tol=0.0).x).all()
