"""Convex contact models as programs over second-order cones, solved by Clarabel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import perp
from perp import Status, gallery
from perp.errors import MethodRefused
from perp.solvers.reformulation.bridges.bridge import Ending
from perp.solvers.reformulation.bridges.clarabel import ConeAnswer
from perp.solvers.reformulation.cone_program import ConeProgram, encode_cones

clarabel = pytest.importorskip("clarabel")

MODELS = ("convex", "disc")
SPACES = ("body", "assembled")
LOWER = np.array([-np.inf, -np.inf, 0.0, -1.0, -0.5, 0.3, -np.inf, -np.inf])
UPPER = np.array([np.inf, np.inf, np.inf, 1.0, 2.0, 0.3, 0.5, 0.1])


def all_kinds_of_rows(model: str, dimension: int, seed: int) -> perp.ContactProblem:
    """Eight contacts, one without friction, some rows compliant; equations, all kinds of bounds, a fixed row."""
    rng = np.random.default_rng(seed)
    contacts, velocities = 8, 14
    n = dimension * contacts + LOWER.size
    J = rng.standard_normal((n, velocities))
    compliance = np.where(rng.random(n) < 0.4, rng.uniform(0.0, 0.5, n), 0.0)
    A = perp.FactoredOperator(sparse.csr_array(J), rng.uniform(0.5, 5.0, velocities), compliance)
    friction = rng.uniform(0.1, 1.0, contacts)
    friction[2] = 0.0
    b = J @ rng.standard_normal(velocities)
    return perp.ContactProblem(A, b, friction, model, dimension=dimension, lower=LOWER, upper=UPPER)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_all_kinds_of_rows_are_solved_in_both_spaces(model, dimension, space, seed):
    problem = all_kinds_of_rows(model, dimension, seed)
    result = perp.solve(problem, ConeProgram(space=space), tol=2e-7 if dimension == 3 else 1e-10)
    assert result.success
    exact = perp.solve(problem, "admm", tol=1e-10, max_iterations=200_000)
    assert exact.success
    np.testing.assert_allclose(result.y, exact.y, atol=1e-6 if dimension == 3 else 1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_a_matrix_without_factors_is_stated_over_impulses(model):
    problem = all_kinds_of_rows(model, 2, 5)
    dense = perp.ContactProblem(
        problem.A.to_dense(), problem.b, problem.friction, model, dimension=2, lower=LOWER, upper=UPPER
    )
    result = perp.solve(dense, "cone_program", tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.y, perp.solve(problem, "cone_program", tol=1e-9).y, atol=1e-7)
    with pytest.raises(MethodRefused, match="needs a factored A"):
        perp.solve(dense, "cone_program", space="body")


@pytest.mark.parametrize("ratio", [1.0, 1e4])
@pytest.mark.parametrize("model", MODELS)
def test_a_wall_is_solved_in_few_iterations_whatever_the_masses(model, ratio):
    problem = gallery.make("box_stack", n=336, model=model, load="gravity", mass_ratio=ratio, seed=3).problem
    result = perp.solve(problem, "cone_program", tol=1e-8)
    assert result.success
    calls = result.history.counters["backend_iterations"]
    assert calls[0] == 0.0
    assert calls[-1] <= 40.0 * result.iterations


def test_the_unknowns_of_body_space_are_velocities_and_not_impulses():
    problem = gallery.make("box_stack", n=96, model="convex").problem
    body, assembled = encode_cones(problem, "auto").statement, encode_cones(problem, "assembled").statement
    assert body.n == problem.A.mass.dofs
    assert assembled.n == problem.n
    soft = gallery.make("box_stack", n=96, model="disc", compliance=1e-3).problem
    assert encode_cones(soft, "auto").statement.n == soft.A.mass.dofs + soft.n + soft.contacts


def test_a_body_that_cannot_move_stays():
    mass = perp.BodyMasses([np.inf, 2.0], [np.eye(3), np.eye(3)])
    J = sparse.csr_array(np.hstack([-np.eye(3, 6), np.eye(3, 6)]))
    problem = perp.ContactProblem(perp.FactoredOperator(J, mass), [-1.0, 0.2, 0.0], 0.5, "convex")
    result = perp.solve(problem, "cone_program")
    assert result.success
    np.testing.assert_allclose(result.x, [2.0, -0.4, 0.0], atol=1e-6)


def test_without_friction_only_normals_are_left():
    problem = gallery.make("box_stack", n=96, model="convex", friction=0.0, load="gravity").problem
    assert encode_cones(problem, "auto").statement.cones == 0
    result = perp.solve(problem, "cone_program")
    assert result.success
    assert not result.x[problem.every(1)].any()


@pytest.mark.parametrize("factor", [1e-20, 1e-6, 1e6, 1e20])
@pytest.mark.parametrize("space", SPACES)
def test_units_of_speed_and_of_mass_do_not_matter(space, factor):
    problem = all_kinds_of_rows("convex", 2, 1)
    A = perp.FactoredOperator(problem.A.J, problem.A.mass.m / factor, problem.A.compliance * factor)
    scaled = perp.ContactProblem(
        A, factor * problem.b, problem.friction, "convex", dimension=2, lower=LOWER, upper=UPPER
    )
    result = perp.solve(scaled, ConeProgram(space=space))
    assert result.success
    np.testing.assert_allclose(result.y / factor, perp.solve(problem, "cone_program").y, atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("space", SPACES)
def test_contacts_that_contradict_each_other_end_on_a_ray_that_proves_it(model, space):
    J = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    A = perp.FactoredOperator(J, np.ones(2))
    problem = perp.ContactProblem(A, [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], 0.5, model)
    result = perp.solve(problem, ConeProgram(space=space))
    assert result.status in (Status.RAY, Status.INFEASIBLE)
    assert result.ray[0] == pytest.approx(result.ray[3], rel=1e-6)
    assert result.ray[0] > 0.0


def test_an_answer_that_is_none_is_told_as_such(monkeypatch):
    calls = []

    def stop(statement, tolerance, **options):
        calls.append((tolerance, options["careful"]))
        return ConeAnswer(Ending.STOPPED, "numerical error", None, None, 3)

    monkeypatch.setattr("perp.solvers.reformulation.cone_program.solve_cone_program", stop)
    result = perp.solve(gallery.make("box_stack", n=48, model="convex").problem, "cone_program")
    assert result.status is Status.BREAKDOWN
    assert "clarabel says 'numerical error'" in result.message
    assert calls == [(1e-13, False), (1e-15, True)]
    assert result.history.counters["backend_iterations"][-1] == 6.0


def test_what_clarabel_raises_is_its_answer(monkeypatch):
    def panic(*arguments):
        raise BaseException("panicked")

    monkeypatch.setattr(clarabel, "DefaultSolver", panic)
    result = perp.solve(gallery.make("box_stack", n=48, model="disc").problem, "cone_program")
    assert result.status is Status.BREAKDOWN
    assert "BaseException: panicked" in result.message


def test_its_own_limit_of_iterations_is_handed_on():
    problem = gallery.make("box_stack", n=96, model="convex", load="gravity").problem
    result = perp.solve(problem, "cone_program", most_iterations=2, max_iterations=1)
    assert not result.success
    assert result.history.counters["backend_iterations"][-1] == 2.0


def test_a_missing_clarabel_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setattr("perp.solvers.reformulation.bridges.bridge.find_spec", lambda name: None)
    with pytest.raises(MethodRefused, match=r"clarabel is not installed: pip install 'perp\[clarabel\]'"):
        perp.solve(gallery.make("box_stack", n=48, model="convex").problem, "cone_program")


def test_an_asymmetric_matrix_is_refused():
    A = np.array([[2.0, 1.0], [0.0, 2.0]])
    with pytest.raises(MethodRefused, match="must be symmetric"):
        perp.solve(perp.ContactProblem(A, [-1.0, 0.0], 0.5, "convex", dimension=2), "cone_program")


@pytest.mark.parametrize(
    ("options", "error"),
    [({"tolerance": 0.0}, ValueError), ({"most_iterations": 0}, ValueError), ({"space": "x"}, ValueError)],
)
def test_options_that_make_no_sense_are_refused(options, error):
    with pytest.raises(error):
        ConeProgram(**options)
