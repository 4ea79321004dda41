"""Dense LU factor with row exchanges, P A = L U, column-major and in place, and the solve with it."""

from __future__ import annotations

from math import isfinite

import numpy as np

from perp.kernels.blas import add_product
from perp.kernels.compile import kernel

BLOCK = 32
"""Columns that are eliminated one by one before the rest is brought up to date by a matrix product."""


@kernel
def gather_square(A, chosen, count, out):
    """out = A[chosen, chosen], column-major, for A in row-major order."""
    for i in range(count):
        row = np.int64(chosen[i])
        for j in range(count):
            out[j * count + i] = A[row, np.int64(chosen[j])]


@kernel
def factor(address, A, size, floor, exchange, inverse, work):
    """Returns how many pivots are at most `floor` (their columns are left out: U_jj = inf), or -1 if not finite.

    `floor` has one number a row, and is exchanged along with them.
    """
    small = 0
    for start in range(0, size, BLOCK):
        width = min(BLOCK, size - start)
        for j in range(start, start + width):  # eliminate within the block of columns
            column = j * size
            best, largest = j, abs(A[column + j])
            for i in range(j + 1, size):
                if abs(A[column + i]) > largest:
                    best, largest = i, abs(A[column + i])
            if not isfinite(largest):
                return -1
            exchange[j] = best
            floor[j], floor[best] = floor[best], floor[j]
            if best != j:
                for k in range(size):
                    A[k * size + j], A[k * size + best] = A[k * size + best], A[k * size + j]
            if largest <= floor[j]:
                small += 1
                A[column + j] = np.inf
                for i in range(j + 1, size):
                    A[column + i] = 0.0
                continue
            pivot = A[column + j]
            for i in range(j + 1, size):
                A[column + i] /= pivot
            for right in range(j + 1, start + width):
                factor, target = A[right * size + j], right * size
                for i in range(j + 1, size):
                    A[target + i] -= factor * A[column + i]
        rest = size - start - width
        if rest == 0:
            continue
        # U12 = L11^-1 A12, by the inverse of the small unit triangle
        for j in range(width):
            for i in range(j):
                inverse[j * BLOCK + i] = 0.0
            inverse[j * BLOCK + j] = 1.0
            for i in range(j + 1, width):
                total = 0.0
                for k in range(j, i):
                    total += A[(start + k) * size + start + i] * inverse[j * BLOCK + k]
                inverse[j * BLOCK + i] = -total
        end = start + width
        add_product(
            address, width, rest, width, 1.0, inverse, 0, BLOCK, A, end * size + start, size, 0.0, work, 0, width
        )
        for j in range(rest):
            for i in range(width):
                A[(end + j) * size + start + i] = work[j * width + i]
        add_product(  # A22 -= L21 U12
            *(address, rest, rest, width, -1.0, A, start * size + end, size),
            *(A, end * size + start, size, 1.0, A, end * size + end, size),
        )
    return small


@kernel
def solve(A, size, exchange, x):
    """x = A^-1 x; unknowns whose column was left out are 0."""
    for j in range(size):
        x[j], x[exchange[j]] = x[exchange[j]], x[j]
    for j in range(size):
        value, column = x[j], j * size
        for i in range(j + 1, size):
            x[i] -= A[column + i] * value
    for j in range(size - 1, -1, -1):
        column = j * size
        value = x[j] / A[column + j]
        x[j] = value
        for i in range(j):
            x[i] -= A[column + i] * value
