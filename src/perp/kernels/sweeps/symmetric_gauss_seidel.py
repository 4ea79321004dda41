"""A symmetric Gauss-Seidel sweep as a preconditioner, on compressed rows."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.storages.csr import dot

ONE = np.uint64(1)


@kernel
def split(pointers, indices, below, above):
    """Where the entries left of the diagonal end in each (sorted) row, and where those right of it begin."""
    for i in range(np.uint64(below.size)):
        k, stop = np.uint64(pointers[i]), np.uint64(pointers[i + ONE])
        while k < stop and indices[k] < i:
            k += ONE
        below[i] = k
        above[i] = k + ONE if k < stop and indices[k] == i else k


@kernel
def solve(pointers, indices, values, below, above, diagonal, free, z):
    """z = (D + U)^-1 D (D + L)^-1 z on the free rows; z must be zero on the others, and stays so."""
    n = np.uint64(z.size)
    for i in range(n):
        if free[i]:
            z[i] = (z[i] - dot(indices, values, np.uint64(pointers[i]), below[i], z)) / diagonal[i]
    for back in range(n):
        i = n - ONE - back
        if free[i]:
            z[i] -= dot(indices, values, above[i], np.uint64(pointers[i + ONE]), z) / diagonal[i]
