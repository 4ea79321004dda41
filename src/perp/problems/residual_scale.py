"""What a residual is compared with: the scale that `tol` is a share of.

    scale(x) = min(r0, max(1, |x|_inf)),         scaled residual = residual / scale(x),

where r0, the cold residual, is the residual of the point nearest to 0 within the bounds, where a solver without a guess
starts.

* *Relative to the data.* r0 follows the units of A, b and the bounds (for an LCP it is the largest -b_i). Impulses of
  1e-10 N s are then not called solved by zero: zero has the scaled residual 1 at least.
* *Capped by |x|.* Where one b_i is large and its A_ii as well, r0 is large though x is not: then a share of r0 would
  leave x open. So the scale is never above the size of x, or above 1, the absolute tolerance that most people mean.
* *Not fooled by a diverging x.* An iterate that runs away has a large |x|, but r0 stays what it is.

A problem with r0 = 0 is solved by its cold point, and has no unit to measure by: its scale is 1. So it is where r0 is
nothing but rounding errors of the slack, and where r0 is not finite.
"""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np

from perp.errors import OperatorFault
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import Watch

ROUNDING = 2.0**-50
"""Errors of the slack at a cold point other than 0, as a share of the numbers that it is the sum of."""


def cold_start(problem: Problem) -> Vector:
    """The point nearest to 0 within the bounds."""
    return problem.project(np.zeros(problem.n))


def cold_residual(problem: Problem) -> float:
    """r0, the residual of the cold start; 0 where only rounding errors are left of it, NaN where it is no number."""
    return measure_cold(problem, cold_start(problem))[0]


def measure_cold(problem: Problem, start: Vector) -> tuple[float, Vector]:
    """r0 and the slack at the cold start, which is `start`; what cannot be computed is NaN."""
    watch = Watch(problem)
    with np.errstate(all="ignore"):
        try:
            residual, *_, probe = watch.look(start)
        except OperatorFault:  # the caller's own product fails
            return nan, np.full(problem.n, nan)
        if isnan(probe):  # perhaps the scaled rows have a slack that can be written down
            residual, *_, probe = Watch(problem.equilibrated()).look(start)
            return (nan if isnan(probe) else residual), watch.y
        if start.any():  # at 0 the slack is b, without rounding errors
            size = np.max(np.abs(problem.b) + np.abs(watch.y - problem.b))
            if residual <= ROUNDING * size:
                return 0.0, watch.y
    return residual, watch.y


def scale_of(cold: float, x: Vector) -> float:
    """scale(x), where `cold` is r0."""
    if not 0.0 < cold < inf:
        return 1.0
    return min(cold, max(1.0, float(np.max(np.abs(x), initial=0.0))))


def residual_scale(problem: Problem, x: Vector) -> float:
    """scale(x) of a problem; costs a product with A."""
    return scale_of(cold_residual(problem), x)
