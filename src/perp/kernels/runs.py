"""Sweeps and products with a matrix in compressed rows whose columns come in runs, as those of assembled contacts do.

Only the first column of a run is stored: `columns[r]`, with its values at `offsets[r]:offsets[r + 1]`; row i owns the
runs `pointers[i]:pointers[i + 1]`. So a product reads two numbers a nonzero instead of three, one after the other.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.projection import clip, disc_factor

ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(1, 5))
ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time


@inlined
def row_slack(pointers, columns, offsets, values, b, x, i):
    """(A x + b)_i with four partial sums, also for what is left of a run."""
    s0 = s1 = s2 = s3 = 0.0
    run = np.uint64(pointers[i])
    last = np.uint64(pointers[i + ONE])
    while run < last:
        k = np.uint64(offsets[run])
        stop = np.uint64(offsets[run + ONE])
        shift = np.uint64(columns[run]) - k
        while k + FOUR <= stop:
            s0 += values[k] * x[shift + k]
            s1 += values[k + ONE] * x[shift + k + ONE]
            s2 += values[k + TWO] * x[shift + k + TWO]
            s3 += values[k + THREE] * x[shift + k + THREE]
            k += FOUR
        if k < stop:
            s0 += values[k] * x[shift + k]
            if k + ONE < stop:
                s1 += values[k + ONE] * x[shift + k + ONE]
                if k + TWO < stop:
                    s2 += values[k + TWO] * x[shift + k + TWO]
        run += ONE
    return (s0 + s1) + (s2 + s3) + b[i]


@kernel
def slack(pointers, columns, offsets, values, b, x, out):
    """out = A x + b."""
    for i in range(np.uint64(b.size)):
        out[i] = row_slack(pointers, columns, offsets, values, b, x, i)


@kernel
def sweep_rows(count, first, order, pointers, columns, offsets, values, step, b, lower, upper, x):
    """`count` sweeps of x_i <- clip(x_i - step_i y_i, lower_i, upper_i), step_i = relaxation / A_ii (NOTES eq. 59).

    `lower` and `upper` start at row `first`: the rows of contacts before it have bounds of their own.
    """
    for _ in range(count):
        for k in range(np.uint64(order.size)):
            i = np.uint64(order[k])
            y = row_slack(pointers, columns, offsets, values, b, x, i)
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
    columns,
    offsets,
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
            sweep_rows(ONCE, first, rows, pointers, columns, offsets, values, step, b, lower, upper, x)
        for k in range(np.uint64(contacts.size)):
            contact = np.uint64(contacts[k])
            i = contact * width
            x[i] = max(x[i] - step[i] * row_slack(pointers, columns, offsets, values, b, x, i), 0.0)
            limit = friction[contact] * x[i]
            if cone:
                p, q = i + ONE, i + ONE + ONE
                slip_p = row_slack(pointers, columns, offsets, values, b, x, p)
                slip_q = row_slack(pointers, columns, offsets, values, b, x, q)
                x[p] -= step[p] * slip_p
                x[q] -= step[q] * slip_q
                factor = disc_factor(x[p], x[q], limit)
                x[p] *= factor
                x[q] *= factor
            else:
                for t in range(i + ONE, i + width):
                    y = row_slack(pointers, columns, offsets, values, b, x, t)
                    x[t] = clip(x[t] - step[t] * y, -limit, limit)
        if not rows_first:
            sweep_rows(ONCE, first, rows, pointers, columns, offsets, values, step, b, lower, upper, x)
