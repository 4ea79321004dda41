"""Which rows an approximate answer takes to be at a bound, and which to lie between."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

Sides = NDArray[np.int8]
"""-1: at the lower bound, 0: free, 1: at the upper bound."""

NEAR = 10.0
"""A row is near its bound, or its slack near zero, within so many times the residual."""


def guess_sides(
    problem: Problem, lower: Vector, upper: Vector, x: Vector, y: Vector, residual: float
) -> Iterator[Sides]:
    """Guesses, the best first; they differ where x is degenerate, or not near enough to its solution.

    1. The natural map with each row in its own unit: at the lower bound where x_i - y_i / A_ii <= lower_i. It is what
       Newton's method for the minimum map does, and right near a solution with no y_i = 0 at a bound.
    2. By x alone: at a bound where x_i is near it. Rows that are at a bound and have no slack stay there.
    3. By y alone: free where y_i is near zero. The same rows are free.
    """
    diagonal = problem.diagonal
    unit = np.ones(x.size) if diagonal is None else np.where(diagonal > 0.0, 1.0 / diagonal, problem.row_scales)
    unit[~np.isfinite(unit)] = 1.0
    moved = x - unit * y
    fixed = lower == upper
    yield _sides(fixed | (moved <= lower), moved >= upper)
    near = NEAR * residual * np.maximum(unit, 1.0)
    yield _sides(fixed | (x - lower <= near), upper - x <= near)
    near = NEAR * residual / problem.row_scales
    yield _sides(fixed | ((y > near) & np.isfinite(lower)), (y < -near) & np.isfinite(upper))


def repair(sides: Sides, lower: Vector, upper: Vector, x: Vector, y: Vector) -> Sides:
    """Rows with a wrong sign change sides, all at once, as in block principal pivoting (Kostreva 1978)."""
    free = sides == 0
    wanted = sides.copy()
    wanted[free & (x < lower)] = -1
    wanted[free & (x > upper)] = 1
    wanted[(((sides < 0) & (y < 0.0)) | ((sides > 0) & (y > 0.0))) & (lower < upper)] = 0
    return wanted


def _sides(at_lower: NDArray[np.bool_], at_upper: NDArray[np.bool_]) -> Sides:
    sides = at_upper.astype(np.int8)
    sides[at_lower] = -1
    return sides
