"""A factor of A_FF that follows the index set F: one row and column more, or one less, in O(k^2) each.

    A_FF = R^T diag(pivots) R,       R upper triangular with a diagonal of ones,

with F in the order of `members`. R is stored flat by rows, `stride` numbers a row, its diagonal left out: every inner
loop then runs along a row, and the compiler fills vector registers without changing the order of a sum. A new member
makes a new last column; a member that leaves makes a rank-one update of what comes after it, with a positive weight, so
that nothing cancels (method C1 of Gill, Golub, Murray & Saunders 1974).
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined

ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


@inlined
def dot_between(a, a_start, b, b_start, n):
    """a[a_start:][:n] · b[b_start:][:n] with eight partial sums."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % np.uint64(8)
    for k in range(ZERO, whole, np.uint64(8)):
        p, q = a_start + k, b_start + k
        s0 += a[p] * b[q]
        s1 += a[p + ONE] * b[q + ONE]
        s2 += a[p + np.uint64(2)] * b[q + np.uint64(2)]
        s3 += a[p + np.uint64(3)] * b[q + np.uint64(3)]
        s4 += a[p + np.uint64(4)] * b[q + np.uint64(4)]
        s5 += a[p + np.uint64(5)] * b[q + np.uint64(5)]
        s6 += a[p + np.uint64(6)] * b[q + np.uint64(6)]
        s7 += a[p + np.uint64(7)] * b[q + np.uint64(7)]
    for k in range(whole, n):
        s0 += a[a_start + k] * b[b_start + k]
    return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


@inlined
def reduce_column(stride, rows, count, w):
    """w <- R^-T w: the first half of a solve, and all that a new column of the factor needs."""
    whole = count - count % FOUR
    for i in range(ZERO, whole, FOUR):  # four rows at a time, so that w is read and written once for the four
        p0 = i * stride
        p1, p2, p3 = p0 + stride, p0 + np.uint64(2) * stride, p0 + np.uint64(3) * stride
        w0 = w[i]
        w1 = w[i + ONE] - w0 * rows[p0 + i + ONE]
        w2 = w[i + np.uint64(2)] - w0 * rows[p0 + i + np.uint64(2)] - w1 * rows[p1 + i + np.uint64(2)]
        w3 = w[i + np.uint64(3)] - w0 * rows[p0 + i + np.uint64(3)] - w1 * rows[p1 + i + np.uint64(3)]
        w3 -= w2 * rows[p2 + i + np.uint64(3)]
        w[i + ONE], w[i + np.uint64(2)], w[i + np.uint64(3)] = w1, w2, w3
        for k in range(i + FOUR, count):
            w[k] -= w0 * rows[p0 + k] + w1 * rows[p1 + k] + w2 * rows[p2 + k] + w3 * rows[p3 + k]
    for i in range(whole, count):
        for k in range(i + ONE, count):
            w[k] -= w[i] * rows[i * stride + k]


@inlined
def finish_solve(stride, rows, pivots, count, w, out):
    """out = R^-1 diag(1 / pivots) w: the second half of a solve with A_FF."""
    for back in range(count):
        i = count - ONE - back
        out[i] = w[i] / pivots[i] - dot_between(rows, i * stride + i + ONE, out, i + ONE, back)


@inlined
def weigh(pivots, count, w):
    """The sum of w_i^2 / pivots_i: what the members take from a diagonal entry; the Schur complement is the rest."""
    total = 0.0
    for i in range(count):
        total += w[i] * w[i] / pivots[i]
    return total


@inlined
def append(stride, rows, pivots, count, w, pivot):
    """Let a row of A enter as the last member: w is its reduced column, `pivot` its Schur complement, not zero."""
    for i in range(count):
        rows[i * stride + count] = w[i] / pivots[i]
    pivots[count] = pivot


@inlined
def remove(stride, rows, pivots, count, place, v):
    """Take the member at `place` out; those after it move up by one. v is room for `count` numbers."""
    for i in range(place):
        for k in range(i * stride + place, i * stride + count - ONE):
            rows[k] = rows[k + ONE]
    # The rows after it lose R[place, :], which they now must hold themselves:
    # R^T diag(pivots) R of those rows  +  weight v v^T.
    for k in range(place + ONE, count):
        v[k] = rows[place * stride + k]
    weight = pivots[place]
    for i in range(place + ONE, count):
        old, up = i * stride, (i - ONE) * stride
        pivot = pivots[i] + weight * v[i] * v[i]
        share = weight * v[i] / pivot
        weight *= pivots[i] / pivot
        pivots[i - ONE] = pivot
        first = v[i]
        for k in range(i + ONE, count):
            v[k] -= first * rows[old + k]
            rows[up + k - ONE] = rows[old + k] + share * v[k]
