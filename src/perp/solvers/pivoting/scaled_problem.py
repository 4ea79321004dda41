"""What methods on index sets share: the problem scaled symmetrically, and where its rows stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.kernels.pivoting import principal_pivots
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import FILLING
from perp.problems.problem import Problem
from perp.solvers.symmetry import symmetric_scales

TABLES = 6.0
"""Full matrices that a start of these methods writes, copies and scalings included: for its predicted time."""

Sides = NDArray[np.int8]
"""FREE, LOWER, UPPER or FIXED for each row (`perp.kernels.pivoting.principal_pivots`)."""


@dataclass(frozen=True)
class ScaledProblem:
    """D A D, D b and the bounds of z = D^-1 x, read-only for the kernels; A flat by rows."""

    scales: Vector
    A: Vector
    b: Vector
    lower: Vector
    upper: Vector
    x_lower: Vector
    """The bounds of x itself."""
    x_upper: Vector

    def expose(self, side: Sides, value: Vector, rest: Vector, out: Vector) -> None:
        """x of these values: finite, within its bounds, and exactly at them in tight rows that have arrived there."""
        z = np.nan_to_num(np.where(side == principal_pivots.FREE, value, rest))
        np.clip(np.nan_to_num(z * self.scales), self.x_lower, self.x_upper, out=out)


def scale_problem(problem: Problem) -> ScaledProblem:
    """Powers of two make this exact; without them where a product would not be finite."""
    lower, upper = problem.bounds(problem.b)
    FILLING.require(TABLES * float(problem.n) ** 2)
    matrix = problem.A.to_dense()
    for scales in (symmetric_scales(problem), np.ones(problem.n)):
        with np.errstate(over="ignore"):
            A, b = (matrix * scales[:, None]) * scales, problem.b * scales
            bounds = lower / scales, upper / scales
        if np.isfinite(A).all() and np.isfinite(b).all():
            break
    return ScaledProblem(scales, freeze(A.reshape(-1)), freeze(b), freeze(bounds[0]), freeze(bounds[1]), lower, upper)


def warm_rows(x: Vector, lower: Vector, upper: Vector) -> NDArray[np.bool_]:
    """The rows that a start at x makes free: x strictly between its bounds, of which there is one, and not zero.

    Zero is where a start is that nobody has chosen, and says nothing even where it lies between the bounds.
    """
    is_warm: NDArray[np.bool_] = (x != 0.0) & (x > lower) & (x < upper) & (np.isfinite(lower) | np.isfinite(upper))
    return is_warm


def tight_sides(scaled: ScaledProblem, x: Vector) -> tuple[Sides, Vector]:
    """All rows at their bound nearest to x, with a fictitious bound of zero for rows that have none."""
    lower, upper = scaled.x_lower, scaled.x_upper
    side = np.where(x - lower <= upper - x, principal_pivots.LOWER, principal_pivots.UPPER).astype(np.int8)
    rest = np.where(side == principal_pivots.LOWER, scaled.lower, scaled.upper)
    side[lower == upper] = principal_pivots.FIXED
    rest[np.isinf(rest)] = 0.0
    return side, rest


def count_rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"
