"""The natural map of a boxed problem, its index sets, and its derivative along a direction (NOTES eq. 74-78); and the
passes of policy iteration: which equation each row chooses, and the right-hand side that this leaves.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.measures.index_sets import FREE, LOWER, UPPER

# -- the natural map ---------------------------------------------------------------------------------------------------


@kernel
def measure(x, y, lower, upper, scale, unit, H, active):
    """Write H = x - clip(x - scale y, lower, upper) and the rows where it is scale y; returns sum (H / unit)^2.

    `active` is the set A of NOTES eq. 77. A row at a kink belongs to its bound, as there (y_i >= x_i: F).
    """
    squares = 0.0
    for i in range(x.size):
        slack = scale[i] * y[i]
        above_lower = x[i] - lower[i]
        above_upper = x[i] - upper[i]
        if slack >= above_lower:
            active[i] = False
            H[i] = above_lower
        elif slack <= above_upper:
            active[i] = False
            H[i] = above_upper
        else:  # also where y is not a number: the sum then is none either
            active[i] = True
            H[i] = slack
        part = H[i] / unit
        squares += part * part
    return squares


@kernel
def derive(dx, product, scale, unit, H, active):
    """From product = A dx: H^T BH(dx) and ||H + BH(dx)||^2 (NOTES eq. 68, 71, 78), both over unit^2.

    At a kink the B-derivative is min(dx_i, scale (A dx)_i) at a lower bound, and H_i >= 0 as x is within its bounds, so
    that what stands here is never less than the directional derivative: a direction of descent by this sum is one.
    """
    slope = 0.0
    left = 0.0
    for i in range(dx.size):
        change = (scale[i] * product[i] if active[i] else dx[i]) / unit
        here = H[i] / unit
        slope += here * change
        left += (here + change) * (here + change)
    return slope, left


# -- policy iteration --------------------------------------------------------------------------------------------------


@kernel
def sort(x, lower, upper, weight, b, sets):
    """The sets by position: at a bound or between; returns max |weight b|."""
    bias = 0.0
    for i in range(np.uint64(x.size)):
        sets[i] = LOWER if x[i] <= lower[i] else UPPER if x[i] >= upper[i] else FREE
        bias = max(bias, abs(weight[i] * b[i]))
    return bias


@kernel
def choose(x, y, lower, upper, weight, noise, sets, wanted):
    """Each row takes the least (the middle, for a box) of weight y, x - lower and x - upper; returns the rows that
    change, and the largest |x|.

    A row that would change for less than `noise` stays where it is, so that rounding errors do not move it to and fro.
    """
    changed = 0
    largest = 0.0
    for i in range(np.uint64(x.size)):
        here, slack = x[i], weight[i] * y[i]
        over_lower = slack - (here - lower[i]) + (noise if sets[i] == LOWER else -noise)
        under_upper = slack - (here - upper[i]) - (noise if sets[i] == UPPER else -noise)
        wish = FREE
        if over_lower > 0.0 or lower[i] == upper[i]:
            wish = LOWER
        elif under_upper < 0.0:
            wish = UPPER
        changed += wish != sets[i]
        wanted[i] = wish
        largest = max(largest, abs(here))
    return changed, largest


@kernel
def place(sets, lower, upper, x, free):
    """Rows at a bound go there, the others are `free`; returns how many moved."""
    moved = 0
    for i in range(np.uint64(x.size)):
        free[i] = sets[i] == FREE
        if not free[i]:
            bound = lower[i] if sets[i] == LOWER else upper[i]
            moved += x[i] != bound
            x[i] = bound
    return moved


@kernel
def gather(free, y, scale, factor, out):
    """out = -factor scale y on the free rows, zero on the others; returns its largest magnitude and sum of squares."""
    largest = squares = 0.0
    for i in range(np.uint64(y.size)):
        value = -factor * (scale[i] * y[i]) if free[i] else 0.0
        out[i] = value
        largest = max(largest, abs(value))
        squares += value * value
    return largest, squares


@kernel
def keep(free, v):
    """v = 0 on the rows that are not free."""
    for i in range(np.uint64(v.size)):
        v[i] = v[i] if free[i] else 0.0


@kernel
def advance(factor, scale, dx, lower, upper, x, inside):
    """x += factor scale dx, and `inside` the nearest point within the bounds; returns 0, or NaN if x is not finite."""
    probe = 0.0
    for i in range(np.uint64(x.size)):
        x[i] += factor * (scale[i] * dx[i])
        inside[i] = min(max(x[i], lower[i]), upper[i])
        probe += 0.0 * x[i]
    return probe
