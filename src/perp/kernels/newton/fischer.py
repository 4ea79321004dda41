"""The Fischer-Burmeister function, for what is watched and what is verified."""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined


@inlined
def fischer(a, b):
    """sqrt(a^2 + b^2) - a - b (NOTES eq. 17); for a + b > 0 in the form that does not cancel."""
    total = a + b
    length = math.sqrt(a * a + b * b)
    if length == np.inf:
        length = math.hypot(a, b)
    return -2.0 * a * (b / (length + total)) if total > 0.0 else length - total


@inlined
def box_merit(x, y, low, high):
    """Billups' form for boxes, fischer(x - low, fischer(high - x, -y)), with its limits where a bound is infinite."""
    above = y if high == np.inf else fischer(high - x, -y)
    return -above if low == -np.inf else fischer(x - low, above)
