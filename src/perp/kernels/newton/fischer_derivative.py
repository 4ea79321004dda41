"""The Fischer-Burmeister reformulation of a boxed problem row by row, and its generalised derivative (NOTES 5.5)."""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import fischer

TINY = 1e-150
"""Below it squares underflow."""


@kernel
def evaluate(x, y, lower, upper, penalty, unit, F):
    """F_i = phi(x_i - lower_i, phi(upper_i - x_i, -y_i)), with its limits; returns 1/2 F^T F over unit^2 (eq. 103)."""
    total = 0.0
    for i in range(x.size):
        F[i] = entry(x[i], y[i], lower[i], upper[i], penalty)
        scaled = F[i] / unit
        total += scaled * scaled
    return 0.5 * total


@kernel
def linearise(x, y, lower, upper, penalty, kink_x, kink_y, p, q):
    """dF_i = p_i dx_i + q_i dy_i (NOTES eq. 97), both at most zero; where phi has a kink, (kink_x, kink_y) is chosen.

    For F = phi(a, w) with a = x - lower and w = phi(c, d), c = upper - x, d = -y, the chain rule gives

        dF = phi_a dx + phi_w (-phi_c dx - phi_d dy),    so    p = phi_a - phi_w phi_c,   q = -phi_w phi_d.
    """
    for i in range(x.size):
        if lower[i] == upper[i]:
            p[i], q[i] = -1.0, 0.0
            continue
        above, by_c, by_d = y[i], 0.0, -1.0  # without an upper bound w = y
        if upper[i] != np.inf:
            above = penalised(upper[i] - x[i], -y[i], penalty)
            by_c, by_d = partials(upper[i] - x[i], -y[i], penalty, kink_x[i], kink_y[i])
        by_a, by_w = 0.0, -1.0  # without a lower bound F = -w
        if lower[i] != -np.inf:
            by_a, by_w = partials(x[i] - lower[i], above, penalty, kink_x[i], kink_y[i])
        p[i] = by_a - by_w * by_c
        q[i] = -by_w * by_d


@inlined
def entry(x, y, low, high, penalty):
    """One F_i; a fixed row, low = high, has low - x."""
    if low == high:
        return low - x
    above = y if high == np.inf else penalised(high - x, -y, penalty)
    return -above if low == -np.inf else penalised(x - low, above, penalty)


@inlined
def penalised(a, b, penalty):
    """penalty phi(a, b) - (1 - penalty) max(a, 0) max(b, 0) (Chen, Chen & Kanzow 2000, with the sign of NOTES)."""
    value = fischer(a, b)
    if penalty < 1.0:
        value = penalty * value - (1.0 - penalty) * max(a, 0.0) * max(b, 0.0)
    return value


@inlined
def partials(a, b, penalty, kink_a, kink_b):
    """The derivatives of that; at (0, 0) those of the length are (kink_a, kink_b) (NOTES eq. 98)."""
    length = math.sqrt(a * a + b * b)
    if length == np.inf or length < TINY:
        length = math.hypot(a, b)
    if length == 0.0:
        return penalty * (kink_a - 1.0), penalty * (kink_b - 1.0)
    # a / length - 1, without the cancellation for a > 0
    by_a = -(b / length) * (b / (length + a)) if a > 0.0 else a / length - 1.0
    by_b = -(a / length) * (a / (length + b)) if b > 0.0 else b / length - 1.0
    if penalty < 1.0:
        by_a, by_b = penalty * by_a, penalty * by_b
        if a > 0.0 and b > 0.0:
            by_a -= (1.0 - penalty) * b
            by_b -= (1.0 - penalty) * a
    return by_a, by_b
