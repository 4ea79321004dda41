"""The passes over vectors that ADMM makes between two solves with A + diag(shift).

Rows of contacts come first (`width` rows each), then rows with bounds, as in `projected_gradient`. `penalty` is one
number a row, the same for all rows of a contact (FIXED_DISCS: for its tangents), so that the nearest point of the cone
or the disc is the same in that metric.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import DISCS, FIXED_DISCS, clip, disc_factor, project_on_cone

ONE, FOUR = np.uint64(1), np.uint64(4)


@kernel
def split(u, penalty, b, proximal, x, width, law, friction, lower, upper, z, w, right):
    """z = P(u), w = penalty (z - u), and right = penalty z + w - b - s + proximal x.

    The shift s is friction |w_t| on the normal rows where the law is that of Coulomb (DISCS), and zero elsewhere.
    """
    for c in range(np.uint64(friction.size)):
        n = c * width
        p, q = n + ONE, n + width - ONE  # in two dimensions the same tangent
        u_q = u[q] if q > p else 0.0
        if law != FIXED_DISCS:
            z[n], z[p], near_q = project_on_cone(friction[c], u[n], u[p], u_q)
        elif q > p:
            factor = disc_factor(u[p], u_q, friction[c])
            z[n], z[p], near_q = clip(u[n], 0.0, np.inf), factor * u[p], factor * u_q
        else:
            z[n], z[p], near_q = clip(u[n], 0.0, np.inf), clip(u[p], -friction[c], friction[c]), 0.0
        if q > p:
            z[q] = near_q
    first = np.uint64(friction.size) * width
    for k in range(np.uint64(lower.size)):
        z[first + k] = clip(u[first + k], lower[k], upper[k])
    for i in range(np.uint64(u.size)):
        w[i] = penalty[i] * (z[i] - u[i])
        right[i] = penalty[i] * z[i] + w[i] - b[i] + proximal[i] * x[i]
    if law == DISCS:
        for c in range(np.uint64(friction.size)):
            p, q = c * width + ONE, c * width + width - ONE
            right[c * width] -= friction[c] * (math.hypot(w[p], w[q]) if q > p else abs(w[p]))


@kernel
def advance(relaxation, x, z, u, penalty, image):
    """image = u + relaxation (x - z); returns (the square of its way from u, that of u), in the metric `penalty`."""
    way = size = 0.0
    for i in range(np.uint64(u.size)):
        step = relaxation * (x[i] - z[i])
        image[i] = u[i] + step
        way += penalty[i] * step * step
        size += penalty[i] * u[i] * u[i]
    return way, size


@kernel
def measure_residuals(x, z, before, penalty, weight):
    """Squares of the primal residual x - z in the metric 1 / weight and the dual penalty (z - before) in `weight`."""
    primal = dual = 0.0
    for i in range(np.uint64(x.size)):
        apart, move = x[i] - z[i], penalty[i] * (z[i] - before[i])
        primal += apart / weight[i] * apart
        dual += move * weight[i] * move
    return primal, dual


@inlined
def weighted_dot(weight, a, a_start, b, b_start, size):
    """sum weight_i a_i b_i in four partial sums, which hide the latency of the additions."""
    one = two = three = four = 0.0
    i = np.uint64(0)
    while i + FOUR <= size:
        one += weight[i] * a[a_start + i] * b[b_start + i]
        two += weight[i + ONE] * a[a_start + i + ONE] * b[b_start + i + ONE]
        three += weight[i + np.uint64(2)] * a[a_start + i + np.uint64(2)] * b[b_start + i + np.uint64(2)]
        four += weight[i + np.uint64(3)] * a[a_start + i + np.uint64(3)] * b[b_start + i + np.uint64(3)]
        i += FOUR
    while i < size:
        one += weight[i] * a[a_start + i] * b[b_start + i]
        i += ONE
    return (one + two) + (three + four)


@kernel
def remember(slot, count, rows, u, image, weight, last_image, last_way, images, ways, gram):
    """Put the change of `image` and of the way image - u since the last call into row `slot` of the memory.

    `count` of its `rows`, this one with them, are in use; gram holds their products, sum weight_i ways_ji ways_ki.
    """
    size = np.uint64(u.size)
    start = slot * size
    for i in range(size):
        way = image[i] - u[i]
        images[start + i] = image[i] - last_image[i]
        ways[start + i] = way - last_way[i]
        last_image[i] = image[i]
        last_way[i] = way
    for k in range(count):
        product = weighted_dot(weight, ways, start, ways, k * size, size)
        gram[slot * rows + k] = product
        gram[k * rows + slot] = product


@kernel
def mix(count, rows, regularisation, weight, last_way, images, ways, gram, factor, share, u):
    """u -= sum share_k images_k with the shares that bring sum share_k ways_k nearest to the last way.

    They solve (gram + regularisation trace(gram) I) share = ways^T last_way, by Cholesky's method in `factor`; nothing
    is mixed where that breaks down.
    """
    size = np.uint64(u.size)
    trace = 0.0
    for k in range(count):
        trace += gram[k * rows + k]
        share[k] = weighted_dot(weight, ways, k * size, last_way, np.uint64(0), size)
    for k in range(count):
        for j in range(k + ONE):
            value = gram[k * rows + j]
            for h in range(j):
                value -= factor[k * rows + h] * factor[j * rows + h]
            if j < k:
                factor[k * rows + j] = value / factor[j * rows + j]
            else:
                value += regularisation * trace
                if not value > 0.0:
                    return
                factor[k * rows + k] = math.sqrt(value)
    for k in range(count):
        for h in range(k):
            share[k] -= factor[k * rows + h] * share[h]
        share[k] /= factor[k * rows + k]
    for back in range(count):
        k = count - ONE - back
        for h in range(k + ONE, count):
            share[k] -= factor[h * rows + k] * share[h]
        share[k] /= factor[k * rows + k]
    for k in range(count):
        if not math.isfinite(share[k]):
            return
    for k in range(count):
        start = k * size
        for i in range(size):
            u[i] -= share[k] * images[start + i]
