"""What a residual is small against: the scale that `tol` of "auto" is a share of.

    scaled residual  =  max_i  |r_i| / min(r0, max(1, |x_i|)),

where r is the natural map (`perp.problems.residuals`) and r0, the cold residual, the largest entry of it at the point
nearest to 0 within the bounds, where a solver without a guess starts. For contacts, whose rows belong together, the
largest of all |x| stands in the place of |x_i|.

* *Relative to the data.* r0 follows the units of A, b and the bounds (for an LCP it is the largest -b_i). Impulses of
  1e-10 N s are then not called solved by zero: zero has the scaled residual 1 at least.
* *Capped by |x_i|.* Where one b_i is large, r0 is large; a share of it would leave open the rows that are not. So the
  scale of a row is never above the size of its own x, or above 1, the absolute tolerance that most people mean.
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


def measure_cold(problem: Problem, start: Vector) -> tuple[float, float, Vector]:
    """r0, and residual and slack of the cold start, which is `start`; what cannot be computed is NaN."""
    residual, y = look(problem, start)
    if isnan(residual) or not start.any():  # at 0 the slack is b, without rounding errors
        return residual, residual, y
    with np.errstate(all="ignore"):
        sizes = np.abs(problem.b) + np.abs(y - problem.b)
        only_rounding = residual <= ROUNDING * np.max(sizes) and problem.frictional is None
        if only_rounding:
            only_rounding = bool((np.abs(natural_map(problem, start, y)) <= ROUNDING * sizes).all())
    return (0.0 if only_rounding else residual), residual, y


def look(problem: Problem, x: Vector) -> tuple[float, Vector]:
    """Residual and slack of x, NaN where x is not finite or the caller's own product fails.

    Where the slack overflows, perhaps that of the scaled rows does not.
    """
    watch = Watch(problem)
    with np.errstate(all="ignore"):
        try:
            residual, *_, probe = watch.look(x)
            if isnan(probe):
                residual, *_, probe = Watch(problem.equilibrated()).look(x)
        except OperatorFault:
            return nan, np.full(problem.n, nan)
    return (nan if isnan(probe) or not np.isfinite(x).all() else float(residual)), watch.y


def natural_map(problem: Problem, x: Vector, y: Vector) -> Vector:
    """r of an LCP or boxed LCP, row by row, extreme rows scaled."""
    lower, upper = problem.bounds(x)
    scaled = y * problem.row_scales if problem.has_extreme_rows else y
    return np.clip(scaled, x - upper, x - lower)


def scale_residual(problem: Problem, x: Vector, y: Vector, residual: float, cold: float) -> float:
    """The scaled residual of a point whose slack and residual are known; `cold` is r0."""
    if not 0.0 < cold < inf:
        return residual
    largest = float(np.max(np.abs(x), initial=0.0))
    if cold <= 1.0 or largest <= 1.0:
        return residual / min(cold, 1.0)
    if problem.frictional is not None:
        return residual / min(cold, largest)
    with np.errstate(all="ignore"):
        shares = np.abs(natural_map(problem, x, y)) / np.clip(np.abs(x), 1.0, cold)
    return float(np.max(shares, initial=0.0)) if residual < inf else residual


def scaled_residual(problem: Problem, x: Vector, y: Vector, residual: float) -> float:
    """The same where r0 has to be found first, which costs a product with A."""
    return scale_residual(problem, x, y, residual, cold_residual(problem))


def least_scale(problem: Problem) -> float:
    """min(1, r0), which no row's scale is below: an absolute residual of `tol` times this is within any tolerance."""
    cold = cold_residual(problem)
    return min(1.0, cold) if 0.0 < cold < inf else 1.0
