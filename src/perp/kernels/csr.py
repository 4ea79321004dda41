"""Sweeps and products with a matrix in compressed rows."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.projection import clip, disc_factor

ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(1, 5))
ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time


@inlined
def dot(indices, values, start, stop, x):
    """Row · x with four partial sums."""
    s0 = s1 = s2 = s3 = 0.0
    k = start
    while k + FOUR <= stop:
        s0 += values[k] * x[indices[k]]
        s1 += values[k + ONE] * x[indices[k + ONE]]
        s2 += values[k + TWO] * x[indices[k + TWO]]
        s3 += values[k + THREE] * x[indices[k + THREE]]
        k += FOUR
    while k < stop:
        s0 += values[k] * x[indices[k]]
        k += ONE
    return (s0 + s1) + (s2 + s3)


@inlined
def row_slack(pointers, indices, values, b, x, i):
    """(A x + b)_i."""
    return dot(indices, values, np.uint64(pointers[i]), np.uint64(pointers[i + ONE]), x) + b[i]


@kernel
def slack(pointers, indices, values, b, x, out):
    """out = A x + b."""
    for i in range(np.uint64(b.size)):
        out[i] = row_slack(pointers, indices, values, b, x, i)


@kernel
def sweep_rows(count, first, order, pointers, indices, values, step, b, lower, upper, x):
    """`count` sweeps of x_i <- clip(x_i - step_i y_i, lower_i, upper_i), step_i = relaxation / A_ii (NOTES eq. 59).

    `lower` and `upper` start at row `first`: the rows of contacts before it have bounds of their own.
    """
    for _ in range(count):
        for k in range(np.uint64(order.size)):
            i = np.uint64(order[k])
            y = row_slack(pointers, indices, values, b, x, i)
            x[i] = clip(x[i] - step[i] * y, lower[i - first], upper[i - first])


@kernel
def sweep_contacts(
    count,
    contacts,
    rows,
    rows_first,
    width,
    cone,
    friction,
    pointers,
    indices,
    values,
    step,
    b,
    lower,
    upper,
    x,
):
    """Sweeps over contacts (normal, then tangents bounded by the newest normal; PGS-SM eq. 17) and the other rows."""
    first = np.uint64(friction.size) * width
    for _ in range(count):
        if rows_first:
            sweep_rows(ONCE, first, rows, pointers, indices, values, step, b, lower, upper, x)
        for k in range(np.uint64(contacts.size)):
            contact = np.uint64(contacts[k])
            i = contact * width
            x[i] = max(x[i] - step[i] * row_slack(pointers, indices, values, b, x, i), 0.0)
            limit = friction[contact] * x[i]
            if cone:
                p, q = i + ONE, i + ONE + ONE
                slip_p = row_slack(pointers, indices, values, b, x, p)
                slip_q = row_slack(pointers, indices, values, b, x, q)
                x[p] -= step[p] * slip_p
                x[q] -= step[q] * slip_q
                factor = disc_factor(x[p], x[q], limit)
                x[p] *= factor
                x[q] *= factor
            else:
                for t in range(i + ONE, i + width):
                    y = row_slack(pointers, indices, values, b, x, t)
                    x[t] = clip(x[t] - step[t] * y, -limit, limit)
        if not rows_first:
            sweep_rows(ONCE, first, rows, pointers, indices, values, step, b, lower, upper, x)
