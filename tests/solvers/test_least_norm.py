"""`impulses="least_norm"`: the same motion, shared evenly among redundant contacts."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.problems.friction import ContactProblem
from perp.problems.operators import FactoredOperator
from perp.solvers.least_norm import least_norm_impulses

CORNERS = np.array([[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1]]) * 0.5
G, DT = 9.81, 0.01


def columns(count: int) -> FactoredOperator:
    """Cubes of 1 kg, one on the other, each with four contacts below."""
    J = np.zeros((12 * count, 6 * count))
    for k in range(count):
        for c, arm in enumerate(CORNERS):
            for t, direction in enumerate(np.eye(3)[[2, 0, 1]]):
                row = 12 * k + 3 * c + t
                J[row, 6 * k : 6 * k + 6] = [*direction, *np.cross(arm, direction)]
                if k:
                    J[row, 6 * k - 6 : 6 * k] = [*-direction, *-np.cross(arm + np.eye(3)[2], direction)]
    return FactoredOperator(J, perp.BodyMasses(np.ones(count), np.tile(np.eye(3) / 6.0, (count, 1, 1))))


def pushed(count: int, push: tuple[float, float], model: str = "cone", friction: float = 0.5) -> ContactProblem:
    """Weight for one step, and a push of the uppermost cube [m/s]."""
    A = columns(count)
    velocity = np.tile([0.0, 0.0, -G * DT, 0.0, 0.0, 0.0], count)
    velocity[-6:-4] += push
    return ContactProblem(A, A.J @ velocity, friction, model=model)


def energy_norm(problem: ContactProblem, x: np.ndarray) -> float:
    return float(np.sqrt(np.sum(problem.A.diagonal() * x**2)))


@pytest.mark.parametrize("model", ["cone", "box", "convex"])
@pytest.mark.parametrize("count", [1, 3])
def test_cubes_at_rest_have_no_tangential_impulses_and_equal_normals(model: str, count: int) -> None:
    problem = pushed(count, (0.0, 0.0), model)
    rng = np.random.default_rng(0)
    start = np.abs(rng.normal(size=problem.n))  # so that the plain answer is uneven
    plain = perp.solve(problem, x0=start)
    result = perp.solve(problem, x0=start, impulses="least_norm")
    assert np.abs(plain.x.reshape(-1, 3)[:, 1:]).max() > 1e-4
    assert result.success
    impulses = result.x.reshape(count, 4, 3)
    assert np.abs(impulses[..., 1:]).max() < 1e-12
    loads = np.arange(count, 0, -1)[:, None] * G * DT / 4.0
    np.testing.assert_allclose(impulses[..., 0], np.broadcast_to(loads, (count, 4)), rtol=1e-9)
    assert any("least norm" in note for note in result.notes)
    assert f"residual {result.residual:.3e}" in result.message


@pytest.mark.parametrize("push", [(0.01, 0.0), (0.02, 0.02), (0.2, 0.1)])
def test_motion_states_and_residual_stay_and_the_norm_falls(push: tuple[float, float]) -> None:
    problem = pushed(2, push)
    start = np.abs(np.random.default_rng(1).normal(size=problem.n))
    plain = perp.solve(problem, x0=start, tol=1e-12)
    result = perp.solve(problem, x0=start, tol=1e-12, impulses="least_norm")
    assert result.success
    A = problem.A
    assert isinstance(A, FactoredOperator)
    assert np.abs(A.velocity(result.x - plain.x)).max() < 1e-10
    assert result.residual < 1e-12
    assert energy_norm(problem, result.x) <= energy_norm(problem, plain.x) * (1.0 + 1e-9)
    slip = [perp.contact_states(problem, answer).sliding for answer in (plain, result)]
    np.testing.assert_array_equal(*slip)


def test_no_change_that_keeps_motion_and_states_lowers_the_norm() -> None:
    """The derivative of the norm along every null vector of J^T that stays in the cones is not negative."""
    problem = pushed(1, (0.02, 0.01))
    x = perp.solve(problem, impulses="least_norm").x
    assert perp.contact_states(problem, x).counts["sticking"] == 4
    A = problem.A
    assert isinstance(A, FactoredOperator)
    _, values, rows = np.linalg.svd(A.J.toarray().T)
    null = rows[np.count_nonzero(values > 1e-12) :]
    rng = np.random.default_rng(2)
    for change in rng.normal(size=(200, len(null))) @ null:
        moved = x + 1e-5 * change
        contacts = moved.reshape(-1, 3)
        if (np.hypot(contacts[:, 1], contacts[:, 2]) <= 0.5 * contacts[:, 0]).all():
            assert energy_norm(problem, moved) >= energy_norm(problem, x) - 1e-9


def test_a_matrix_gives_what_its_factors_give() -> None:
    problem = pushed(2, (0.01, 0.02))
    formed = ContactProblem(problem.A.to_dense(), problem.b, 0.5, model="cone")
    x = perp.solve(problem, tol=1e-12).x
    first, second = least_norm_impulses(problem, x), least_norm_impulses(formed, x)
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_rows_after_the_contacts_take_part() -> None:
    """Two equal rods hold a cube at the same point: they share what one of them would carry."""
    A = columns(1)
    rod = np.array([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]] * 2)
    whole = FactoredOperator(np.vstack([A.J.toarray(), rod]), perp.BodyMasses([1.0], [np.eye(3) / 6.0]))
    velocity = np.array([0.3, 0.0, -G * DT, 0.0, 0.0, 0.0])
    problem = ContactProblem(whole, whole.J @ velocity, 0.5, model="cone", extra_rows=2)
    result = perp.solve(problem, x0=np.array([*np.zeros(12), -0.3, 0.0]), impulses="least_norm")
    assert result.success
    assert result.x[-1] == pytest.approx(result.x[-2], rel=1e-9)


def test_a_failed_solve_keeps_its_impulses_and_says_so() -> None:
    problem = pushed(3, (0.01, 0.0))
    result = perp.solve(problem, "pgs", max_iterations=2, impulses="least_norm")
    assert not result.success
    assert any("no solution" in note for note in result.notes)


@pytest.mark.parametrize("problem", [perp.LCP(np.eye(2), [-1.0, 1.0]), pushed(1, (0.0, 0.0), "disc")])
def test_other_problems_are_refused(problem: perp.Problem) -> None:
    with pytest.raises(ValueError, match="least_norm"):
        perp.solve(problem, impulses="least_norm")


def test_an_unknown_word_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match="least_norm"):
        perp.solve(pushed(1, (0.0, 0.0)), impulses="least_norms")
