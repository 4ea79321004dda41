"""The passes over vectors that projected-gradient methods make between two products with A.

Rows of contacts come first (`width` rows each, with the cone |x_t| <= friction x_n, or, where the law is FIXED_DISCS,
with x_n >= 0 and the disc |x_t| <= friction; none where `friction` is empty), then rows with bounds. `weight` is the
diagonal of W, the metric in which steps are taken: one number a row, the same for all rows of a contact (FIXED_DISCS:
for its tangents), so that the nearest point of the cone or the disc is the same in that metric.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.measures.projection import FIXED_DISCS, clip, disc_factor, project_on_cone

ONE = np.uint64(1)
ROUNDING = 1e-14
"""A row that moves by less than this share of itself rests: on the edge of a disc rounding alone moves it so far."""


@kernel
def project_step(point, gradient, shift, step, weight, width, law, friction, lower, upper, target):
    """target = P(point - step W (gradient + shift)); `shift` has one number a contact, for its normal row."""
    for c in range(np.uint64(friction.size)):
        n = c * width
        p, q = n + ONE, n + width - ONE  # in two dimensions the same tangent
        forward_n = point[n] - step * weight[n] * (gradient[n] + shift[c])
        forward_p = point[p] - step * weight[p] * gradient[p]
        forward_q = point[q] - step * weight[q] * gradient[q] if q > p else 0.0
        if law != FIXED_DISCS:
            near_n, near_p, near_q = project_on_cone(friction[c], forward_n, forward_p, forward_q)
        elif q > p:
            factor = disc_factor(forward_p, forward_q, friction[c])
            near_n, near_p, near_q = clip(forward_n, 0.0, np.inf), factor * forward_p, factor * forward_q
        else:
            near_n, near_p, near_q = clip(forward_n, 0.0, np.inf), clip(forward_p, -friction[c], friction[c]), 0.0
        target[n], target[p] = near_n, near_p
        if q > p:
            target[q] = near_q
    first = np.uint64(friction.size) * width
    for k in range(np.uint64(lower.size)):
        i = first + k
        target[i] = clip(point[i] - step * weight[i] * gradient[i], lower[k], upper[k])


@kernel
def shift_normals(gradient, width, friction, shift):
    """shift = friction |y_t|: what the exact Coulomb law adds to the normal slack (De Saxce & Feng 1998)."""
    for c in range(np.uint64(friction.size)):
        p = c * width + ONE
        q = c * width + width - ONE
        shift[c] = friction[c] * (math.hypot(gradient[p], gradient[q]) if q > p else abs(gradient[p]))


@kernel
def compare(point, gradient, shift, width, new, gradient_new, x, gradient_x, b, weight):
    """(curvature, square, noise, turn, rise) of the step d = new - point, and of the way new - x:

    curvature  d^T A d, from the two gradients;  square: d^T W^-1 d;  noise: what rounding errors scale with
    turn       (gradient + shift)^T (new - x): positive when the momentum leads uphill
    rise       of the objective from x to new
    """
    curvature = square = noise = turn = rise = 0.0
    for i in range(np.uint64(new.size)):
        d = new[i] - point[i]
        way = new[i] - x[i]
        curvature += d * (gradient_new[i] - gradient[i])
        square += d / weight[i] * d
        noise += abs(d) * (abs(gradient_new[i]) + abs(gradient[i]) + abs(b[i]))
        turn += gradient[i] * way
        rise += 0.5 * (gradient_new[i] + gradient_x[i]) * way
    for c in range(np.uint64(shift.size)):
        added = shift[c] * (new[c * width] - x[c * width])
        turn += added
        rise += added
    return curvature, square, noise, turn, rise


@kernel
def extrapolate(momentum, new, gradient_new, x, gradient_x, point, gradient):
    """point = new + momentum (new - x), the gradient likewise, as it is affine; then x = new."""
    for i in range(np.uint64(new.size)):
        point[i] = new[i] + momentum * (new[i] - x[i])
        gradient[i] = gradient_new[i] + momentum * (gradient_new[i] - gradient_x[i])
        x[i] = new[i]
        gradient_x[i] = gradient_new[i]


@kernel
def find_direction(x, gradient, target, weight, direction):
    """direction = target - x; returns (gradient^T direction, direction^T W^-1 direction)."""
    slope = square = 0.0
    for i in range(np.uint64(x.size)):
        d = target[i] - x[i]
        direction[i] = d
        slope += gradient[i] * d
        square += d / weight[i] * d
    return slope, square


@kernel
def find_curvature(direction, target, product, weight):
    """(d^T A d, (A d)^T W (A d)) from d and the product A d; the latter over the rows that d moves, if it moves any."""
    curvature = moved = square = 0.0
    for i in range(np.uint64(direction.size)):
        curvature += direction[i] * product[i]
        part = weight[i] * product[i] * product[i]
        square += part
        if abs(direction[i]) > ROUNDING * abs(target[i]):
            moved += part
    return curvature, moved if moved > 0.0 else square


@kernel
def move(length, target, direction, product, x, gradient):
    """x += length d and gradient += length A d; a whole step lands on the target, and rounding never beyond it."""
    for i in range(np.uint64(x.size)):
        new = target[i] if length == 1.0 else x[i] + length * direction[i]
        x[i] = min(new, target[i]) if direction[i] > 0.0 else max(new, target[i])
        gradient[i] += length * product[i]
