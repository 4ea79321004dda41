"""The passes over vectors that projected-gradient methods make between two products with A, and ADMM between two solves
with A + diag(shift).

Rows of contacts come first (`width` rows each, with the cone |x_t| <= friction x_n, or, where the law is FIXED_DISCS,
with x_n >= 0 and the disc |x_t| <= friction; none where `friction` is empty), then rows with bounds. `weight` is the
diagonal of W, the metric in which steps are taken: one number a row, the same for all rows of a contact (FIXED_DISCS:
for its tangents), so that the nearest point of the cone or the disc is the same in that metric. For
ADMM `penalty` is such a diagonal.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import DISCS, FIXED_DISCS, clip, disc_factor, project_on_cone

ONE, FOUR = (np.uint64(k) for k in (1, 4))


# -- projected gradients -----------------------------------------------------------------------------------------------


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


# -- ADMM, and mixing of its iterates ----------------------------------------------------------------------------------


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
