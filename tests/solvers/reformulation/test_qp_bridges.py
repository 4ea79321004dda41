"""Bridges to other people's solvers: one statement, one answer, and nothing believed that was not checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import perp
from perp import gallery
from perp.errors import InvalidProblem, MissingExtra
from perp.solvers.reformulation.bridges import BACKENDS, BRIDGES, find_bridge, name_missing, solve_quadratic_program
from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending
from perp.solvers.reformulation.statement import Guess, Statement, make_statement

ACCURACY = {"highs": 1e-5}
"""HiGHS adds 1e-7 to the diagonal of P."""


@pytest.fixture(params=list(BRIDGES))
def backend(request):
    """Each solver that is installed."""
    pytest.importorskip(BRIDGES[request.param].module)
    return request.param


def optimality_errors(qp: Statement, answer: Answer) -> dict[str, float]:
    """How far an answer is from each of the conditions that make it optimal for a convex program."""
    z, m = answer.z, answer.multipliers
    at_lower, at_upper = np.maximum(-m.bounds, 0.0), np.maximum(m.bounds, 0.0)
    below = np.where(np.isfinite(qp.lower), z - qp.lower, 0.0)
    above = np.where(np.isfinite(qp.upper), qp.upper - z, 0.0)
    room = qp.h - qp.G @ z
    gradient = qp.P @ z + qp.c + qp.E.T @ m.equations + qp.G.T @ m.inequalities + m.bounds
    return {
        "gradient": np.abs(gradient).max(),
        "equations": np.abs(qp.E @ z - qp.e).max(initial=0.0),
        "inequalities": max(0.0, -room.min(initial=0.0)),
        "bounds": max(0.0, -below.min(initial=0.0), -above.min(initial=0.0)),
        "signs": max(0.0, -m.inequalities.min(initial=0.0)),
        "free": np.abs(m.bounds[np.isinf(qp.lower) & np.isinf(qp.upper)]).max(initial=0.0),
        "complementarity": np.abs(room @ m.inequalities) + np.abs(below @ at_lower) + np.abs(above @ at_upper),
    }


def friction_program(directions: int = 4) -> tuple[Statement, perp.ContactProblem]:
    """NOTES eq. 111-112 for a stack of boxes whose normal impulses are given.

    min 1/2 t^T B_tt t + (b_t + B_tn n)^T t   subject to   t >= 0   and, for each contact,   sum of its t <= friction n,
    with friction directions d_1, -d_1, d_2, -d_2 (`e` of NOTES has a column a contact).
    """
    problem = gallery.make("box_stack", n=48, seed=1).problem
    normals = np.random.default_rng(2).uniform(0.0, 2.0, problem.contacts)
    normals[0] = 0.0  # a contact that does not press
    A = problem.A.to_dense()
    own = problem.normal_rows
    tangents = np.setdiff1d(np.arange(problem.n), own)
    expand = np.kron(np.eye(2 * problem.contacts), np.array([[1.0, -1.0]]))  # t_i = t_i+ - t_i-
    B_tt = expand.T @ A[np.ix_(tangents, tangents)] @ expand
    c_t = expand.T @ (problem.b[tangents] + A[np.ix_(tangents, own)] @ normals)
    e = np.kron(np.eye(problem.contacts), np.ones((1, directions)))
    limit = problem.friction * normals
    return make_statement(sparse.csc_array(B_tt), c_t, G=sparse.csc_array(e), h=limit, lower=0.0), problem


def test_the_friction_program_of_staggering_is_solved(backend):
    qp, problem = friction_program()
    answer = solve_quadratic_program(qp, backend, tolerance=1e-9)
    assert answer.ending is Ending.SOLVED
    assert answer.backend == backend
    assert answer.seconds > 0.0
    for condition, error in optimality_errors(qp, answer).items():
        assert error <= ACCURACY.get(backend, 1e-7), condition
    np.testing.assert_allclose(answer.z[:4], 0.0, atol=1e-7)  # the contact that does not press has no friction
    assert (qp.G @ answer.z > 1e-3).sum() > problem.contacts // 2


@pytest.mark.parametrize("dense", [True, False])
def test_every_kind_of_constraint_arrives_with_its_multipliers(backend, dense):
    rng = np.random.default_rng(3)
    n = 12
    root = rng.standard_normal((n, n))
    P = root @ root.T + 0.1 * np.eye(n)
    lower = np.where(np.arange(n) % 3 == 0, -np.inf, -0.5)
    upper = np.where(np.arange(n) % 4 == 0, np.inf, 0.25)
    qp = make_statement(
        P if dense else sparse.csr_array(P),
        5.0 * rng.standard_normal(n),
        E=rng.standard_normal((2, n)),
        e=[0.1, -0.2],
        G=rng.standard_normal((3, n)),
        h=[0.0, 0.2, 5.0],
        lower=lower,
        upper=upper,
    )
    answer = solve_quadratic_program(qp, backend)
    assert answer.ending is Ending.SOLVED
    for condition, error in optimality_errors(qp, answer).items():
        assert error <= ACCURACY.get(backend, 1e-7), condition
    assert np.abs(answer.multipliers.equations).min() > 1e-3
    assert (answer.multipliers.bounds < -1e-3).any()
    assert (answer.multipliers.bounds > 1e-3).any()
    assert (answer.multipliers.inequalities > 1e-3).any()


def test_a_program_without_a_minimum_is_not_called_solved(backend):
    qp = make_statement(np.diag([1.0, 0.0]), [1.0, -1.0], lower=0.0)
    answer = solve_quadratic_program(qp, backend)
    assert answer.ending is not Ending.SOLVED
    if answer.ray is not None:
        direction = answer.ray / np.abs(answer.ray).max()
        np.testing.assert_allclose(direction, [0.0, 1.0], atol=1e-6)


def test_no_solver_prints_or_warns_whatever_it_is_given(backend, capfd):
    programs = [
        make_statement(np.eye(2), [-1.0, 1.0], lower=0.0),
        make_statement(np.array([[1.0, 2.0], [2.0, 1.0]]), [-1.0, 1.0], lower=0.0),  # not convex
        make_statement(np.zeros((1, 1)), [-1.0], lower=0.0),  # no minimum
        make_statement(np.eye(2), [0.0, 0.0], E=[[1.0, 0.0], [1.0, 0.0]], e=[0.0, 1.0]),  # a contradiction
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = [solve_quadratic_program(qp, backend) for qp in programs]
    assert [answer.ending is Ending.SOLVED for answer in answers[::3]] == [True, False]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == ""


def test_the_same_program_has_the_same_bits_for_an_answer(backend):
    qp, _ = friction_program()
    first, second = (solve_quadratic_program(qp, backend) for _ in range(2))
    np.testing.assert_array_equal(first.z, second.z)


@pytest.mark.parametrize("name", ["osqp", "proxqp"])
def test_a_start_at_the_solution_saves_iterations(name):
    pytest.importorskip(BRIDGES[name].module)
    qp, _ = friction_program()
    cold = solve_quadratic_program(qp, name)
    again = make_statement(qp.P, qp.c, G=qp.G, h=qp.h, lower=0.0, guess=Guess(cold.z, cold.multipliers))
    warm = solve_quadratic_program(again, name)
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(qp.P @ warm.z, qp.P @ cold.z, atol=1e-6)


# --- without any solver ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raising(Bridge):
    name: ClassVar[str] = "piqp"
    package: ClassVar[str] = "piqp"
    module: ClassVar[str] = "numpy"
    tightest: ClassVar[float] = 1e-14

    def prepare(self, solver, statement, tolerance, seconds):
        raise RuntimeError("out of tune")


def test_a_solver_that_raises_has_stopped(monkeypatch):
    monkeypatch.setitem(BRIDGES, "piqp", Raising())
    answer = solve_quadratic_program(make_statement(np.eye(1), [1.0]), "piqp")
    assert answer.ending is Ending.STOPPED
    assert answer.words == "RuntimeError: out of tune"
    assert answer.z is None


def test_a_solver_that_is_not_installed_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("perp.solvers.reformulation.bridges.bridge.find_spec", lambda name: None)
    qp = make_statement(np.eye(1), [1.0])
    assert find_bridge("auto") is None
    with pytest.raises(MissingExtra, match="pip install proxsuite"):
        solve_quadratic_program(qp, "proxqp")
    with pytest.raises(MissingExtra, match="pip install piqp"):
        solve_quadratic_program(qp)
    assert name_missing("highs") == "highspy is not installed: pip install 'perp[highs]'"
    assert name_missing("auto").endswith("is installed: pip install 'perp[piqp]'")


def test_auto_takes_the_first_that_is_installed(monkeypatch):
    installed = {"osqp", "daqp"}
    monkeypatch.setattr(
        "perp.solvers.reformulation.bridges.bridge.find_spec", lambda name: name if name in installed else None
    )
    assert BACKENDS == ("auto", "piqp", "clarabel", "daqp", "proxqp", "osqp", "highs")
    assert find_bridge("auto").name == "daqp"
    assert find_bridge("osqp").name == "osqp"
    assert find_bridge("piqp") is None


def test_an_unknown_solver_is_answered_with_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'clarabel'"):
        solve_quadratic_program(make_statement(np.eye(1), [1.0]), "claribel")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"P": np.eye(3)}, "P has shape"),
        ({"E": np.ones((1, 2))}, "E and e are given together"),
        ({"E": np.ones((1, 3)), "e": [0.0]}, "E has 3 columns"),
        ({"G": np.ones((1, 2)), "h": [0.0, 1.0]}, "h has length 2"),
        ({"lower": [1.0, 0.0], "upper": [0.0, 1.0]}, "greater than upper"),
        ({"c": [0.0, np.nan]}, "nan"),
    ],
)
def test_a_statement_that_does_not_fit_together_is_refused(arguments, message):
    with pytest.raises(InvalidProblem, match=message):
        make_statement(**({"P": np.eye(2), "c": [0.0, 0.0]} | arguments))
