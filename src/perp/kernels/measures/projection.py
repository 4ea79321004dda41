"""Projections used inside the sweeps."""

from __future__ import annotations

import math

from perp.kernels.compile import inlined

HUGE = 1e300


@inlined
def clip(value, low, high):
    """The nearest number of [low, high]; NaN stays NaN, so that the loop sees it."""
    if value < low:
        return low
    if value > high:
        return high
    return value


@inlined
def natural(x, y, low, high):
    """x - clip(x - y, low, high), written so that a small y is not lost beside a large x."""
    return clip(y, x - high, x - low)


@inlined
def limited(value):
    """An infinite slack as a huge one: its direction then survives a projection on the disc."""
    return clip(value, -HUGE, HUGE)


@inlined
def disc_factor(p, q, radius):
    """What (p, q) is multiplied by to land on the disc of that radius around 0; 1 inside. No overflow on the way."""
    largest = max(abs(p), abs(q))
    if largest <= 0.0:
        return 1.0
    length = math.hypot(p / largest, q / largest)
    return min((radius / largest) / length, 1.0)
