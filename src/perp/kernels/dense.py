"""Sweeps and products with a dense matrix, stored flat by rows."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.projection import clip, disc_factor

ONE = np.uint64(1)
ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time
EIGHT = np.uint64(8)


@inlined
def dot(matrix, start, x, n):
    """matrix[start:start+n] · x with eight partial sums, so that the compiler can fill a vector register."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % EIGHT
    for j in range(np.uint64(0), whole, EIGHT):
        k = start + j
        s0 += matrix[k] * x[j]
        s1 += matrix[k + np.uint64(1)] * x[j + np.uint64(1)]
        s2 += matrix[k + np.uint64(2)] * x[j + np.uint64(2)]
        s3 += matrix[k + np.uint64(3)] * x[j + np.uint64(3)]
        s4 += matrix[k + np.uint64(4)] * x[j + np.uint64(4)]
        s5 += matrix[k + np.uint64(5)] * x[j + np.uint64(5)]
        s6 += matrix[k + np.uint64(6)] * x[j + np.uint64(6)]
        s7 += matrix[k + np.uint64(7)] * x[j + np.uint64(7)]
    for j in range(whole, n):
        s0 += matrix[start + j] * x[j]
    return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


@kernel
def slack(matrix, b, x, out):
    """out = A x + b."""
    n = np.uint64(b.size)
    for i in range(n):
        out[i] = dot(matrix, i * n, x, n) + b[i]


@kernel
def sweep_rows(count, first, order, matrix, step, b, lower, upper, x):
    """`count` sweeps of x_i <- clip(x_i - step_i y_i, lower_i, upper_i), step_i = relaxation / A_ii (NOTES eq. 59).

    `lower` and `upper` start at row `first`: the rows of contacts before it have bounds of their own.
    """
    n = np.uint64(b.size)
    for _ in range(count):
        for k in range(np.uint64(order.size)):
            i = np.uint64(order[k])
            y = dot(matrix, i * n, x, n) + b[i]
            x[i] = clip(x[i] - step[i] * y, lower[i - first], upper[i - first])


@kernel
def sweep_contacts(count, contacts, rows, rows_first, width, cone, friction, matrix, step, b, lower, upper, x):
    """Sweeps over contacts (normal, then tangents bounded by the newest normal; PGS-SM eq. 17) and the other rows."""
    n = np.uint64(b.size)
    first = np.uint64(friction.size) * width
    for _ in range(count):
        if rows_first:
            sweep_rows(ONCE, first, rows, matrix, step, b, lower, upper, x)
        for k in range(np.uint64(contacts.size)):
            contact = np.uint64(contacts[k])
            i = contact * width
            y = dot(matrix, i * n, x, n) + b[i]
            x[i] = max(x[i] - step[i] * y, 0.0)
            limit = friction[contact] * x[i]
            if cone:
                p, q = i + ONE, i + ONE + ONE
                slip_p = dot(matrix, p * n, x, n) + b[p]
                slip_q = dot(matrix, q * n, x, n) + b[q]
                x[p] -= step[p] * slip_p
                x[q] -= step[q] * slip_q
                factor = disc_factor(x[p], x[q], limit)
                x[p] *= factor
                x[q] *= factor
            else:
                for t in range(i + ONE, i + width):
                    y = dot(matrix, t * n, x, n) + b[t]
                    x[t] = clip(x[t] - step[t] * y, -limit, limit)
        if not rows_first:
            sweep_rows(ONCE, first, rows, matrix, step, b, lower, upper, x)
