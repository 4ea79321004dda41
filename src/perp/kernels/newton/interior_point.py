"""The vectors of an interior-point method in single passes over the rows.

Row i has the distances s = x - lower and t = upper - x to its bounds, with multipliers z and w: y = z - w at a
solution. Where there is no bound the distance is inf and the multiplier 0; fixed rows have no bound in this sense and
rest (`moves` is False).
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel


@kernel
def assemble(moves, s, t, z, w, y, diagonal, dual):
    """D = z/s + w/t and the dual residual y - z + w; returns the sum of all products s z + t w."""
    total = 0.0
    for i in range(y.size):
        diagonal[i] = 0.0
        dual[i] = 0.0
        if moves[i]:
            rest = y[i]
            if s[i] < np.inf:
                diagonal[i] += z[i] / s[i]
                rest -= z[i]
                total += s[i] * z[i]
            if t[i] < np.inf:
                diagonal[i] += w[i] / t[i]
                rest += w[i]
                total += t[i] * w[i]
            dual[i] = rest
    return total


@kernel
def right_side(moves, s, t, z, w, dual, target, cross_s, cross_t, out):
    """The right side of (A + D) dx = -dual + (target - s z - cross_s)/s - (target - t w - cross_t)/t."""
    for i in range(dual.size):
        out[i] = -dual[i]
        if moves[i]:
            if s[i] < np.inf:
                out[i] += (target - cross_s[i]) / s[i] - z[i]
            if t[i] < np.inf:
                out[i] -= (target - cross_t[i]) / t[i] - w[i]


@kernel
def recover(moves, s, t, z, w, dx, target, cross_s, cross_t, dz, dw):
    """dz and dw that belong to dx; returns the longest step that keeps all four vectors from being negative."""
    longest = np.inf
    for i in range(dx.size):
        dz[i] = 0.0
        dw[i] = 0.0
        if not moves[i]:
            continue
        if s[i] < np.inf:
            dz[i] = (target - cross_s[i] - z[i] * dx[i]) / s[i] - z[i]
            if dx[i] < 0.0:
                longest = min(longest, -s[i] / dx[i])
            if dz[i] < 0.0:
                longest = min(longest, -z[i] / dz[i])
        if t[i] < np.inf:
            dw[i] = (target - cross_t[i] + w[i] * dx[i]) / t[i] - w[i]
            if dx[i] > 0.0:
                longest = min(longest, t[i] / dx[i])
            if dw[i] < 0.0:
                longest = min(longest, -w[i] / dw[i])
    return longest


@kernel
def look_ahead(moves, s, t, z, w, dx, dz, dw, step, cross_s, cross_t):
    """The sum of products after a step of that length; the second-order terms dx dz and -dx dw go to the crosses."""
    total = 0.0
    for i in range(dx.size):
        cross_s[i] = 0.0
        cross_t[i] = 0.0
        if not moves[i]:
            continue
        if s[i] < np.inf:
            total += (s[i] + step * dx[i]) * (z[i] + step * dz[i])
            cross_s[i] = dx[i] * dz[i]
        if t[i] < np.inf:
            total += (t[i] - step * dx[i]) * (w[i] + step * dw[i])
            cross_t[i] = -dx[i] * dw[i]
    return total


@kernel
def centre_products(moves, s, t, z, w, dx, dz, dw, step, target, low, high, cross_s, cross_t):
    """Gondzio's correction: products that a step would take out of [low, high] target are led back into it.

    What is missing is subtracted from the crosses, but never more than high target at once.
    """
    for i in range(dx.size):
        if not moves[i]:
            continue
        if s[i] < np.inf:
            product = (s[i] + step * dx[i]) * (z[i] + step * dz[i])
            wanted = min(max(product, low * target), high * target)
            cross_s[i] -= max(wanted - product, -high * target)
        if t[i] < np.inf:
            product = (t[i] - step * dx[i]) * (w[i] + step * dw[i])
            wanted = min(max(product, low * target), high * target)
            cross_t[i] -= max(wanted - product, -high * target)


@kernel
def advance(moves, lower, upper, step, dx, dz, dw, s, t, z, w, x):
    """All vectors a step further; x is taken from the distance to a bound where there is one."""
    for i in range(dx.size):
        if not moves[i]:
            continue
        x[i] += step * dx[i]
        if s[i] < np.inf:
            s[i] += step * dx[i]
            z[i] += step * dz[i]
            x[i] = lower[i] + s[i]
        if t[i] < np.inf:
            t[i] -= step * dx[i]
            w[i] += step * dw[i]
            if s[i] == np.inf or t[i] < s[i]:
                x[i] = upper[i] - t[i]


@kernel
def survey(x, y, scale):
    """The largest entry of x / scale; NaN where x or y are not finite."""
    largest = 0.0
    probe = 0.0
    for i in range(x.size):
        largest = max(largest, abs(x[i]) / scale[i])
        probe += 0.0 * x[i] + 0.0 * y[i]
    return largest + probe


@kernel
def remainder(moves, right, product, diagonal, dx, scale, out):
    """out = right - (A dx + D dx), with A dx in `product`; returns its largest scaled entry and that of `right`."""
    left = 0.0
    size = 0.0
    for i in range(dx.size):
        out[i] = 0.0
        if moves[i]:
            out[i] = right[i] - (product[i] + diagonal[i] * dx[i])
            left = max(left, abs(out[i]) * scale[i])
            size = max(size, abs(right[i]) * scale[i])
            if math.isnan(out[i]):
                left = np.inf
    return left, size


@kernel
def guess_sets(moves, s, t, z, w, scale, clear, sets):
    """The index sets that the multipliers speak for; returns how many rows do not speak clearly.

    A row is at its lower bound where z, scaled, is greater than s, scaled (upper: w and t), and free otherwise. It
    speaks clearly where one of the two is below `clear` times the other.
    """
    unclear = 0
    for i in range(s.size):
        if not moves[i]:
            continue
        sets[i] = 0
        doubt = 0.0
        if s[i] < np.inf:
            distance, multiplier = s[i] / scale[i], z[i] * scale[i]
            if multiplier > distance:
                sets[i] = -1
            doubt = min(distance, multiplier) / max(distance, multiplier)
        if t[i] < np.inf:
            distance, multiplier = t[i] / scale[i], w[i] * scale[i]
            if multiplier > distance and (sets[i] == 0 or t[i] < s[i]):
                sets[i] = 1
            doubt = max(doubt, min(distance, multiplier) / max(distance, multiplier))
        unclear += not doubt <= clear
    return unclear
