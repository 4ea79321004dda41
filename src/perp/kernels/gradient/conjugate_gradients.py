"""Vector work of the conjugate gradient methods on boxes: steps up to a bound, faces, split gradients.

q is a direction of descent, `product` A q, r the residual -y on the free rows and zero on the others. `weight` is the
diagonal metric in which lengths of gradients are measured, about 1 / A_ii.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.measures.index_sets import FREE, LOWER, UPPER
from perp.kernels.measures.projection import clip


@kernel
def dot(a, b):
    """a^T b with four partial sums."""
    s0 = s1 = s2 = s3 = 0.0
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(whole, a.size):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@kernel
def measure_direction(r, q, product, weight):
    """r^T q, q^T A q, and the squared length of q, sum q_i^2 / weight_i."""
    slope = curvature = length = 0.0
    for i in range(q.size):
        slope += r[i] * q[i]
        curvature += q[i] * product[i]
        length += (q[i] / weight[i]) * q[i]
    return slope, curvature, length


@kernel
def step_to_bound(x, q, lower, upper):
    """The longest step along q that leaves no bound (THESIS eq. 5.1); inf where none is in the way."""
    longest = np.inf
    for i in range(x.size):
        if q[i] < 0.0:
            longest = min(longest, (lower[i] - x[i]) / q[i])
        elif q[i] > 0.0:
            longest = min(longest, (upper[i] - x[i]) / q[i])
    return longest


@kernel
def take_step(x, y, q, product, step, lower, upper):
    """x += step q and y += step A q; rows that get to a bound stop exactly there. Returns how many do."""
    hits = 0
    for i in range(x.size):
        y[i] += step * product[i]
        new = x[i] + step * q[i]
        if q[i] < 0.0 and (new <= lower[i] or (lower[i] - x[i]) / q[i] <= step):
            new = lower[i]
            hits += 1
        elif q[i] > 0.0 and (new >= upper[i] or (upper[i] - x[i]) / q[i] <= step):
            new = upper[i]
            hits += 1
        x[i] = new
    return hits


@kernel
def project_step(x, q, step, lower, upper, out):
    """out = clip(x + step q, lower, upper)."""
    for i in range(x.size):
        out[i] = clip(x[i] + step * q[i], lower[i], upper[i])


@kernel
def change_of_objective(x, y, x_new, y_new):
    """f(x_new) - f(x) for f = 1/2 x^T A x + b^T x, from both slacks, and the sum of the sizes of its terms.

    1/2 (x_new - x)^T (y + y_new) is the same for symmetric A, and loses no digits to the size of f.
    """
    change = size = 0.0
    for i in range(x.size):
        term = 0.5 * (x_new[i] - x[i]) * (y[i] + y_new[i])
        change += term
        size += abs(term)
    return change, size


@kernel
def turn(q, z, beta):
    """q = z + beta q."""
    for i in range(q.size):
        q[i] = z[i] + beta * q[i]


# -- faces that are kept as index sets (PGCG) -------------------------------------------------------------------------


@kernel
def face_residual(sets, y, r):
    """r = -y on the free rows, zero on the others (THESIS Algorithm 11, line 4)."""
    for i in range(y.size):
        r[i] = -y[i] if sets[i] == FREE else 0.0


@kernel
def keep_in_face(sets, r, z):
    """Set z to zero outside the face; returns r^T z."""
    total = 0.0
    for i in range(z.size):
        if sets[i] == FREE:
            total += r[i] * z[i]
        else:
            z[i] = 0.0
    return total


@kernel
def tighten(sets, x, q, lower, upper, pivots):
    """Free rows at a bound that q would leave become tight (THESIS Algorithm 11, line 15); returns how many."""
    count = 0
    for i in range(x.size):
        if sets[i] == FREE:
            if q[i] < 0.0 and x[i] <= lower[i]:
                sets[i] = LOWER
            elif q[i] > 0.0 and x[i] >= upper[i]:
                sets[i] = UPPER
            else:
                continue
            pivots[i] += 1
            count += 1
    return count


@kernel
def release(sets, y, lower, upper, weight, tolerance, pivots):
    """Tight rows whose slack has the wrong sign become free (THESIS eq. 2.43-2.44); returns how many."""
    count = 0
    for i in range(y.size):
        if sets[i] != FREE and lower[i] < upper[i]:
            wrong = -y[i] if sets[i] == LOWER else y[i]
            if wrong * math.sqrt(weight[i]) > tolerance:
                sets[i] = FREE
                pivots[i] += 1
                count += 1
    return count


@kernel
def measure_face(sets, x, y, b, lower, upper, weight):
    """The size of the numbers, max |x| / sqrt(weight) + max |b| sqrt(weight), and two residuals in such units.

    The first is max |y| of the free rows, the second the largest |y| of tight rows whose slack has the wrong sign.
    """
    impulse = bias = left = wrong = 0.0
    for i in range(x.size):
        scale = math.sqrt(weight[i])
        impulse = max(impulse, abs(x[i]) / scale)
        bias = max(bias, abs(b[i]) * scale)
        if sets[i] == FREE:
            left = max(left, abs(y[i]) * scale)
        elif lower[i] < upper[i]:
            wrong = max(wrong, (-y[i] if sets[i] == LOWER else y[i]) * scale)
    return impulse + bias, left, wrong


# -- faces by position (MPRGP) ----------------------------------------------------------------------------------------


@kernel
def split_gradient(x, y, lower, upper, weight, step, r):
    """r = minus the free gradient; returns (reduced free gradient)^T (free gradient) and |chopped gradient|^2.

    Dostál & Schöberl 2005, for a box and in the metric: a row strictly between its bounds is free, and its
    reduced gradient leads no further than to the bound, with a step of that length.
    """
    reduced = chopped = 0.0
    for i in range(x.size):
        gradient = y[i]
        if lower[i] < x[i] < upper[i]:
            r[i] = -gradient
            way = weight[i] * gradient
            way = min(way, (x[i] - lower[i]) / step) if way > 0.0 else max(way, (x[i] - upper[i]) / step)
            reduced += way * gradient
        else:
            r[i] = 0.0
            if lower[i] < upper[i] and (gradient < 0.0 if x[i] <= lower[i] else gradient > 0.0):
                chopped += (weight[i] * gradient) * gradient
    return reduced, chopped


@kernel
def chopped_direction(x, y, lower, upper, weight, r, q):
    """r = minus the chopped gradient, q = weight r: where rows at a bound would go that have the wrong slack."""
    for i in range(x.size):
        r[i] = 0.0
        if lower[i] < upper[i]:
            if x[i] <= lower[i]:
                r[i] = max(-y[i], 0.0)
            elif x[i] >= upper[i]:
                r[i] = min(-y[i], 0.0)
        q[i] = weight[i] * r[i]


@kernel
def project_gradient(x, y, lower, upper, weight, step, only_free, out):
    """out = clip(x - step weight y), of all rows or only of those strictly between their bounds."""
    for i in range(x.size):
        if only_free and not lower[i] < x[i] < upper[i]:
            out[i] = x[i]
        else:
            out[i] = clip(x[i] - step * (weight[i] * y[i]), lower[i], upper[i])
