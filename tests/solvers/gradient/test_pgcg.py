"""PGCG: the iterates of its listing, the box that it never leaves, preconditioners, friction, hard inputs."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import strategies
from conjugate_gradient_twins import diagonal, gauss_seidel, identity, pcg_iterates, pgcg_iterates
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import BoxLCP, Status, gallery
from perp.linalg.preconditioners import BY_NAME
from perp.solvers.gradient.pgcg import PGCG
from perp.solvers.method import State

PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())
LISTING = {"at_bounds": "stop", "rebuild": "always"}
TWINS = {"none": identity, "jacobi": diagonal, "symmetric_gauss_seidel": gauss_seidel}
KINDS = ["dense_pd", "fluid_like", "poisson_2d", "poisson_3d", "boxed_pd", "boxed_stack"]


def start_of(problem, seed):
    """The point nearest to zero, or a random one, of which a part is at its bounds."""
    return problem.project(np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2))


def steps_of(problem, method, x, most=10_000):
    """x after every step."""
    state = method.start(problem, x)
    while state.ended is None and most > 0:
        method.step(problem, state, 1)
        if not state.unused:
            yield state.x.copy()
        most -= 1


def objective(problem, x):
    return float(0.5 * x @ (problem.slack(x) + problem.b))


def no_worse(result, problem, tol=1e-8):
    """What must hold of every result whatever its status."""
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation <= 1e-12
    assert result.success == (found.residual <= tol)
    return result


# -- Algorithm 11 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("inner_tolerance", [0.1, 1e-6])
@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_the_iterates_are_those_of_the_listing(name, inner_tolerance, problem, seed):
    x = start_of(problem, seed)
    method = PGCG(preconditioner=name, inner_tolerance=inner_tolerance, **LISTING)
    twin = list(pgcg_iterates(problem, x.copy(), TWINS[name], inner_tolerance))
    ours = list(steps_of(problem, method, x.copy(), len(twin)))
    for k, (mine, other) in enumerate(zip(ours, twin, strict=False)):
        np.testing.assert_allclose(mine, other, atol=1e-8, err_msg=f"step {k}")
    assert len(ours) == len(twin) or perp.verify(problem, ours[-1] if ours else x).residual <= 1e-13  # ours was done


@pytest.mark.parametrize("name", TWINS)
@given(seed=strategies.SEEDS)
def test_without_bounds_it_is_preconditioned_conjugate_gradients(name, seed):
    rng = np.random.default_rng(seed)
    n = 8
    A, b = strategies.spd_matrix(rng, n), rng.standard_normal(n)
    problem = BoxLCP(A, b, -np.inf, np.inf)
    x = rng.standard_normal(n)
    twin = islice(pcg_iterates(A, b, x.copy(), TWINS[name]), 6)
    ours = list(steps_of(problem, PGCG(preconditioner=name), x.copy(), 6))
    for mine, other in zip(ours, twin, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9)


@pytest.mark.parametrize("at_bounds", ["stop", "project"])
@pytest.mark.parametrize("rebuild", ["always", "pass"])
@pytest.mark.parametrize("name", ["jacobi", "symmetric_gauss_seidel"])
@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_no_step_leaves_the_box_or_raises_the_objective(at_bounds, rebuild, name, problem, seed):
    x = start_of(problem, seed)
    lower, upper = problem.bounds(x)
    before, least = objective(problem, x), 0.0
    method = PGCG(preconditioner=name, rebuild=rebuild, at_bounds=at_bounds)
    for point in steps_of(problem, method, x.copy()):
        assert (point >= lower).all()
        assert (point <= upper).all()
        now = objective(problem, point)
        least = min(least, now)
        assert now <= before + 1e-14 * (1.0 + abs(least))
        before = now


@pytest.mark.parametrize("at_bounds", ["stop", "project"])
@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_a_positive_definite_problem_is_solved_in_few_steps_from_any_start(at_bounds, problem, seed):
    """O'Leary's method is finite: no face is solved twice, and a face takes at most n steps."""
    method = PGCG(at_bounds=at_bounds)
    result = perp.solve(problem, method, x0=start_of(problem, seed), tol=1e-10, check_every=1)
    assert no_worse(result, problem, 1e-10).success
    assert result.iterations <= 10 * problem.n
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-7)


@pytest.mark.parametrize("name", ["none", "jacobi", "symmetric_gauss_seidel", "ic0"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_that_of_block_principal_pivoting(kind, name):
    problem = gallery.make(kind, n=96).problem
    result = perp.solve(problem, PGCG(preconditioner=name), tol=1e-9)
    assert no_worse(result, problem, 1e-9).success
    exact = perp.solve(problem, "block_principal", tol=1e-10)
    assert exact.success
    np.testing.assert_allclose(result.y, exact.y, atol=1e-6)  # redundant contacts leave x open


@pytest.mark.parametrize("name", sorted(set(BY_NAME) - {"mic0", "fourier"}))  # for other signs; for convolutions
def test_every_preconditioner_serves(name):
    problem = gallery.make("boxed_stack", n=60).problem
    result = perp.solve(problem, PGCG(preconditioner=name), max_iterations=5000)
    assert no_worse(result, problem).success
    assert result.history.counters["preconditioners"][-1] >= 1


@given(problem=st.one_of(PROBLEMS, strategies.contact_problems(strategies.FORMS[:3])), seed=strategies.SEEDS)
def test_two_steps_and_three_are_five_bit_by_bit(problem, seed):
    if problem.kind == "contact/cone":
        problem = perp.ContactProblem(
            problem.A,
            problem.b,
            problem.friction,
            extra_rows=problem.lower.size,
            lower=problem.lower,
            upper=problem.upper,
        )
    method, x = PGCG(), start_of(problem, seed)
    once, twice = method.start(problem, x.copy()), method.start(problem, x.copy())
    method.step(problem, once, 5)
    for count in (0, 2, 3):
        method.step(problem, twice, count)
    np.testing.assert_array_equal(once.x, twice.x)
    assert once.counters == twice.counters


# -- options ----------------------------------------------------------------------------------------------------------


def ill_conditioned(n=200, seed=0):
    """A line whose rows are of very unlike size, on which Jacobi's preconditioner is no help."""
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    size = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, n)
    A = size[:, None] * A * size
    return perp.LCP(0.5 * (A + A.T), -size * np.random.default_rng(seed + 1).standard_normal(n))


def test_a_preconditioner_pays_on_an_ill_conditioned_problem():
    products = {}
    for name in ("none", "jacobi", "ic0"):
        result = perp.solve(ill_conditioned(), PGCG(preconditioner=name), max_iterations=20_000)
        products[name] = result.history.counters["products"][-1] if result.success else np.inf
    assert products["ic0"] <= 0.2 * products["jacobi"]
    assert products["jacobi"] <= 0.2 * products["none"]


def test_rebuilding_once_a_pass_makes_fewer_preconditioners():
    problem = gallery.make("boxed_stack", n=96).problem
    counts = {}
    for rebuild in ("always", "pass"):
        method = PGCG(preconditioner="symmetric_gauss_seidel", rebuild=rebuild, at_bounds="stop")
        counters = perp.solve(problem, method).history.counters
        counts[rebuild] = counters["preconditioners"][-1]
        assert (counters["preconditioners"][-1] == counters["passes"][-1] + 1) == (rebuild == "pass")
    assert counts["pass"] < counts["always"]


def test_projected_steps_move_many_rows_at_once():
    problem = gallery.make("boxed_pd", n=150).problem
    counts = {}
    for at_bounds in ("stop", "project"):
        result = perp.solve(problem, PGCG(at_bounds=at_bounds), tol=1e-10)
        assert result.success
        counts[at_bounds] = result.history.counters["products"][-1]
    assert counts["project"] <= 0.7 * counts["stop"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("free_start", ["x0", "zero"])
def test_row_78_a_warm_start_at_the_solution_takes_at_most_one_iteration(kind, free_start):
    problem = gallery.make(kind, n=96).problem
    cold = perp.solve(problem, PGCG(), tol=1e-11)
    assert cold.success
    warm = perp.solve(problem, PGCG(free_start=free_start), tol=1e-10, x0=cold)
    assert warm.iterations <= 1


def test_warm_index_sets_begin_by_position():
    problem = BoxLCP(np.eye(5), np.zeros(5), [0, 0, 0, -np.inf, 2], [1, 1, 1, np.inf, 2])
    x = np.array([0.0, 0.5, 1.0, -3.0, 2.0])
    state = PGCG().start(problem, x.copy())
    np.testing.assert_array_equal(state.sets, [-1, 0, 1, 0, -1])
    np.testing.assert_array_equal(state.x, x)
    zero = PGCG(free_start="zero").start(problem, x.copy())
    np.testing.assert_array_equal(zero.sets, [-1, 0, 1, 0, -1])
    np.testing.assert_array_equal(zero.x, [0.0, 0.0, 1.0, 0.0, 2.0])


def test_free_entries_that_start_at_zero_lead_to_the_same_answer():
    problem = gallery.make("boxed_pd", n=60).problem
    cold = perp.solve(problem, PGCG(), tol=1e-11)
    changed = BoxLCP(problem.A, 1.05 * problem.b, problem.lower, problem.upper)
    answers = [perp.solve(changed, PGCG(free_start=way), x0=cold, tol=1e-10) for way in ("x0", "zero")]
    assert all(answer.success for answer in answers)
    np.testing.assert_allclose(answers[0].x, answers[1].x, atol=1e-8)
    assert answers[0].history.counters["pivots"][-1] < cold.history.counters["pivots"][-1]


@pytest.mark.parametrize("regularisation", [1e-3, 1.0])
def test_adaptive_regularisation_is_taken_back_so_that_the_asked_problem_is_solved(regularisation):
    problem = gallery.make("boxed_stack", n=200).problem
    method = PGCG(regularisation=regularisation, pivot_limit=1)
    result = perp.solve(problem, method, tol=1e-9, max_iterations=20_000)
    assert no_worse(result, problem, 1e-9).success
    state = method.start(problem, np.zeros(problem.n))
    softened = 0.0
    for _ in range(4000):
        method.step(problem, state, 1)
        softened = max(softened, state.softening.max())
        if state.ended is not None:
            break
    assert softened > 0.0
    assert state.hardened
    assert not state.softening.any()


def test_adaptive_regularisation_shifts_rows_that_pivoted_often_and_doubles_their_limit():
    problem = BoxLCP(np.diag([2.0, 2.0, 2.0]), -np.ones(3), [-1.0, -1.0, 0.0], [1.0, 1.0, np.inf])
    state = PGCG(pivot_limit=3).start(problem, np.zeros(3))
    state.pivots[:] = 4, 3, 4
    state.sets[:] = 0
    state.soften(0.5)
    np.testing.assert_array_equal(state.softening, [1.0, 0.0, 0.0])  # the third has one bound: not a friction row
    np.testing.assert_array_equal(state.limits, [6, 3, 3])


# -- contacts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"load": "gravity"}, {"friction": 0.8}, {"friction": 0.0}])
def test_friction_bounds_follow_the_normal_impulses(options):
    problem = gallery.make("box_stack", n=72, **options).problem
    result = perp.solve(problem, PGCG(), tol=1e-8, max_iterations=50_000)
    assert no_worse(result, problem).success
    reference = perp.solve(problem, "pgs", tol=1e-10, max_iterations=200_000)
    np.testing.assert_allclose(result.y, reference.y, atol=1e-5)
    if options.get("friction", 1.0) > 0.0:
        assert result.history.counters["bound_updates"][-1] > 0


def test_the_shown_point_is_always_within_the_bounds_that_its_normal_impulses_allow():
    problem = gallery.make("box_stack", n=48).problem
    for point in steps_of(problem, PGCG(), np.zeros(problem.n), 200):
        lower, upper = problem.bounds(point)
        assert (point >= lower).all()
        assert (point <= upper).all()


# -- bad options, bad preconditioners ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"preconditioner": "jakobi"}, ValueError, "did you mean 'jacobi'"),
        ({"preconditioner": 3}, TypeError, "a recipe is needed"),
        ({"inner_tolerance": 1.0}, ValueError, "below 1"),
        ({"inner_iterations": 0}, ValueError, "inner_iterations"),
        ({"rebuild": "allways"}, ValueError, "did you mean 'always'"),
        ({"at_bounds": "clip"}, ValueError, "at_bounds"),
        ({"free_start": "one"}, ValueError, "free_start"),
        ({"regularisation": -1.0}, ValueError, "regularisation"),
        ({"pivot_limit": 0}, ValueError, "pivot_limit"),
    ],
)
def test_options_are_checked_when_the_method_is_made(options, error, words):
    with pytest.raises(error, match=words):
        PGCG(**options)


def test_a_preconditioner_that_is_not_positive_definite_is_a_breakdown():
    problem = gallery.make("dense_pd", n=20).problem
    method = PGCG()
    state = method.start(problem, np.zeros(20))
    assert isinstance(state, State)
    state.preconditioner.apply = lambda r: -r
    method.step(problem, state, 3)
    assert state.ended is not None
    assert state.ended[0] is Status.BREAKDOWN
