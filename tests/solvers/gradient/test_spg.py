"""SPG: the iterates of its twin, the problems that it solves, and how it ends on the others."""

from __future__ import annotations

import numpy as np
import projected_gradient_twins as gradient_twins
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import Status, gallery
from perp.errors import MethodRefused
from perp.solvers.gradient.spg import SPG

contacts = st.tuples(strategies.contact_problems(), st.sampled_from(["convex", "disc"])).map(
    lambda drawn: perp.ContactProblem(
        drawn[0].A, drawn[0].b, drawn[0].friction, drawn[1], lower=drawn[0].lower, upper=drawn[0].upper
    )
)
ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), contacts)


@given(
    ANY_PROBLEM,
    st.sampled_from(["long", "short", "alternating"]),
    st.sampled_from(["diagonal", "none"]),
    st.sampled_from([1, 3, 10]),
)
def test_the_iterates_are_those_of_the_readable_twin(problem, steps, scaling, memory):
    method = SPG(steps=steps, scaling=scaling, memory=memory)
    x = problem.project(np.ones(problem.n))
    state = method.start(problem, x.copy())
    expected = gradient_twins.spg(problem, x, 8, state.spectral_step, memory, 1e-4, steps, scaling)[0]
    for twin in expected:
        method.step(problem, state, 1)
        np.testing.assert_allclose(state.x, twin, atol=1e-9)


@pytest.mark.parametrize("steps", ["long", "short", "alternating"])
def test_the_iterates_are_those_of_the_twin_through_many_searches(steps):
    problem = gallery.make("boxed_stack", n=48, mass_ratio=100.0).problem
    method = SPG(steps=steps, memory=2)
    state = method.start(problem, np.zeros(problem.n))
    expected, evaluations = gradient_twins.spg(problem, state.x, 40, state.spectral_step, 2, 1e-4, steps)
    method.step(problem, state, 40)
    np.testing.assert_allclose(state.x, expected[-1], atol=1e-7)
    assert state.counters["line_search_evaluations"] == evaluations
    assert steps == "short" or evaluations > 40


@given(ANY_PROBLEM)
def test_steps_can_be_taken_in_any_portions_and_none_loads_only(problem):
    method, x = SPG(), problem.project(np.ones(problem.n))
    whole, parts = method.start(problem, x.copy()), method.start(problem, x.copy())
    method.step(problem, whole, 0)
    np.testing.assert_array_equal(whole.x, x)
    method.step(problem, whole, 70)
    method.step(problem, parts, 30)
    method.step(problem, parts, 40)
    np.testing.assert_array_equal(whole.x, parts.x)
    assert whole.counters == parts.counters


@given(ANY_PROBLEM)
def test_every_iterate_is_within_its_bounds(problem):
    method = SPG(memory=1)
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for _ in range(20):
        method.step(problem, state, 1)
        assert perp.verify(problem, state.x).bound_violation <= 1e-14 * max(1.0, np.abs(state.x).max())


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("dense_pd", {"n": 60}),
        ("boxed_pd", {"n": 60}),
        ("fluid_like", {"n": 125}),
        ("poisson_2d", {"n": 400}),
        ("poisson_3d", {"n": 343}),
        ("boxed_stack", {"n": 96}),
        ("box_stack", {"n": 48, "model": "convex"}),
        ("box_stack", {"n": 48, "model": "convex", "load": "gravity"}),
        ("box_stack", {"n": 48, "model": "disc"}),
        ("box_stack", {"n": 48, "model": "disc", "load": "gravity"}),
    ],
)
@pytest.mark.parametrize("steps", ["long", "short", "alternating"])
def test_it_solves_the_convex_problems_of_the_gallery(kind, options, steps):
    example = gallery.make(kind, **options)
    result = perp.solve(example.problem, SPG(steps=steps), tol=1e-9)
    assert result.success, result.message
    if example.x is not None:
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_it_solves_stacks_under_gravity():
    for options in ({"n": 48}, {"n": 96}, {"n": 96, "layout": "tower"}):
        assert perp.solve(gallery.make("boxed_stack", load="gravity", **options).problem, SPG()).success


def objectives(problem, method, count):
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    values = [perp.verify(problem, state.x).objective]
    for _ in range(count):
        method.step(problem, state, 1)
        values.append(perp.verify(problem, state.x).objective)
    return np.array(values)


def test_the_objective_may_rise_but_not_above_the_last_ten():
    problem = gallery.make("dense_pd", n=60, condition=1e4).problem
    values = objectives(problem, SPG(), 120)
    assert (np.diff(values) > 1e-9).any()
    highest = np.array([values[max(0, k - 9) : k + 1].max() for k in range(120)])
    assert (values[1:] <= highest + 1e-12).all()


def test_with_a_memory_of_one_the_objective_never_rises():
    problem = gallery.make("dense_pd", n=60, condition=1e4).problem
    assert (np.diff(objectives(problem, SPG(memory=1), 120)) <= 1e-12).all()


def test_the_search_costs_no_products():
    matrix = gallery.make("dense_pd", n=60, condition=1e4).problem
    calls = []

    def multiply(x):
        calls.append(1)
        return matrix.A.apply(x)

    operator = perp.MatrixFreeOperator(LinearOperator((60, 60), matvec=multiply, dtype=float))
    problem = perp.LCP(operator, matrix.b)
    method = SPG(steps="long")
    state = method.start(problem, np.zeros(60))
    method.step(problem, state, 200)
    assert state.counters["line_search_evaluations"] > 200
    assert state.counters["products"] == len(calls)
    assert len(calls) <= 6 + 1 + 200 + 3 + 8  # estimate, first gradient, one each, refreshed, looks for rays


def test_a_matrix_that_is_not_symmetric_is_refused():
    with pytest.raises(MethodRefused, match=r"spg.*symmetric.*is 0\.5"):
        perp.solve(perp.LCP([[2.0, 1.0], [0.0, 2.0]], [-1.0, -1.0]), SPG())


def test_two_solutions_and_a_start_beyond_both_end_on_a_ray():
    result = perp.solve(perp.LCP([[-1.0]], [1.0]), SPG(), x0=[2.0])
    assert result.status is Status.RAY
    assert result.certificate is None


@pytest.mark.parametrize(
    "problem",
    [
        gallery.make("infeasible_psd", n=90).problem,
        gallery.make("closed_fluid", n=36).problem,
        gallery.make("unsolvable").problem,
        perp.ContactProblem(np.zeros((3, 3)), [-1.0, 0.2, 0.0], 0.5, "convex"),
        perp.ContactProblem(np.zeros((3, 3)), [-1.0, 0.2, 0.0], 0.5, "disc"),
    ],
    ids=["rank", "fluid", "unsolvable", "cones", "discs"],
)
def test_what_has_no_solution_is_never_called_solved(problem):
    result = perp.solve(problem, SPG(), max_iterations=3000)
    assert result.status in (Status.INFEASIBLE, Status.RAY, Status.ITERATION_LIMIT, Status.BREAKDOWN)
    assert np.isfinite(result.x).all()


def test_negative_curvature_ends_honestly():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((12, 12))
        A = A + A.T
        for problem in (perp.LCP(A, rng.standard_normal(12)), perp.BoxLCP(A, rng.standard_normal(12), -1.0, 1.0)):
            result = perp.solve(problem, SPG(), max_iterations=2000)
            assert np.isfinite(result.x).all()
            assert result.success == (result.residual <= 1e-8)
            assert perp.verify(problem, result.x).bound_violation == 0.0
            if isinstance(problem, perp.BoxLCP):  # a stationary point of the objective is a solution
                assert result.success


def test_rows_of_unlike_size_are_no_obstacle():
    rng = np.random.default_rng(0)
    A, size, b = strategies.spd_matrix(rng, 20), np.logspace(-8, 8, 20), rng.standard_normal(20)
    plain = perp.solve(perp.LCP(A, b), SPG(), tol=1e-12)
    # x reaches from 1e-8 to 1e8, so that no absolute tolerance means the same for all of it: until it stands still
    stop = perp.Stopping(tol=0.0, keep="last", max_iterations=500)
    scaled = perp.solve(perp.LCP(size[:, None] * A * size, size * b), SPG(), stop=stop)
    np.testing.assert_allclose(scaled.x * size, plain.x, atol=1e-10)


def test_fixed_and_free_rows_and_none_at_all():
    problem = perp.BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    np.testing.assert_allclose(perp.solve(problem, SPG()).x, [0.5, -0.75], atol=1e-8)
    assert perp.solve(perp.LCP(np.empty((0, 0)), []), SPG()).status is Status.CONVERGED


def test_numbers_that_overflow_end_in_a_breakdown_with_a_finite_x():
    result = perp.solve(perp.BoxLCP(np.eye(2), [1e308, -1e308], -np.inf, np.inf), SPG())
    assert result.status in (Status.BREAKDOWN, Status.CONVERGED)
    assert np.isfinite(result.x).all()


def test_without_a_tolerance_it_runs_until_nothing_changes():
    result = perp.solve(gallery.make("dense_pd", n=30).problem, SPG(), tol=0.0)
    assert result.status in (Status.STAGNATED, Status.CONVERGED, Status.ITERATION_LIMIT)
    assert result.residual <= 1e-14


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": "lon"}, "did you mean 'long'"),
        ({"scaling": "nine"}, "did you mean 'none'"),
        ({"memory": 0}, "memory"),
        ({"sufficient": 0.5}, "below 0.5"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        SPG(**options)


@pytest.mark.parametrize("seed", range(4))
def test_the_last_bits_of_the_diagonal_do_not_decide_whether_a_wall_is_solved(seed):
    """Short steps that count rows at rest take 6,000 to 16,000 iterations, as the bits fall; these 1,500 to 2,500."""
    wall = gallery.make("boxed_stack", n=336).problem
    rng = np.random.default_rng(seed)
    nudged = wall.diagonal * (1.0 + rng.choice([-1.0, 0.0, 1.0], wall.n) * 2.0**-52)
    nudged.flags.writeable = False
    wall.__dict__["diagonal"] = nudged
    assert perp.solve(wall, SPG(), max_iterations=5000).success
