"""A box on 4, 8 or 64 points: whatever the impulses, it rests; and iterations from zero share the load evenly."""

from __future__ import annotations

import numpy as np
import pytest
from time_stepping import method_cases, solve_checked

from perp.gallery import make
from perp.solvers.roster import BY_NAME

POINTS = [4, 8, 64]
UNSAFE = ("maor", "amaor")
"""Accelerated over-relaxation promises nothing where A is singular, and diverges on 64 points under a leaning box."""
FACTOR = 2.5
"""Sweeps one row after another leave more load on the rows that come first: 2.0 times the least norm was the most seen.

A load on three points of 64, as pivoting finds it, is more than four times as long as an even one.
"""


def iterates(method: str) -> bool:
    """Sweeps and gradients: they start from x = 0 and change it little by little."""
    return BY_NAME[method].family in ("splitting", "gradient")


@pytest.mark.parametrize("lean", [0.0, 0.2])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize(("model", "method"), method_cases("box_on_points"))
def test_every_method_leaves_the_box_at_rest(model, method, points, lean):
    scene = make("box_on_points", n=3 * points, lean=lean, model=model)
    result = solve_checked(scene.problem, method)
    if method in UNSAFE and not result.success:
        return
    assert result.success
    assert np.abs(scene.velocity(result.x)).max() < 1e-11
    np.testing.assert_allclose(result.y, 0.0, atol=1e-11)
    assert result.x[::3].sum() == pytest.approx(scene.x[::3].sum(), rel=1e-9)
    if iterates(method):
        assert np.linalg.norm(result.x) < FACTOR * np.linalg.norm(scene.x)


def shortest_by_weight(problem, weight) -> np.ndarray:
    """The x with A x = -b for which the sum of weight x^2 is least."""
    root = np.sqrt(weight)
    A = problem.A.to_dense() / root[:, None] / root
    return -np.linalg.pinv(A, rcond=1e-10) @ (problem.b / root) / root


@pytest.mark.parametrize("lean", [0.0, 0.2])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("model", ["box", "cone"])
def test_jacobi_finds_the_shortest_impulses_measured_by_the_diagonal(model, points, lean):
    """x moves by multiples of D^-1 (A x + b) only, b is in the range of A, and no bound acts: x stays in D^-1 range(A).

    The one x there that has A x = -b is the shortest of all such x in the norm of D = diag(A).
    """
    problem = make("box_on_points", n=3 * points, lean=lean, model=model).problem
    result = solve_checked(problem, "jacobi")
    least = shortest_by_weight(problem, problem.A.diagonal())
    assert least[::3].min() > 0.0
    np.testing.assert_allclose(result.x, least, atol=1e-10)


def test_four_points_of_a_box_share_alike():
    for model in ("box", "cone"):
        scene = make("box_on_points", model=model)
        np.testing.assert_allclose(solve_checked(scene.problem, "jacobi").x, scene.x, atol=1e-10)
        assert np.ptp(scene.x[::3]) < 1e-15


@pytest.mark.parametrize(("model", "method"), method_cases("block_on_incline"))
def test_sixty_four_points_on_an_incline_move_like_one(model, method):
    for excess in (-0.05, 0.05):
        scene = make("block_on_incline", n=192, excess=excess, model=model)
        result = solve_checked(scene.problem, method, max_iterations=500)
        if result.residual < 1e-10:
            assert np.abs(scene.velocity(result.x) - scene.after).max() < 1e-8
        assert np.linalg.norm(result.x) < 6.0 * np.linalg.norm(scene.x)
