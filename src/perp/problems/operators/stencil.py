"""A as a stencil on a regular grid: the pressure Poisson matrix of NOTES 4.2 without storing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_vector, freeze, reject_non_finite, require_count, require_real_dtype
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator


class StencilOperator(Operator):
    """(A x)_c = diagonal_c x_c + sum over axes k of coupling_k (x_{c - e_k} + x_{c + e_k}), x = 0 outside the grid.

    `shape` is the grid; cells are numbered in C order. `diagonal` is a number or an array of that shape (a smaller
    entry at a wall makes it a Neumann wall); `couplings` is a number or one number an axis. The Laplacian with a free
    surface all around is `StencilOperator((nx, ny, nz), 6.0, -1.0)`.
    """

    abilities = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "stencil"

    def __init__(self, shape: Sequence[int], diagonal: Any, couplings: Any = -1.0) -> None:
        if not tuple(shape):
            raise InvalidProblem("shape is (); one size an axis is needed")
        for axis, size in enumerate(shape):
            require_count(size, f"shape[{axis}]")
        self.grid = tuple(int(size) for size in shape)
        given = np.asarray(diagonal)
        require_real_dtype(given.dtype, "diagonal")
        try:
            centre = np.broadcast_to(given.astype(np.float64), self.grid)
        except ValueError:
            raise InvalidProblem(f"diagonal has shape {given.shape}; the grid is {self.grid}") from None
        reject_non_finite(centre, "diagonal")
        self.centre: Vector = freeze(centre.reshape(-1).copy())
        spread = np.full(len(self.grid), couplings) if np.ndim(couplings) == 0 else couplings
        self.couplings: Vector = as_vector(spread, "couplings", len(self.grid))

    @property
    def n(self) -> int:
        return self.centre.size

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        np.multiply(self.centre, x, out=out)
        out += b
        cells, sums = x.reshape(self.grid), out.reshape(self.grid)
        for axis, coupling in enumerate(self.couplings):
            ahead = (slice(None),) * axis + (slice(1, None),)
            behind = (slice(None),) * axis + (slice(None, -1),)
            sums[behind] += coupling * cells[ahead]
            sums[ahead] += coupling * cells[behind]
        return out

    def diagonal(self) -> Vector:
        return self.centre.copy()

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        cell = np.array(np.unravel_index(i, self.grid))
        entries = {i: self.centre[i]}
        for axis, coupling in enumerate(self.couplings):
            for step in (-1, 1):
                place = cell.copy()
                place[axis] += step
                if 0 <= place[axis] < self.grid[axis]:
                    entries[int(np.ravel_multi_index(tuple(place), self.grid))] = coupling
        columns = np.array(sorted(entries), dtype=np.intp)
        return columns, np.array([entries[j] for j in columns])

    def submatrix(self, rows: Any, columns: Any) -> sparse.csr_array:
        return self.to_sparse()[rows][:, columns]

    def to_sparse(self) -> sparse.csr_array:
        if self.n == 0:
            return sparse.csr_array((0, 0))
        total = sparse.diags_array(self.centre, format="csr")
        for axis, coupling in enumerate(self.couplings):
            size = self.grid[axis]
            line = sparse.diags_array([np.ones(max(size - 1, 0))] * 2, offsets=[-1, 1], shape=(size, size))
            before, after = int(np.prod(self.grid[:axis])), int(np.prod(self.grid[axis + 1 :]))
            neighbours = sparse.kron(sparse.kron(sparse.eye_array(before), line), sparse.eye_array(after))
            total = total + coupling * neighbours.tocsr()
        return sparse.csr_array(total)

    def work(self) -> int:
        return self.n * (2 * len(self.grid) + 1)

    @property
    def asymmetry(self) -> float:
        return 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        return StencilOperator, (self.grid, self.centre.reshape(self.grid), self.couplings)
