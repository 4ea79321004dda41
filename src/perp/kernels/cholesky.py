"""Dense Cholesky factor L L^T = A, column-major and in place, and the solves with it.

A pivot at or below its `floor` belongs to a row that depends on earlier ones. Its L_jj becomes infinity and the rest of
its column zero: a division by infinity then makes the row's unknown 0, which is to say that the row rests, and nothing
else in the code has to know.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

import numpy as np

from perp.kernels.blas import add_product, add_product_transposed
from perp.kernels.compile import inlined, kernel

BLOCK = 32
"""Columns that are factored one by one before the next ones are brought up to date by a matrix product."""

DEPENDENT, NEGATIVE = 0, 1
"""Places in `found`: how many rows rest, and how many of them had a pivot so far below zero that A is indefinite."""

DOUBT = 16.0
"""A pivot that should be zero may be below -floor by this factor from rounding alone."""


@inlined
def _factor_square(L, at, size, ld, floor, floor_at, found):
    """Columns one by one: divide by the root of the pivot, then subtract from the columns to the right."""
    for j in range(size):
        column = at + j * ld
        pivot = L[column + j]
        if not isfinite(pivot):
            found[DEPENDENT] = -1
            return
        if pivot > floor[floor_at + j]:
            root = sqrt(pivot)
            L[column + j] = root
            for i in range(j + 1, size):
                L[column + i] /= root
            for right in range(j + 1, size):
                factor, target = L[column + right], at + right * ld
                for i in range(right, size):
                    L[target + i] -= factor * L[column + i]
        else:
            found[DEPENDENT] += 1
            if pivot < -DOUBT * floor[floor_at + j]:
                found[NEGATIVE] += 1
            L[column + j] = inf
            for i in range(j + 1, size):
                L[column + i] = 0.0


@inlined
def _invert_triangle(L, at, size, ld, inverse):
    """inverse = the inverse of the lower triangle at `at`, column-major with BLOCK rows, zero above its diagonal."""
    for j in range(size):
        for i in range(j):
            inverse[j * BLOCK + i] = 0.0
        inverse[j * BLOCK + j] = 1.0 / L[at + j * ld + j]
        for i in range(j + 1, size):
            total = 0.0
            for k in range(j, i):
                total += L[at + k * ld + i] * inverse[j * BLOCK + k]
            inverse[j * BLOCK + i] = -total / L[at + i * ld + i]


@inlined
def factor_trapezoid(address, L, at, rows, columns, floor, floor_at, inverse, work, found):
    """Factor the first `columns` columns of a symmetric matrix, of which `rows` rows are given; both begin at `at`.

    `inverse` has BLOCK^2 entries, `work` rows BLOCK. The part above the diagonal is used for scratch.
    """
    for j in range(0, columns, BLOCK):
        width = min(BLOCK, columns - j)
        here = at + j * rows + j
        if j > 0:  # A[j:, j:j+width] -= L[j:, :j] L[j:j+width, :j]^T
            add_product_transposed(
                address, rows - j, width, j, -1.0, L, at + j, rows, L, at + j, rows, 1.0, L, here, rows
            )
        _factor_square(L, here, width, rows, floor, floor_at + j, found)
        if found[DEPENDENT] < 0:
            return
        below = rows - j - width
        if below > 0:  # L[j+width:, j:j+width] = A[j+width:, j:j+width] L11^-T
            _invert_triangle(L, here, width, rows, inverse)
            add_product_transposed(
                address, below, width, width, 1.0, L, here + width, rows, inverse, 0, BLOCK, 0.0, work, 0, below
            )
            for c in range(width):
                to, source = here + width + c * rows, c * below
                for i in range(below):
                    L[to + i] = work[source + i]


@inlined
def solve_lower(L, at, size, ld, x, x_at):
    """x = L^-1 x for the triangle at `at`."""
    for j in range(size):
        value = x[x_at + j] / L[at + j * ld + j]
        x[x_at + j] = value
        for i in range(j + 1, size):
            x[x_at + i] -= L[at + j * ld + i] * value


@inlined
def dot_column(L, at, x, x_at, count):
    """The dot product of two runs, in four partial sums."""
    a = b = c = d = 0.0
    fours = count - count % 4
    for i in range(0, fours, 4):
        a += L[at + i] * x[x_at + i]
        b += L[at + i + 1] * x[x_at + i + 1]
        c += L[at + i + 2] * x[x_at + i + 2]
        d += L[at + i + 3] * x[x_at + i + 3]
    for i in range(fours, count):
        a += L[at + i] * x[x_at + i]
    return (a + b) + (c + d)


@inlined
def solve_upper(L, at, size, ld, x, x_at):
    """x = L^-T x for the triangle at `at`."""
    for j in range(size - 1, -1, -1):
        column = at + j * ld
        rest = dot_column(L, column + j + 1, x, x_at + j + 1, size - j - 1)
        x[x_at + j] = (x[x_at + j] - rest) / L[column + j]


@kernel
def gather_square(A, chosen, count, out):
    """out = the lower triangle of A[chosen, chosen], column-major, for symmetric A in row-major order."""
    for j in range(count):
        row, column = np.int64(chosen[j]), j * count
        for i in range(j, count):
            out[column + i] = A[row, np.int64(chosen[i])]


@kernel
def factor(address, L, size, floor, inverse, work, found):
    factor_trapezoid(address, L, 0, size, size, floor, 0, inverse, work, found)


@kernel
def solve_lower_many(address, L, size, B, count, inverse, work):
    """B = L^-1 B for the `count` columns of B."""
    for j in range(0, size, BLOCK):
        width = min(BLOCK, size - j)
        here, below = j * size + j, size - j - width
        _invert_triangle(L, here, width, size, inverse)
        add_product(address, width, count, width, 1.0, inverse, 0, BLOCK, B, j, size, 0.0, work, 0, width)
        for c in range(count):
            for i in range(width):
                B[c * size + j + i] = work[c * width + i]
        if below > 0:
            add_product(address, below, count, width, -1.0, L, here + width, size, B, j, size, 1.0, B, j + width, size)


@kernel
def subtract_gram(address, B, size, count, S, transposed):
    """S -= B^T B, for the `count` columns of B; `transposed` lends the memory for B^T."""
    for c in range(count):
        for i in range(size):
            transposed[i * count + c] = B[c * size + i]
    add_product(address, count, count, size, -1.0, transposed, 0, count, B, 0, size, 1.0, S, 0, count)


@kernel
def times_columns(B, size, count, weight, x):
    """x -= B weight."""
    for c in range(count):
        for i in range(size):
            x[i] -= B[c * size + i] * weight[c]


@kernel
def dot_columns(B, size, count, x, out):
    """out -= B^T x."""
    for c in range(count):
        out[c] -= dot_column(B, c * size, x, 0, size)


@kernel
def forward(L, size, x):
    """x = L^-1 x."""
    solve_lower(L, 0, size, size, x, 0)


@kernel
def backward(L, size, x):
    """x = L^-T x."""
    solve_upper(L, 0, size, size, x, 0)


@kernel
def solve(L, size, x):
    """x = (L L^T)^-1 x."""
    solve_lower(L, 0, size, size, x, 0)
    solve_upper(L, 0, size, size, x, 0)
