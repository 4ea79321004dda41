"""Free rows of a dense A: gathered and factored, or added to the last factor as a border."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.kernels import blas
from perp.kernels.factors import dense_factors
from perp.kernels.storages import dense
from perp.linalg.cholesky import Border, DenseCholesky, NotFinite, dependence, read_only
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.paces import DENSE
from perp.problems.deadline import now
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

BORDER_COST = 2.0
"""How much more an operation of a border costs than one of a new factor (it is made of smaller products)."""


class DenseSymmetric(FreeSystem):
    """Cholesky; where few rows changed since the last factor, a border of those rows is added to it instead.

    A row that left is held at zero by one more equation, x_i = 0, whose multiplier is one more unknown; so leaving and
    entering rows both are a new row and column (the Schur-complement method of Gill, Murray, Saunders & Wright 1990).
    """

    name = "dense"
    dependent: int
    negative: int

    def __init__(self, A: NDArray[np.float64]) -> None:
        super().__init__()
        self._cholesky = DenseCholesky(A)
        self._A = self._cholesky.A
        self._base = np.empty(0, dtype=np.intp)
        self._base_shift = np.empty(0)
        self._border: Border | None = None
        self._entered = np.empty(0, dtype=np.intp)
        self._nonzero = np.empty(self._cholesky.n, dtype=np.uint64)
        self._free = np.empty(0, dtype=np.intp)
        self.borders: int = 0

    def factor(self, free: Mask, shift: Vector) -> None:
        self._free = np.flatnonzero(free)
        if self._extend(free, shift):
            self.borders += 1
            return
        self._base, self._base_shift, self._border = self._free, shift.copy(), None
        self._cholesky.factor(self._free, shift[self._free])
        self.dependent, self.negative = self._cholesky.dependent, self._cholesky.negative
        self.added: Vector = shift.copy()
        self.factorisations += 1

    def _extend(self, free: Mask, shift: Vector) -> bool:
        """Add a border to the last factor, where that takes fewer operations than a new factor."""
        if self.factorisations == 0 or self.dependent or not np.array_equal(shift, self._base_shift):
            return False
        is_base = np.zeros(free.size, dtype=np.bool_)
        is_base[self._base] = True
        entered, left = np.flatnonzero(free & ~is_base), np.flatnonzero(is_base & ~free)
        count, size = entered.size + left.size, float(self._base.size)
        if count == 0:
            self._border = None
            return True
        if BORDER_COST * count * (size + count) ** 2 > self._free.size**3 / 3.0:
            return False
        columns, corner = np.zeros((count, self._base.size)), np.zeros((count, count))
        columns[: entered.size] = self._A[np.ix_(entered, self._base)]
        columns[entered.size + np.arange(left.size), np.searchsorted(self._base, left)] = 1.0
        corner[: entered.size, : entered.size] = self._A[np.ix_(entered, entered)] + np.diag(shift[entered])
        self._border, self._entered = self._cholesky.border(columns, corner), entered
        return self._border is not None

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        if self._border is None:
            dx[self._free] = self._cholesky.solve(r[self._free])
            return dx
        extra = np.zeros(self._border.exchange.size)
        extra[: self._entered.size] = r[self._entered]
        inside, outside = self._border.solve(r[self._base], extra)
        dx[self._base] = inside
        dx[self._entered] = outside[: self._entered.size]
        held = np.ones(r.size, dtype=np.bool_)
        held[self._free] = False
        dx[held] = 0.0  # zero up to rounding
        return dx

    def slack(self, problem: Problem, x: Vector, out: Vector) -> Vector:
        dense.slack_by_rows(self._A.reshape(-1), problem.b, x, self._nonzero, out)
        return out

    def counters(self) -> dict[str, float]:
        return super().counters() | {"borders": self.borders, "flops": self._cholesky.flops}


class DenseGeneral(FreeSystem):
    """LU with row exchanges."""

    name = "dense"

    def __init__(self, A: NDArray[np.float64]) -> None:
        super().__init__()
        self._A = read_only(A)
        n = self._A.shape[0]
        self._address = blas.product_address()
        self._factor, self._exchange = np.empty(n * n), np.empty(n, dtype=np.int64)
        self._inverse = np.empty(dense_factors.BLOCK * dense_factors.BLOCK)
        self._work = np.empty(n * dense_factors.BLOCK)
        self._row_size = np.abs(self._A).max(axis=1, initial=0.0)
        self._free = np.empty(0, dtype=np.intp)
        self._flops = 0.0

    def factor(self, free: Mask, shift: Vector) -> None:
        rows = np.flatnonzero(free)
        size = rows.size
        operations = 2.0 * size**3 / 3.0
        begun = DENSE.require(operations)
        self._free = rows
        dense_factors.gather_whole_square(self._A, self._free.astype(np.int64), size, self._factor)
        self._factor[: size * size : size + 1] += shift[self._free]
        floor = dependence(size) * self._row_size[self._free]
        small = dense_factors.factor_lu(
            self._address, self._factor, size, floor, self._exchange, self._inverse, self._work
        )
        if small < 0:
            raise NotFinite("the matrix, or a number on the way to its factor, is not finite")
        self.dependent: int = int(small)
        self.added: Vector = shift.copy()
        self.factorisations += 1
        self._flops += operations
        DENSE.learn(operations, now() - begun)

    def solve(self, r: Vector) -> Vector:
        part = r[self._free]
        dense_factors.solve_lu(self._factor, part.size, self._exchange, part)
        dx = np.zeros(r.size)
        dx[self._free] = part
        return dx

    def counters(self) -> dict[str, float]:
        return super().counters() | {"flops": self._flops}
