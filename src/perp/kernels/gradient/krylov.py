"""The vector work of Krylov methods: what lies between two products, in as few passes over memory as there can be.

Sums keep their order, whatever the number of threads; BLAS would share a long dot product among them.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.storages.dense import dot

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))


@inlined
def subtract_and_measure(r, factor, v, i):
    """r_i -= factor v_i; returns r_i^2."""
    r[i] -= factor * v[i]
    return r[i] * r[i]


@inlined
def subtract_all(r, factor, v):
    """r -= factor v; returns r · r with four partial sums."""
    n = np.uint64(r.size)
    whole = n - n % FOUR
    s0 = s1 = s2 = s3 = 0.0
    for i in range(ZERO, whole, FOUR):
        s0 += subtract_and_measure(r, factor, v, i)
        s1 += subtract_and_measure(r, factor, v, i + ONE)
        s2 += subtract_and_measure(r, factor, v, i + TWO)
        s3 += subtract_and_measure(r, factor, v, i + THREE)
    for i in range(whole, n):
        s0 += subtract_and_measure(r, factor, v, i)
    return (s0 + s1) + (s2 + s3)


@kernel
def product(u, v):
    """u · v."""
    return dot(u, ZERO, v, np.uint64(v.size))


@kernel
def step(alpha, q, Aq, x, r):
    """x += alpha q, r -= alpha A q (THESIS Algorithm 8, lines 15-16); returns r · r."""
    for i in range(np.uint64(x.size)):
        x[i] += alpha * q[i]
    return subtract_all(r, alpha, Aq)


@kernel
def turn(beta, z, q):
    """q = z + beta q (THESIS Algorithm 8, line 12)."""
    for i in range(np.uint64(q.size)):
        q[i] = z[i] + beta * q[i]


@kernel
def orthogonalise(basis, count, w, column):
    """Take from w its parts along the first `count` rows of the (flat) basis, one by one (modified Gram-Schmidt).

    Twice, so that the basis stays orthogonal where A is ill-conditioned. `column` gets the coefficients; returns w · w.
    """
    n = np.uint64(w.size)
    square = dot(w, ZERO, w, n)
    for k in range(count):
        column[k] = 0.0
    for _ in range(2):
        for k in range(count):
            start = np.uint64(k) * n
            share = dot(basis, start, w, n)
            column[k] += share
            for i in range(n):
                w[i] -= share * basis[start + i]
        before, square = square, dot(w, ZERO, w, n)
        if square > 0.5 * before:  # little was taken away, so little rounding error is left
            break
    return square


@kernel
def rotate(column, count, cosine, sine, rotated):
    """Apply the earlier rotations to a new column of the Hessenberg matrix, then one that takes column[count + 1] away.

    `rotated` is the right-hand side, on which the new rotation acts too.
    """
    for k in range(count):
        upper, lower = column[k], column[k + 1]
        column[k] = cosine[k] * upper + sine[k] * lower
        column[k + 1] = cosine[k] * lower - sine[k] * upper
    upper, lower = column[count], column[count + 1]
    length = np.hypot(upper, lower)
    cosine[count] = upper / length if length > 0.0 else 1.0
    sine[count] = lower / length if length > 0.0 else 0.0
    column[count] = length
    column[count + 1] = 0.0
    rotated[count + 1] = -sine[count] * rotated[count]
    rotated[count] *= cosine[count]


@kernel
def combine(basis, factors, count, out):
    """out = the sum of the first `count` rows of the (flat) basis, times these factors."""
    n = np.uint64(out.size)
    for i in range(n):
        out[i] = 0.0
    for k in range(count):
        start = np.uint64(k) * n
        for i in range(n):
            out[i] += factors[k] * basis[start + i]
