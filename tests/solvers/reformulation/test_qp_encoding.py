"""A problem as a quadratic program: the same objective, the same conditions, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SEEDS, box_lcps, factored_operator

import perp
from perp.solvers.reformulation.quadratic_program import encode
from perp.solvers.results import Status


def objective(problem: perp.BoxLCP, x: np.ndarray) -> float:
    return float(0.5 * x @ problem.A.to_dense() @ x + problem.b @ x)


def value(statement, z: np.ndarray) -> float:
    return float(0.5 * z @ (statement.P @ z) + statement.c @ z)


@st.composite
def factored_boxes(draw: st.DrawFn) -> perp.BoxLCP:
    rng = np.random.default_rng(draw(SEEDS))
    A = factored_operator(rng, contacts=3)
    lower = rng.choice([-np.inf, -1.0, 0.0], A.n)
    width = rng.choice([0.0, 1.0, np.inf], A.n)
    upper = np.where(np.isinf(lower), rng.choice([0.0, np.inf], A.n), np.maximum(lower, -1.0) + width)
    return perp.BoxLCP(A, rng.standard_normal(A.n), lower, upper)


def check(problem: perp.BoxLCP, space: str, seed: int, *, full: bool = False) -> None:
    rng = np.random.default_rng(seed)
    points = [problem.project(rng.standard_normal(problem.n)) for _ in range(2)]
    coded = [encode(problem, space, x, full=full) for x in points]
    for x, encoding in zip(points, coded, strict=True):
        qp, z = encoding.statement, encoding.statement.guess.z
        np.testing.assert_allclose(encoding.recover(z), x, atol=1e-12)
        np.testing.assert_allclose(qp.E @ z, qp.e, atol=1e-10)
        assert (qp.lower <= z).all()
        assert (z <= qp.upper).all()
        assert not (qp.lower == qp.upper).any()
    change = objective(problem, points[1]) - objective(problem, points[0])
    change_of_value = value(coded[1].statement, coded[1].statement.guess.z) - value(
        coded[0].statement, coded[0].statement.guess.z
    )
    assert change_of_value == pytest.approx(change, rel=1e-9, abs=1e-9)

    solution = perp.solve(problem, "block_principal", tol=1e-11)
    if solution.status is not Status.CONVERGED:
        return
    encoding = encode(problem, space, solution.x, full=full)
    qp, guess = encoding.statement, encoding.statement.guess
    m = guess.multipliers
    gradient = qp.P @ guess.z + qp.c + qp.E.T @ m.equations + m.bounds
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
    at_upper = guess.z >= qp.upper - 1e-12
    at_lower = guess.z <= qp.lower + 1e-12
    assert (m.bounds[at_lower & ~at_upper] <= 1e-9).all()
    assert (m.bounds[at_upper & ~at_lower] >= -1e-9).all()


@given(box_lcps(), SEEDS, st.booleans())
def test_the_assembled_program_has_the_objective_and_the_conditions_of_the_problem(problem, seed, full):
    check(problem, "assembled", seed, full=full)


@given(factored_boxes(), SEEDS)
def test_the_program_in_body_space_has_the_objective_and_the_conditions_of_the_problem(problem, seed):
    check(problem, "body", seed)


def test_a_factored_problem_goes_to_body_space_where_that_has_fewer_velocities():
    rng = np.random.default_rng(0)
    many, few = factored_operator(rng, contacts=7), factored_operator(rng, contacts=5)
    assert many.mass.dofs == few.mass.dofs == 18
    assert encode(perp.LCP(many, np.ones(many.n)), "auto", None).statement.n == 18 + 21
    assert encode(perp.LCP(few, np.ones(few.n)), "auto", None).statement.n == 15
    assert encode(perp.LCP(many, np.ones(many.n)), "auto", None, full=True).statement.is_dense


def test_bodies_and_velocities_that_cannot_move_have_no_infinite_numbers():
    rng = np.random.default_rng(1)
    J = rng.standard_normal((20, 12))
    masses = perp.BodyMasses([1.0, np.inf], [np.eye(3)] * 2)
    diagonal = np.array([1.0] * 6 + [np.inf] * 6)
    for mass, unknowns in ((masses, 32), (diagonal, 26)):
        problem = perp.LCP(perp.FactoredOperator(J, mass), rng.standard_normal(20))
        x = problem.project(rng.standard_normal(20))
        qp = encode(problem, "body", x).statement
        assert qp.n == unknowns
        assert np.isfinite(qp.sparse_P().data).all()
        assert np.isfinite(qp.E.data).all()
        np.testing.assert_allclose(qp.E @ qp.guess.z, 0.0, atol=1e-12)
        assert value(qp, qp.guess.z) == pytest.approx(objective(problem, x))


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_extreme_rows_are_brought_near_one(factor):
    A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, 1.0])
    encoding = encode(perp.LCP(factor * A, factor * b), "auto", np.array([0.5, 0.25]))
    qp = encoding.statement
    assert 0.25 <= np.abs(qp.P).min() <= np.abs(qp.P).max() <= 4.0
    assert 0.25 <= np.abs(qp.c).max() <= 4.0
    np.testing.assert_allclose(encoding.recover(qp.guess.z), [0.5, 0.25])
