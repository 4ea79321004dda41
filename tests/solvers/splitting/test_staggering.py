"""Staggering: its fixed points solve the contact problem, its parts are what they say, and its failures say why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FORMS, SEEDS, contact_problems, factored_operator, in_form, spd_matrix

import perp
from perp import gallery
from perp.errors import MethodRefused
from perp.gallery.planted import planted_contacts
from perp.solvers.method import State
from perp.solvers.results import Status
from perp.solvers.splitting.staggering import Staggering

MODELS = ("box", "cone")


def contact(coupling, friction, b):
    """One contact in the plane, A = [[1, coupling], [coupling, 1]]."""
    return perp.ContactProblem([[1.0, coupling], [coupling, 1.0]], b, friction, dimension=2)


def oscillating():
    """Sliding with friction |A_nt| = 1.8 A_nn: x_n = 1/2.8, but plain turns go to and fro between 1 and 0."""
    return contact(-0.9, 2.0, [-1.0, 10.0])


def squeezed(friction=0.5):
    """A body between two walls that come closer: no impulse keeps it out of both."""
    A = np.eye(4)
    A[0, 2] = A[2, 0] = -1.0
    return perp.ContactProblem(A, [-1.0, 0.3, -1.0, 0.0], friction, dimension=2)


def last_counters(result):
    return {name: column[-1] for name, column in result.history.counters.items()}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_planted_solution_is_found_with_joints_and_limits_beside_the_contacts(model, dimension, seed):
    rng = np.random.default_rng(seed)
    lower, upper = [-np.inf, -np.inf, -0.2, 0.0], [np.inf, np.inf, 0.2, np.inf]
    A = spd_matrix(rng, dimension * 6 + 4)
    example = planted_contacts(A, 0.3, model, dimension=dimension, lower=lower, upper=upper, seed=seed)
    result = perp.solve(example.problem, Staggering(), tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("options", [{"n": 96}, {"n": 108, "points": 9, "seed": 1}, {"n": 48, "load": "gravity"}])
def test_redundant_contacts_of_stacks_are_solved(model, options):
    problem = gallery.make("box_stack", model=model, **options).problem
    result = perp.solve(problem, Staggering())
    assert result.success
    if "load" in options:
        return
    planted = gallery.make("box_stack", model=model, **options).x
    np.testing.assert_allclose(result.y, problem.slack(planted), atol=1e-4)


def solve_plainly(A, b, lower, upper, x, sweeps=4000):
    """Projected Gauss-Seidel until nothing changes: slow, and sure for a definite A."""
    for _ in range(sweeps):
        before = x.copy()
        for i in range(x.size):
            x[i] = np.clip(x[i] - (A[i] @ x + b[i]) / A[i, i], lower[i], upper[i])
        if np.abs(x - before).max() < 1e-15:
            break
    return x


@pytest.mark.parametrize("damping", [1.0, 0.6])
def test_plain_turns_have_the_iterates_of_a_readable_twin(damping):
    rng = np.random.default_rng(4)
    A, friction = spd_matrix(rng, 14), 0.4
    problem = perp.ContactProblem(A, rng.standard_normal(14), friction, extra_rows=2)
    normal, other = np.array([0, 3, 6, 9]), np.array([12, 13])
    tangent = np.setdiff1d(np.arange(12), normal)
    method = Staggering(memory=0, damping=damping, proximal=0.0, inner_tolerance=1e-14)
    state = method.start(problem, np.zeros(14))
    x = np.zeros(14)
    for turn in range(4):
        rows = np.concatenate([normal, other])
        rest = problem.b[rows] + A[np.ix_(rows, tangent)] @ x[tangent]  # NOTES eq. 110a
        low, high = np.array([0.0] * 4 + [-np.inf] * 2), np.full(6, np.inf)
        found = solve_plainly(A[np.ix_(rows, rows)], rest, low, high, x[rows])
        x[other] = found[4:]
        x[normal] = found[:4] if turn == 0 else x[normal] + damping * (found[:4] - x[normal])
        rows = np.concatenate([tangent, other])
        rest = problem.b[rows] + A[np.ix_(rows, normal)] @ x[normal]  # NOTES eq. 110b, boxes for directions
        high = np.concatenate([np.repeat(friction * x[normal], 2), [np.inf, np.inf]])
        x[rows] = solve_plainly(A[np.ix_(rows, rows)], rest, -high, high, x[rows])
        method.step(problem, state, 1)
        np.testing.assert_allclose(state.x, x, atol=1e-11)


@given(contact_problems(), st.sampled_from([0, 3]))
def test_every_iterate_is_finite_and_within_its_bounds(problem, memory):
    method = Staggering(memory=memory, inner_iterations=50)
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for _ in range(4):
        method.step(problem, state, 1)
        np.testing.assert_array_equal(problem.project(state.x), state.x)
        assert np.isfinite(state.x).all()


@given(SEEDS, st.sampled_from(MODELS))
def test_the_form_of_a_does_not_matter(seed, model):
    rng = np.random.default_rng(seed)
    operator = factored_operator(rng, 3, 2)
    b = rng.standard_normal(11)
    points = []
    for form in FORMS:
        problem = perp.ContactProblem(in_form(operator, form), b, 0.4, model, extra_rows=2, lower=-0.5, upper=0.5)
        method = Staggering()
        state = method.start(problem, np.zeros(11))
        method.step(problem, state, 2)
        points.append(state.x)
    for x in points[1:]:
        np.testing.assert_allclose(x, points[0], atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_steps_in_pieces_have_the_same_bits(model):
    problem = gallery.make("box_stack", n=96, model=model).problem
    method = Staggering()
    whole, pieces = (method.start(problem, np.zeros(problem.n)) for _ in range(2))
    method.step(problem, whole, 7)
    for count in (2, 0, 1, 4):
        method.step(problem, pieces, count)
    np.testing.assert_array_equal(whole.x, pieces.x)


@pytest.mark.parametrize("model", MODELS)
def test_a_start_at_the_solution_takes_no_iteration_and_one_beside_it_few(model):
    example = gallery.make("box_stack", n=96, model=model)
    assert perp.solve(example.problem, Staggering(), x0=example.x).iterations <= 1
    cold = perp.solve(example.problem, Staggering())
    near = perp.solve(example.problem, Staggering(), x0=cold.x * (1.0 + 1e-7))
    assert near.success
    assert near.iterations < cold.iterations


def test_without_friction_the_first_turn_is_the_whole_answer():
    problem = gallery.make("box_stack", n=48, friction=0.0).problem
    result = perp.solve(problem, Staggering(proximal=0.0))
    assert result.success
    assert result.iterations == 1


def test_problems_without_contacts_or_without_rows_are_solved():
    A = spd_matrix(np.random.default_rng(0), 3)
    joints = perp.ContactProblem(A, [1.0, -2.0, 0.5], [], extra_rows=3)
    result = perp.solve(joints, Staggering())
    np.testing.assert_allclose(result.x, -np.linalg.solve(A, joints.b), atol=1e-8)
    assert perp.solve(perp.ContactProblem(np.zeros((0, 0)), [], []), Staggering()).success


@pytest.mark.parametrize("normal", ["lemke", "interior_pivoting", perp.PSOR(1.2)])
def test_any_method_serves_the_normal_problem(normal):
    example = gallery.make("box_stack", n=48)
    result = perp.solve(example.problem, Staggering(normal=normal))
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-4)


def test_quadratic_programs_give_the_same_iterates():
    pytest.importorskip("piqp")
    problem = gallery.make("box_stack", n=48).problem
    states = []
    for name in ("block_principal", "quadratic_program"):
        method = Staggering(normal=name, friction=name)
        states.append(method.start(problem, np.zeros(problem.n)))
        method.step(problem, states[-1], 3)
    # redundant tangents leave the friction impulses open, not the normal ones, nor what they do
    normals = problem.normal_rows
    np.testing.assert_allclose(states[1].x[normals], states[0].x[normals], atol=1e-6)
    np.testing.assert_allclose(problem.slack(states[1].x), problem.slack(states[0].x), atol=1e-6)
    result = perp.solve(problem, Staggering(normal="quadratic_program", friction="quadratic_program"))
    assert result.success


@pytest.mark.parametrize("friction", ["apgd", "spg"])
def test_any_convex_method_serves_the_discs(friction):
    example = gallery.make("box_stack", n=48, model="cone")
    result = perp.solve(example.problem, Staggering(friction=friction))
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-4)


def test_an_inner_method_that_does_not_fit_is_refused_by_name():
    discs = gallery.make("box_stack", n=48, model="cone").problem
    with pytest.raises(MethodRefused, match="friction='block_principal' would refuse its half"):
        perp.solve(discs, Staggering(friction="block_principal"))
    with pytest.raises(MethodRefused, match="normal='staggering'"):
        perp.solve(discs, Staggering(normal=Staggering()))


@pytest.mark.parametrize("model", MODELS)
def test_a_matrix_that_is_not_quite_symmetric_is_solved_as_it_is(model):
    rng = np.random.default_rng(2)
    A = spd_matrix(rng, 12)
    A += 1e-3 * rng.standard_normal((12, 12))
    example = planted_contacts(A, 0.3, model, seed=5)
    assert not example.problem.is_symmetric
    result = perp.solve(example.problem, Staggering(), tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)


def test_plain_turns_that_go_to_and_fro_are_called_a_cycle_and_the_residual_is_named():
    result = perp.solve(oscillating(), Staggering(memory=0, proximal=0.0))
    assert result.status is Status.CYCLING
    assert "every 2 iterations the same normal impulses come again" in result.message
    assert "move the normal impulses by 1.0e+00" in result.message
    assert last_counters(result)["fixed_point_residual"] == pytest.approx(1.0)


@pytest.mark.parametrize("options", [{"memory": 0, "damping": 0.3}, {}, {"memory": 1, "proximal": 0.0}])
def test_damping_or_acceleration_ends_the_cycle(options):
    result = perp.solve(oscillating(), Staggering(**options))
    assert result.success
    np.testing.assert_allclose(result.x, [1 / 2.8, -2 / 2.8], atol=1e-7)


def test_plain_turns_that_wander_are_said_to_have_found_no_fixed_point():
    problem = gallery.make("box_stack", n=96, friction=1.5, seed=1).problem
    result = perp.solve(problem, Staggering(memory=0))
    assert result.status is Status.STAGNATED
    assert "no fixed point was found: its residual was" in result.message
    assert perp.solve(problem, Staggering()).success


def test_a_normal_problem_without_solution_ends_the_solve_with_its_proof():
    result = perp.solve(squeezed(), Staggering(proximal=0.0))
    assert result.status is Status.BREAKDOWN
    assert "the normal problem has no solution, as block_principal proves" in result.message
    assert result.ray is not None
    np.testing.assert_allclose(result.ray / result.ray.max(), [1.0, 0.0, 1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("memory", [0, 5])
def test_impulses_that_run_away_are_not_called_a_solution(memory):
    result = perp.solve(squeezed(), Staggering(memory=memory), max_iterations=200)
    assert result.status in (Status.BREAKDOWN, Status.STAGNATED, Status.ITERATION_LIMIT)
    assert np.isfinite(result.x).all()
    if memory:
        assert "grow without end, no fixed point attracts them" in result.message


def test_the_end_of_all_accuracy_is_told():
    problem = gallery.make("box_stack", n=48).problem
    exact = perp.solve(problem, Staggering(inner_tolerance=0.0), tol=0.0)
    assert exact.status is Status.STAGNATED
    assert "the fixed point is reached" in exact.message or "no fixed point was found" in exact.message
    assert exact.residual < 1e-12
    loose = perp.solve(problem, Staggering(friction="psor", inner_tolerance=1e-6), tol=0.0)
    assert loose.status is Status.STAGNATED
    assert "inner_tolerance = 1e-06" in loose.message
    assert loose.residual < 1e-5


def test_inner_solves_that_fell_short_are_told_at_the_end():
    problem = gallery.make("box_stack", n=48).problem
    result = perp.solve(problem, Staggering(friction="psor", inner_iterations=10), tol=0.0)
    assert result.status is Status.STAGNATED
    assert "inner solves did not reach inner_tolerance" in result.message


def test_numbers_that_overflow_are_a_status():
    result = perp.solve(contact(-0.9, 2.0, [-1e308, 1e308]), Staggering())
    assert not result.success
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("model", MODELS)
def test_very_strong_friction_sticks(model):
    A = spd_matrix(np.random.default_rng(1), 6)
    x = np.array([1.0, 0.2, -0.1, 0.7, 0.3, 0.2])
    problem = perp.ContactProblem(A, -A @ x, 1e6, model)
    result = perp.solve(problem, Staggering())
    assert result.success
    np.testing.assert_allclose(result.x, x, atol=1e-6)


def test_what_is_done_inside_is_counted():
    problem = gallery.make("box_stack", n=96, model="cone").problem
    result = perp.solve(problem, Staggering(inner_iterations=20))
    counters = last_counters(result)
    assert result.success
    assert set(Staggering.counted) <= set(counters)
    assert counters["normal_iterations"] >= result.iterations
    assert counters["friction_iterations"] <= 20 * result.iterations
    assert counters["inner_failures"] > 0  # twenty iterations do not always do
    assert (np.diff(result.history.counters["friction_iterations"]) >= 0).all()


def test_options_are_checked():
    for options, message in [
        ({"damping": 0.0}, "damping"),
        ({"damping": 1.5}, r"\(0, 1\]"),
        ({"memory": -1}, "memory"),
        ({"proximal": -1.0}, "proximal"),
        ({"inner_tolerance": -1.0}, "inner_tolerance"),
        ({"inner_iterations": 0}, "inner_iterations"),
        ({"normal": "lemk"}, "did you mean 'lemke'"),
    ]:
        with pytest.raises(ValueError, match=message):
            Staggering(**options)
    with pytest.raises(TypeError, match="friction is 3"):
        Staggering(friction=3)


def test_a_refreshed_state_goes_on_without_its_memory():
    problem = gallery.make("box_stack", n=48).problem
    method = Staggering()
    state: State = method.start(problem, np.zeros(problem.n))
    method.step(problem, state, 3)
    method.refresh(problem, state)
    method.step(problem, state, 1)
    assert len(state.mixer.points) == 1


REAL = ["fclib/local_problem_test.hdf5", *(f"siconos/fclib_hdf5/{n}.hdf5" for n in ("Box_Stacks-i0122-82-5", "CubeH8"))]


@pytest.mark.parametrize("name", [*REAL, "siconos/fclib_hdf5/Capsules-i125-1213.hdf5"])
def test_real_contact_problems_are_solved(shared, name):
    pytest.importorskip("h5py")
    problem = perp.load(shared / "data" / name)
    result = perp.solve(problem, Staggering(inner_iterations=300))
    assert result.success
    assert result.verify().de_saxce < 1e-6
