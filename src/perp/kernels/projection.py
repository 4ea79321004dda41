"""Projections used inside the sweeps. (After a change here run `make clean-kernels`: see compile.py.)"""

from __future__ import annotations

import math

from perp.kernels.compile import inlined


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
def disc_factor(p, q, radius):
    """What (p, q) is multiplied by to land on the disc of that radius around 0 (hypot: no overflow)."""
    length = math.hypot(p, q)
    return radius / length if length > radius else 1.0
