"""Numbers of single contacts: each must be what `verify` says of that contact alone."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import scenes
from perp.simulation.settings import make_solve
from perp.viewer.frame_encoding import ContactNumbers, measure_contacts, row_errors

LAWS = [(model, dimension) for model in ("box", "cone", "convex", "disc") for dimension in (2, 3)]


def some_problem(model: str, dimension: int, seed: int, contacts: int = 6, others: int = 0, factor: float = 1.0):
    """Contacts and a point at which all of them are wrong, some of them inside their bounds."""
    random = np.random.default_rng(seed)
    n = dimension * contacts + others
    root = random.normal(size=(n, n))
    A = root @ root.T + np.eye(n)
    x = random.normal(size=n) * random.choice([0.0, 0.1, 3.0], size=n)
    b = random.normal(size=n) * random.choice([1e-9, 1.0, 100.0], size=n) - A @ x
    rows = np.full(n, 1.0)
    rows[:dimension] = factor  # the first contact's
    friction = random.uniform(0.0, 1.5, size=contacts)
    friction[0] = 0.0
    bounds = {"lower": np.full(others, -1.0), "upper": np.full(others, 1.0)} if others else {}
    return perp.ContactProblem(rows[:, None] * A, rows * b, friction, model, dimension=dimension, **bounds), x


def alone(problem: perp.ContactProblem, contact: int, x: np.ndarray) -> tuple[perp.ContactProblem, np.ndarray]:
    """One contact, its slack made to be what it is among the others."""
    rows = slice(problem.dimension * contact, problem.dimension * (contact + 1))
    A, own = problem.A.to_dense()[rows, rows], x[rows]
    friction = problem.friction[contact : contact + 1]
    b = problem.slack(x)[rows] - A @ own
    return perp.ContactProblem(A, b, friction, problem.model, dimension=problem.dimension), own


@pytest.mark.parametrize(("model", "dimension"), LAWS)
@pytest.mark.parametrize("factor", [1.0, 2.0**40])
def test_each_contact_has_the_errors_that_verify_finds_in_it_alone(model, dimension, factor):
    for seed in range(5):
        problem, x = some_problem(model, dimension, seed, factor=factor)
        told = measure_contacts(problem, x)
        for contact in range(problem.contacts):
            single, own = alone(problem, contact, x)
            expected = perp.verify(single, own)
            assert told.residual[contact] == pytest.approx(expected.residual, rel=1e-6, abs=1e-11)
            assert told.energy_error[contact] == pytest.approx(dimension * expected.energy_mean, rel=1e-6, abs=1e-20)


@pytest.mark.parametrize(("model", "dimension"), LAWS)
def test_largest_errors_and_their_sum_are_those_of_verify(model, dimension):
    for seed in range(5):
        problem, x = some_problem(model, dimension, seed)
        residual, energy = row_errors(problem, x, problem.slack(x))
        expected = perp.verify(problem, x)
        assert residual.max() == pytest.approx(expected.residual, rel=1e-12)
        assert energy.max() == pytest.approx(expected.energy_max, rel=1e-12)
        assert energy.sum() / problem.n == pytest.approx(expected.energy_mean, rel=1e-12)


def test_rows_of_joints_belong_to_no_contact():
    problem, x = some_problem("cone", 3, 0, others=4)
    y = problem.slack(x)
    residual, energy = row_errors(problem, x, y)
    x_j, y_j, a_j = x[18:], y[18:], problem.diagonal[18:]
    joint = np.abs(x_j - np.clip(x_j - y_j, -1.0, 1.0))
    joint_energy = 0.5 * a_j * (x_j - np.clip(x_j - y_j / a_j, -1.0, 1.0)) ** 2
    expected = perp.verify(problem, x)
    assert residual.shape == energy.shape == (6, 3)
    assert max(residual.max(), joint.max()) == pytest.approx(expected.residual)
    assert (energy.sum() + joint_energy.sum()) / problem.n == pytest.approx(expected.energy_mean)


def test_states_of_a_solution_are_those_of_contact_states():
    problem = perp.gallery.make("box_stack", n=36).problem
    result = perp.solve(problem, "cone_newton", tol=1e-10)
    assert result.success
    told, expected = measure_contacts(problem, result.x), perp.contact_states(problem, result.x)
    assert told.state.tolist() == expected.state.tolist()
    assert told.opening.tolist() == expected.opening.tolist()
    assert told.slip.tolist() == expected.slip.tolist()


def test_contacts_that_creep_because_the_solver_stopped_early_stick():
    A, friction = np.eye(3), 0.5
    problem = perp.ContactProblem(A, [-1.0, 3e-4, 0.0], friction, "cone")
    creeping = measure_contacts(problem, np.array([1.0, 0.0, 0.0]))
    assert creeping.slip[0] == pytest.approx(3e-4)
    assert creeping.state[0] == perp.ContactState.STICKING
    at_the_rim = perp.ContactProblem(A, [-1.0, 0.5 + 3e-4, 0.0], friction, "cone")
    sliding = measure_contacts(at_the_rim, np.array([1.0, -0.5, 0.0]))  # this is the solution: it has no error
    assert sliding.state[0] == perp.ContactState.SLIDING
    fast = measure_contacts(perp.ContactProblem(A, [-1.0, 0.1, 0.0], friction, "cone"), np.array([1.0, 0.0, 0.0]))
    assert fast.state[0] == perp.ContactState.SLIDING


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
def test_a_small_slack_is_not_lost_beside_a_large_impulse(model):
    problem = perp.ContactProblem(np.eye(3), np.zeros(3), 0.5, model)
    residual, energy = row_errors(problem, np.array([1e6, 0.1, 0.1]), np.array([1e-15, -2e-15, 0.0]))
    assert residual.tolist() == [[1e-15, 2e-15, 0.0]]
    assert energy[0] == pytest.approx([0.5e-30, 2e-30, 0.0])


def test_an_infinite_slack_shows_as_a_large_residual_without_a_warning():
    for model in ("box", "cone", "convex"):
        problem = perp.ContactProblem(1e200 * np.eye(3), [-1.0, 0.0, 0.0], 0.5, model)
        told = measure_contacts(problem, np.array([1e200, 1e199, 0.0]))
        assert told.residual[0] > 1e199


def test_without_a_diagonal_the_energy_is_not_known():
    A = perp.MatrixFreeOperator(2.0 * np.eye(3))
    told = measure_contacts(perp.ContactProblem(A, [-1.0, 0.0, 0.0], 0.5), np.zeros(3))
    assert np.isnan(told.energy_error).all()
    assert told.residual.tolist() == [1.0]


@pytest.mark.parametrize("method", ["nncg", "auto", "block_gauss_seidel"])
def test_a_step_solved_by_perp_has_the_same_numbers_as_its_x_alone(method):
    scene = scenes.make("wall_of_boxes", base=3, courses=2)
    solve = make_solve(method, None, 5 if method != "auto" else None)
    for _ in range(3):
        report = scene.world.step(scene.dt, solve)
    assert len(report.contacts) > 10
    known = ContactNumbers.of_step(report, len(report.contacts))
    anew = measure_contacts(report.problem, report.x)
    assert known.state.tolist() == anew.state.tolist()
    assert known.residual == pytest.approx(anew.residual, rel=1e-9, abs=1e-14)
    assert known.energy_error == pytest.approx(anew.energy_error, rel=1e-9, abs=1e-25)
    assert known.residual.max() == pytest.approx(report.residuals.residual, rel=1e-9, abs=1e-14)


def test_contacts_of_another_step_are_not_told_of():
    scene = scenes.make("stack", high=2)
    report = scene.world.step(scene.dt, make_solve("pgs", None, 5))
    assert not np.isnan(ContactNumbers.of_step(report, len(report.contacts)).residual).any()
    assert np.isnan(ContactNumbers.of_step(report, len(report.contacts) + 1).residual).all()
    assert np.isnan(ContactNumbers.of_step(None, 3).state).all()
