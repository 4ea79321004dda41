"""Interior points for friction: models, spaces, starts, and honest ends."""

from __future__ import annotations

import conic_problems
import numpy as np
import pytest
import strategies
from conic_problems import MODELS
from hypothesis import given, settings

import perp
from perp import ConeInterior, Status, gallery
from perp.errors import MethodRefused
from perp.kernels.conic import layout, polish, run
from perp.solvers.cone_interior.course import NEWTON_STEPS
from perp.solvers.cone_interior.starting_points import begin_cold
from perp.solvers.cone_interior.state import run_kernel

EXACT = 1e-12

BY_THE_PATH = 1e-6
"""What the path reaches by itself, without a polish, before rounding stops it."""


def stack(model, n=48, **options):
    return gallery.make("box_stack", n=n, model=model, **options).problem


def solve(problem, *, tol=EXACT, x0=None, **options):
    return perp.solve(problem, ConeInterior(**options), tol=tol, x0=x0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mass_ratio", [1.0, 1e4])
@pytest.mark.parametrize("model", MODELS)
def test_stacks_are_solved_to_rounding(model, mass_ratio, seed):
    """To 1e-12 of the residual of zero, or absolutely where that is small."""
    problem = stack(model, n=96, mass_ratio=mass_ratio, seed=seed)
    first = perp.verify(problem, np.zeros(problem.n)).residual
    result = solve(problem, tol=EXACT * max(1.0, first))
    assert result.success
    assert result.residual == pytest.approx(perp.verify(problem, result.x).residual, abs=1e-15)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("compliance", [0.0, 0.1])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_joints_bounds_and_smooth_contacts_are_solved_together(seed, model, compliance, dimension):
    problem = conic_problems.contacts(model, dimension, compliance=compliance, seed=seed)
    result = solve(problem, tol=1e-10)
    assert result.success
    assert result.x[-1] == 0.5  # its bounds are equal
    smooth = slice(dimension * 4 + 1, dimension * 5)
    np.testing.assert_array_equal(result.x[smooth], 0.0)


@pytest.mark.parametrize("model", MODELS)
def test_without_friction_it_is_the_problem_of_normals(model):
    rough = stack("box")
    problem = perp.ContactProblem(rough.A, rough.b, 0.0, model)
    result = solve(problem)
    assert result.success
    np.testing.assert_array_equal(result.x.reshape(-1, 3)[:, 1:], 0.0)
    expected = perp.solve(perp.ContactProblem(rough.A, rough.b, 0.0, "box"), "dantzig")
    np.testing.assert_allclose(result.y, expected.y, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_joints_that_say_the_same_twice_are_solved(model):
    """Impulses of the two are open; their sum, and all velocities, are not."""
    once = conic_problems.contacts(model, extra=False)
    rng = np.random.default_rng(5)
    joints = rng.standard_normal((3, once.A.J.shape[1]))

    def with_joints(rows):
        J = np.concatenate([once.A.J.toarray(), rows])
        A = perp.FactoredOperator(J, once.A.mass.to_sparse())
        return perp.ContactProblem(
            A, np.append(once.b, np.zeros(len(rows))), once.friction, model, extra_rows=len(rows)
        )

    single, double = solve(with_joints(joints), tol=1e-10), solve(with_joints(np.concatenate([joints] * 2)), tol=1e-10)
    assert single.success
    assert double.success
    np.testing.assert_allclose(double.y[: once.n], single.y[: once.n], atol=1e-8)
    np.testing.assert_allclose(double.x[-6:-3] + double.x[-3:], single.x[-3:], atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_a_given_matrix_gives_the_answer_of_its_factors(model):
    problem = conic_problems.contacts(model, compliance=0.1)
    expected = solve(problem)
    assert expected.success
    for A in (problem.A.to_dense(), problem.A.to_sparse()):
        given_A = perp.ContactProblem(A, problem.b, problem.friction, model, lower=problem.lower, upper=problem.upper)
        result = solve(given_A, tol=BY_THE_PATH)
        assert result.success
        np.testing.assert_allclose(result.x, expected.x, atol=1e-5)
    result = solve(problem, tol=BY_THE_PATH, space="contact")
    assert result.success
    np.testing.assert_allclose(result.x, expected.x, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_redundant_contacts_with_a_given_matrix_have_the_same_slack(model):
    problem = stack(model)
    result = solve(perp.ContactProblem(problem.A.to_dense(), problem.b, problem.friction, model), tol=BY_THE_PATH)
    assert result.success
    np.testing.assert_allclose(result.y, solve(problem).y, atol=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_from_the_solution_it_takes_no_iteration(model):
    problem = stack(model)
    first = solve(problem)
    again = solve(problem, tol=0.0, x0=first.x)
    assert again.iterations == 0
    assert again.residual <= EXACT


@pytest.mark.parametrize("model", MODELS)
def test_a_start_with_the_right_states_saves_the_path(model):
    problem = stack(model)
    first = solve(problem)
    moved = type(problem)(problem.A, problem.b * (1.0 + 1e-6), problem.friction, model)
    warm = solve(moved, x0=first.x)
    assert warm.success
    assert warm.iterations == warm.history.counters["factorisations"][-1] <= 2
    assert warm.history.counters["factorisations"][-1] < solve(moved).history.counters["factorisations"][-1]


@pytest.mark.parametrize("model", MODELS)
def test_a_start_that_misleads_is_given_up(model):
    problem = stack(model)
    misled = solve(problem, x0=100.0 * np.random.default_rng(0).random(problem.n))
    assert misled.success
    np.testing.assert_allclose(misled.y, solve(problem).y, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_without_attempts_there_are_newton_steps_from_the_start_and_nothing_else(model):
    problem = stack(model)
    near = solve(problem).x * (1.0 + 1e-6)
    assert solve(problem, x0=near, attempts=0).success
    for start in (100.0 * np.random.default_rng(0).random(problem.n), np.zeros(problem.n)):
        result = solve(problem, x0=start, attempts=0)
        assert 0 < result.history.counters["factorisations"][-1] <= NEWTON_STEPS
        if not result.success:
            assert result.status is Status.STAGNATED
            assert "cold paths are off" in result.message
            assert result.residual <= perp.verify(problem, problem.project(start)).residual


@pytest.mark.parametrize("model", MODELS)
def test_newton_steps_in_one_call_are_those_of_many_calls(model):
    problem, method = stack(model, n=96, mass_ratio=1e4, load="planted"), ConeInterior()
    x0 = problem.project(100.0 * np.random.default_rng(1).standard_normal(problem.n))
    states = [method.start(problem, x0.copy()) for _ in range(2)]
    run_kernel(states[0], run.POLISH, 10)
    for _ in range(10):
        run_kernel(states[1], run.POLISH, 1)
    np.testing.assert_array_equal(states[0].marks, states[1].marks)
    np.testing.assert_array_equal(states[0].iterate.rows[layout.BEST], states[1].iterate.rows[layout.BEST])


def test_newton_steps_that_lead_nowhere_go_back_to_the_best_point():
    """The least F never grows, and is that of the point that is kept, also after going back."""
    problem, method = stack("cone", n=336, mass_ratio=1e4, load="planted"), ConeInterior()
    state = method.start(problem, problem.project(100.0 * np.random.default_rng(0).standard_normal(problem.n)))
    least = [np.inf]
    while state.marks[polish.DAMPING] <= 1.0:
        run_kernel(state, run.POLISH, 1)
        least.append(state.marks[polish.POLISHED])
        assert least[-1] <= least[-2]
        assert len(least) < 40
    state.iterate.rows[layout.X] = state.iterate.rows[layout.BEST]
    state.iterate.bodies[layout.V] = state.iterate.bodies[layout.BEST_V]
    state.marks[polish.POLISHED], state.marks[polish.IS_NEW] = np.inf, 1.0
    run_kernel(state, run.POLISH, 0)
    assert state.marks[polish.POLISHED] == least[-1]


@pytest.mark.parametrize("model", ["box", "cone"])
def test_a_path_that_folds_is_followed_again_with_other_targets(model):
    problem, method = stack(model, n=336, mass_ratio=1e4, load="planted", seed=3), ConeInterior(attempts=1)
    state = method.start(problem, np.zeros(problem.n))
    before = state.iterate.target.copy()
    while state.marks[run.TURNS] < 1.0:
        assert state.ended is None
        method.step(problem, state, 1)
    factors = state.iterate.target / before
    changed = factors[factors != 1.0]
    assert 0 < changed.size < factors.size
    assert (changed >= run.RAISE / run.SPREAD).all()
    assert (changed <= run.RAISE * run.SPREAD).all()
    assert np.unique(changed).size == changed.size
    assert solve(problem, tol=1e-8).success


def test_each_seed_is_a_path_of_its_own_and_a_further_attempt_is_that_of_the_next_seed():
    problem = stack("cone")
    targets = {}
    for seed, attempt in ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1)):
        method = ConeInterior(seed=seed)
        state = method.start(problem, np.zeros(problem.n))
        assert begin_cold(state, method.friction_target, method.seed + attempt)
        targets[seed, attempt] = state.iterate.target.copy()
    np.testing.assert_array_equal(targets[0, 1], targets[1, 0])
    np.testing.assert_array_equal(targets[1, 1], targets[2, 0])
    assert np.unique(targets[0, 0]).size == 2
    assert (targets[1, 0] != targets[2, 0]).all()
    for seed in (1, 2):
        assert solve(problem, tol=1e-10, seed=seed).success


@pytest.mark.parametrize("model", MODELS)
def test_the_same_problem_gives_the_same_bits(model):
    problem = stack(model)
    first, second = solve(problem), solve(problem)
    np.testing.assert_array_equal(first.x, second.x)
    assert first.iterations == second.iterations


@pytest.mark.parametrize("space", ["body", "contact"])
@pytest.mark.parametrize("model", MODELS)
def test_iterations_may_be_asked_for_in_any_parts(model, space):
    problem, method = stack(model), ConeInterior(space=space)
    ends = []
    for widths in ((5,), (2, 3), (1, 0, 1, 3), (1, 1, 1, 1, 1)):
        state = method.start(problem, np.zeros(problem.n))
        for width in widths:
            method.step(problem, state, width)
        ends.append(state.x)
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])


@settings(max_examples=30, deadline=None)
@given(strategies.lcps())
def test_small_lcps_are_solved(problem):
    assert solve(problem, tol=1e-8).success


@settings(max_examples=30, deadline=None)
@given(strategies.box_lcps())
def test_small_problems_with_boxes_are_solved(problem):
    assert solve(problem, tol=1e-8).success


@pytest.mark.parametrize("kind", ["lcp", "boxed"])
@pytest.mark.parametrize("form", ["factored", "dense", "sparse"])
def test_problems_without_contacts_are_solved_in_every_form(form, kind):
    bodies = stack("box").A
    soft = perp.FactoredOperator(bodies.J, bodies.mass.to_sparse(), np.full(bodies.J.shape[0], 0.1))
    A = {"factored": soft, "dense": soft.to_dense(), "sparse": soft.to_sparse()}[form]
    b = np.random.default_rng(0).standard_normal(bodies.J.shape[0])
    problem = perp.LCP(A, b) if kind == "lcp" else perp.BoxLCP(A, b, -0.5, 1.5)
    result = solve(problem, tol=1e-10)
    assert result.success
    expected = perp.solve(problem, "block_principal")
    np.testing.assert_allclose(result.x, expected.x, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_bodies_that_cannot_move_do_not(model):
    masses = perp.BodyMasses([1.0, np.inf, 2.0], [np.eye(3)] * 3)
    rng = np.random.default_rng(0)
    pairs = np.repeat([[0, 1], [2, 1], [0, 2]], 3, axis=0)
    A = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((9, 2, 6)), masses)
    problem = perp.ContactProblem(A, rng.standard_normal(9), 0.6, model)
    result = solve(problem)
    assert result.success
    np.testing.assert_array_equal(A.velocity(result.x)[6:12], 0.0)


def between_walls(speed, model):
    """Two contacts, the first of a body that cannot move with the world, which it leaves at that speed."""
    masses = perp.BodyMasses([np.inf, 1.0], [np.eye(3)] * 2)
    rng = np.random.default_rng(0)
    pairs = np.repeat([[0, -1], [1, -1]], 3, axis=0)
    A = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((6, 2, 6)), masses)
    return perp.ContactProblem(A, np.array([speed, 0.0, 0.0, -1.0, 0.3, 0.2]), 0.5, model)


@pytest.mark.parametrize("model", MODELS)
def test_a_contact_between_bodies_that_cannot_move_ends_honestly(model):
    assert solve(between_walls(1.0, model), tol=1e-8).success
    result = solve(between_walls(-1.0, model), tol=1e-8)
    assert not result.success
    assert np.isfinite(result.x).all()


INFEASIBLE = [
    perp.LCP(np.zeros((2, 2)), [-1.0, 1.0]),
    perp.BoxLCP(np.ones((2, 2)), [1.0, 2.0], -np.inf, np.inf),
    gallery.make("infeasible_psd", n=90).problem,
]


@pytest.mark.parametrize("problem", INFEASIBLE, ids=["no slack", "equations", "psd"])
def test_what_has_no_solution_ends_without_success(problem):
    result = solve(problem, tol=1e-8)
    assert result.status in (Status.STAGNATED, Status.BREAKDOWN, Status.ITERATION_LIMIT, Status.INFEASIBLE)
    assert np.isfinite(result.x).all()
    assert result.residual == perp.verify(problem, result.x).residual


@pytest.mark.parametrize("model", ["box", "cone"])
def test_several_paths_are_tried_where_they_are_asked_for(model):
    """Here a wall is pressed into a wall: no impulse helps."""
    problem = between_walls(-1.0, model)
    one, some = (solve(problem, tol=1e-8, attempts=attempts) for attempts in (1, 3))
    assert one.status is some.status is Status.STAGNATED
    assert one.history.counters["attempts"][-1] == 1.0
    assert 1.0 < some.history.counters["attempts"][-1] <= 3.0
    assert "no path" in some.message


def soft_tangents(model, dimension=3, friction=0.5):
    rng = np.random.default_rng(0)
    A = perp.FactoredOperator.from_body_pairs(
        [[0, 1]] * 6,
        rng.standard_normal((6, 2, 6)),
        perp.BodyMasses([1.0, 2.0], [np.eye(3)] * 2),
        compliance=[0.1, 0.2, 0.3] * 2,
    )
    return perp.ContactProblem(A, rng.standard_normal(6), friction, model, dimension=dimension)


@pytest.mark.parametrize("model", ["cone", "convex", "disc"])
def test_tangents_of_one_cone_with_two_compliances_are_refused_in_body_space(model):
    problem = soft_tangents(model)
    for space in ("auto", "body"):
        with pytest.raises(MethodRefused, match="one compliance"):
            solve(problem, space=space)
    assert solve(problem, tol=BY_THE_PATH, space="contact").success


@pytest.mark.parametrize("problem", [soft_tangents("box"), soft_tangents("cone", 2), soft_tangents("cone", 3, 0.0)])
def test_tangents_that_share_no_cone_may_differ(problem):
    assert solve(problem).success


def test_a_negative_diagonal_is_refused():
    with pytest.raises(MethodRefused, match=r"A\[1,1\] is -2"):
        solve(perp.LCP(np.diag([1.0, -2.0]), np.ones(2)))


def test_body_space_needs_bodies():
    with pytest.raises(MethodRefused, match="needs a factored A"):
        solve(perp.LCP(np.eye(2), np.ones(2)), space="body")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"boundary": 1.0}, "boundary"),
        ({"boundary": 0.0}, "boundary"),
        ({"friction_target": 0.0}, "friction_target"),
        ({"correctors": -1}, "correctors"),
        ({"attempts": -1}, "attempts"),
        ({"seed": -1}, "seed"),
        ({"space": "bodies"}, "space"),
        ({"ordering": "none"}, "ordering"),
    ],
)
def test_options_are_checked(options, word):
    with pytest.raises(ValueError, match=word):
        ConeInterior(**options)


@pytest.mark.parametrize("model", MODELS)
def test_without_polish_the_path_goes_to_the_end(model):
    problem = conic_problems.contacts(model, compliance=0.1)
    result = solve(problem, tol=BY_THE_PATH, polish=False)
    assert result.success
    np.testing.assert_allclose(result.x, solve(problem).x, atol=1e-5)


def test_iterations_count_factorisations_and_solves():
    history = solve(stack("cone")).history
    counters = history.counters
    assert counters["factorisations"][-1] >= history.iteration[-1]
    assert counters["solves"][-1] >= 2 * history.iteration[-1]
    assert counters["tau"][-1] < 1e-3 * counters["tau"][counters["tau"] > 0.0][0]
