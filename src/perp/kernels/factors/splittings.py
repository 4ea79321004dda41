"""Preconditioners that are parts of a matrix: its diagonal blocks, or its triangles (a symmetric Gauss-Seidel sweep).

Small dense blocks are factored and solved one by one, rows that are not free left out; sweeps are on compressed rows.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.storages.csr import dot

ONE = np.uint64(1)


# -- diagonal blocks ---------------------------------------------------------------------------------------------------


@kernel
def factor_blocks(blocks, size, chosen, free, shift, floor, factors):
    """L D L^T of each chosen block plus its shift; `factors` has D on the diagonal and L below it.

    A row that is not free is a row of the identity. A pivot that is not above `floor` times its diagonal entry is
    replaced by that entry's magnitude (1 where it is zero), so that L D L^T is positive definite whatever the block is.
    """
    for at in range(chosen.size):
        first = np.int64(chosen[at]) * size
        start = first * size
        for i in range(size):
            row = first + i
            own = blocks[start + i * size + i] + shift[row]
            for j in range(i + 1):
                other = first + j
                value = blocks[start + i * size + j] if free[row] and free[other] else 0.0
                if i == j:
                    value = own if free[row] else 1.0
                for k in range(j):
                    value -= (
                        factors[start + i * size + k] * factors[start + j * size + k] * factors[start + k * (size + 1)]
                    )
                if i > j:
                    value /= factors[start + j * (size + 1)]
                elif free[row] and not value > floor * abs(own):
                    value = abs(own) if own != 0.0 else 1.0
                factors[start + i * size + j] = value


@kernel
def solve_blocks(factors, size, count, z):
    """z = (L D L^T)^-1 z, block by block, in place."""
    for block in range(count):
        first = block * size
        start = first * size
        for i in range(size):
            for k in range(i):
                z[first + i] -= factors[start + i * size + k] * z[first + k]
        for i in range(size):
            z[first + i] /= factors[start + i * (size + 1)]
        for i in range(size - 1, -1, -1):
            for k in range(i + 1, size):
                z[first + i] -= factors[start + k * size + i] * z[first + k]


# -- symmetric Gauss-Seidel --------------------------------------------------------------------------------------------


@kernel
def split_rows(pointers, indices, below, above):
    """Where the entries left of the diagonal end in each (sorted) row, and where those right of it begin."""
    for i in range(np.uint64(below.size)):
        k, stop = np.uint64(pointers[i]), np.uint64(pointers[i + ONE])
        while k < stop and indices[k] < i:
            k += ONE
        below[i] = k
        above[i] = k + ONE if k < stop and indices[k] == i else k


@kernel
def sweep_both_ways(pointers, indices, values, below, above, diagonal, free, z):
    """z = (D + U)^-1 D (D + L)^-1 z on the free rows; z must be zero on the others, and stays so."""
    n = np.uint64(z.size)
    for i in range(n):
        if free[i]:
            z[i] = (z[i] - dot(indices, values, np.uint64(pointers[i]), below[i], z)) / diagonal[i]
    for back in range(n):
        i = n - ONE - back
        if free[i]:
            z[i] -= dot(indices, values, above[i], np.uint64(pointers[i + ONE]), z) / diagonal[i]
