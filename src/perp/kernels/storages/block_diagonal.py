"""Small dense blocks on the diagonal of a matrix: factored and solved one by one, rows that are not free left out."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel


@kernel
def factor(blocks, size, chosen, free, shift, floor, factors):
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
def solve(factors, size, count, z):
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
