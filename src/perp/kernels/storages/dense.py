"""Sweeps and products with a dense matrix, stored flat by rows."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.sweeps.sweeping import pass_over_rows, project, project_contact, sweep

EIGHT = np.uint64(8)
TILE = np.uint64(32)


@uncounted
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


@uncounted
def row_slack(storage, b, x, v, i):
    """(A x + b)_i."""
    n = np.uint64(b.size)
    return dot(storage[0], i * n, x, n) + b[i]


@uncounted
def row_add(storage, v, i, change):
    """Nothing follows: A reads x itself."""


@kernel
def slack(matrix, b, x, out):
    """out = A x + b."""
    for i in range(np.uint64(b.size)):
        out[i] = row_slack((matrix,), b, x, x, i)


@kernel
def slack_by_rows(matrix, b, x, work, out):
    """out = A x + b for symmetric A: rows are taken for columns, and those with x_i = 0 are not read at all.

    `work` lists the others; four are added at a time, so that `out` is read and written a quarter as often.
    """
    n = np.uint64(b.size)
    count = np.uint64(0)
    for i in range(n):
        out[i] = b[i]
        if x[i] != 0.0:
            work[count] = i
            count += np.uint64(1)
    fours = count - count % np.uint64(4)
    for k in range(np.uint64(0), fours, np.uint64(4)):
        i0, i1, i2, i3 = work[k], work[k + np.uint64(1)], work[k + np.uint64(2)], work[k + np.uint64(3)]
        x0, x1, x2, x3 = x[i0], x[i1], x[i2], x[i3]
        r0, r1, r2, r3 = i0 * n, i1 * n, i2 * n, i3 * n
        for j in range(n):
            out[j] += (matrix[r0 + j] * x0 + matrix[r1 + j] * x1) + (matrix[r2 + j] * x2 + matrix[r3 + j] * x3)
    for k in range(fours, count):
        row, value = work[k] * n, x[work[k]]
        for j in range(n):
            out[j] += matrix[row + j] * value


@kernel
def asymmetry(matrix, n):
    """max |A - A^T|, tile by tile, so that both halves are read from the cache."""
    worst = 0.0
    for top in range(np.uint64(0), n, TILE):
        for left in range(np.uint64(0), top + np.uint64(1), TILE):
            for i in range(top, min(top + TILE, n)):
                for j in range(left, min(left + TILE, i)):
                    worst = max(worst, abs(matrix[i * n + j] - matrix[j * n + i]))
    return worst


@kernel
def sweep_rows(count, order, arrays, vectors):
    for _ in range(count):
        pass_over_rows(project, order, (arrays, row_slack, row_add), vectors)


@kernel
def sweep_contacts(count, order, contact, arrays, vectors):
    sweep(project_contact, project, count, order, contact, (arrays, row_slack, row_add), vectors)
