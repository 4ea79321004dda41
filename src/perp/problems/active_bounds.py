"""Which rows stand at a bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

NEAR = 2.0**-26
"""A share of the largest |x_i|, or of 1, within which x_i is as good as at the bound that its slack pushes it to."""


def active_mask(problem: Problem, x: Vector, y: Vector) -> NDArray[np.int8]:
    """-1 for rows at their lower bound, 1 at their upper one, 0 between.

    A row is at a bound if x_i is that number; also if the natural map takes the bound (for the lower one: x_i - lower_i
    < s_i y_i, with s_i as in `perp.problems.residuals`) and x_i is near it, as where a method from the inside has
    stopped at its tolerance. A fixed row, lower_i = upper_i, counts as at its lower bound. Contacts are told by the
    bounds that stand at x, each tangent by itself: those of a contact that does not press are fixed at zero.
    """
    lower, upper = problem.bounds(x)
    near = NEAR * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    with np.errstate(all="ignore"):  # a failed solve may have an x or y that is not finite: then rows are between
        push = problem.row_scales * y
        above, below = x - lower, upper - x
        at_lower = (x <= lower) | ((above <= near) & (above < push))
        at_upper = (x >= upper) | ((below <= near) & (below < -push))
    return np.where(at_lower, -1, at_upper).astype(np.int8)
