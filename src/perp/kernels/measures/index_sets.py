"""Index sets of a boxed problem: -1 at the lower bound, 0 free, 1 at the upper bound (THESIS eq. 2.37)."""

from __future__ import annotations

from math import inf

import numpy as np

from perp.kernels.compile import kernel

LOWER, FREE, UPPER = -1, 0, 1


@kernel
def classify(sets, x, y, lower, upper, scale, tolerance, wanted):
    """Write the sets that every row asks for (THESIS eq. 2.41-2.44); returns how many want to change.

    x / scale and y * scale are compared with the tolerance. Rows with equal bounds never change.
    """
    count = 0
    for i in range(x.size):
        wish = sets[i]
        if wish == FREE:
            if x[i] < lower[i] - tolerance * scale[i]:
                wish = LOWER  # eq. 2.41
            elif x[i] > upper[i] + tolerance * scale[i]:
                wish = UPPER  # eq. 2.42
        elif lower[i] < upper[i]:
            if wish == LOWER and y[i] * scale[i] < -tolerance:
                wish = FREE  # eq. 2.43
            elif wish == UPPER and y[i] * scale[i] > tolerance:
                wish = FREE  # eq. 2.44
        wanted[i] = wish
        if wish != sets[i]:
            count += 1
    return count


@kernel
def keep_apart_by_columns(order, pointers, indices, mark, keep):
    """Of the rows in this order keep those that share no column (of J) with one that is kept already."""
    for at in range(order.size):
        i = order[at]
        apart = True
        for e in range(pointers[i], pointers[i + 1]):
            if mark[indices[e]]:
                apart = False
                break
        keep[i] = apart
        if apart:
            for e in range(pointers[i], pointers[i + 1]):
                mark[indices[e]] = True


@kernel
def keep_apart_by_neighbours(order, pointers, indices, mark, keep):
    """Of the rows in this order keep those that are no neighbour (in A) of one that is kept already."""
    for at in range(order.size):
        i = order[at]
        keep[i] = not mark[i]
        if keep[i]:
            for e in range(pointers[i], pointers[i + 1]):
                mark[indices[e]] = True


@kernel
def measure_free(sets, x, y, softening, centre, b, scale, soft, rest):
    """soft = y + softening (x - centre), and rest = the same on the free rows and zero on the others.

    Returns max |x / scale| + max |b scale|, max |rest scale|, and nan if a number is not finite, else 0.
    """
    impulse = bias = left = probe = 0.0
    for i in range(x.size):
        soft[i] = y[i] + softening[i] * (x[i] - centre[i])
        rest[i] = soft[i] if sets[i] == FREE else 0.0
        impulse = max(impulse, abs(x[i] / scale[i]))
        bias = max(bias, abs(b[i] * scale[i]))
        left = max(left, abs(rest[i] * scale[i]))
        probe += 0.0 * (x[i] + y[i])
    return impulse + bias, left, probe


@kernel
def fingerprint(sets):
    """Sixty-four bits that two different index sets share with negligible probability (FNV-1a with a final mix)."""
    code = np.uint64(14695981039346656037)
    for i in range(sets.size):
        code = (code ^ np.uint64(sets[i] + 2)) * np.uint64(1099511628211)
    code ^= code >> np.uint64(29)
    code *= np.uint64(0xBF58476D1CE4E5B9)
    return code ^ (code >> np.uint64(32))


# -- a parametric path -------------------------------------------------------------------------------------------------


@kernel
def first_event(sets, x, dx, y, dy, lower, upper, last, result):
    """The least step at which a row reaches its limit: result = (step, row, its new set); row -1 if none ever does.

    A free row ends where x reaches a bound, a row at a bound where its y reaches zero; rows with equal bounds never do.
    Row `last`, which has just changed, must move away from where it stands, so a step of zero for it is rounding.
    """
    result[0], result[1], result[2] = inf, -1.0, 0.0
    for i in range(x.size):
        if lower[i] == upper[i]:
            continue
        step, to = inf, FREE
        if sets[i] == FREE:
            if dx[i] < 0.0 and lower[i] > -inf:
                step, to = (lower[i] - x[i]) / dx[i], LOWER
            elif dx[i] > 0.0 and upper[i] < inf:
                step, to = (upper[i] - x[i]) / dx[i], UPPER
        elif (sets[i] == LOWER and dy[i] < 0.0) or (sets[i] == UPPER and dy[i] > 0.0):
            step = -y[i] / dy[i]
        step = max(step, 0.0)
        if step < result[0] and not (i == last and step == 0.0):
            result[0], result[1], result[2] = step, float(i), float(to)
