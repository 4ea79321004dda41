"""How far a parametric path can be followed before an index set must change."""

from __future__ import annotations

from math import inf

from perp.kernels.compile import kernel
from perp.kernels.measures.index_sets import FREE, LOWER, UPPER


@kernel
def first_event(sets, x, dx, y, dy, lower, upper, last, result):
    """The least step at which a row reaches its limit: result = (step, row, its new set); row -1 if none ever does.

    A free row ends where x reaches a bound, a row at a bound where its y reaches zero; rows with equal bounds never do.
    Row `last`, which has just changed, must move away from where it stands, so a step of zero for it is rounding.
    """
    result[0], result[1], result[2] = inf, -1.0, 0.0
    for i in range(x.size):
        if lower[i] == upper[i]:
            continue
        step, to = inf, FREE
        if sets[i] == FREE:
            if dx[i] < 0.0 and lower[i] > -inf:
                step, to = (lower[i] - x[i]) / dx[i], LOWER
            elif dx[i] > 0.0 and upper[i] < inf:
                step, to = (upper[i] - x[i]) / dx[i], UPPER
        elif (sets[i] == LOWER and dy[i] < 0.0) or (sets[i] == UPPER and dy[i] > 0.0):
            step = -y[i] / dy[i]
        step = max(step, 0.0)
        if step < result[0] and not (i == last and step == 0.0):
            result[0], result[1], result[2] = step, float(i), float(to)
