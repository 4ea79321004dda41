"""The passes of policy iteration: which equation each row chooses, and the right-hand side that this leaves."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.measures.index_sets import FREE, LOWER, UPPER


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
