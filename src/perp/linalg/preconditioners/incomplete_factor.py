"""What incomplete Cholesky factors have in common: the free rows, the substitutions, and how they survive a breakdown.

P = L L^T is symmetric and positive definite whenever L is finite with a positive diagonal, whatever it was made of
(also with imaginary columns, where THESIS Algorithm 7 has the signs wrong). Dropping entries can make a pivot negative
although A is positive definite; the recipes differ in what they do then. All end in a factor that can be used: an L
whose P would be singular to working precision is not taken, but made with more on the diagonal, and in the end from it
alone. The pattern of A is sorted once, and the lower triangle of the free rows is gathered from it (`LowerTriangle`).
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from perp.kernels.factors import incomplete
from perp.kernels.factors import incomplete as kernels
from perp.linalg.cholesky import dependence
from perp.linalg.orderings import order
from perp.linalg.plan import with_diagonal
from perp.linalg.preconditioners.base import Mask, Preconditioner
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import Operator

WORST = 1e15
"""The condition number of P, in units of the diagonal of A, above which P^-1 r is noise: conjugate gradients then meet
what looks like negative curvature, and in long chains of rows numbers overflow."""

FIRST_SHIFT, GROWTH = 1e-3, 2.0
"""Shares of the diagonal that are added to it: the first, and by how much it grows (Lin & More 1999)."""

MOST_SHIFTS = 60
"""Attempts to shift all of the diagonal; at the usual growth the last one is by 1e14 times the diagonal."""

Indices = NDArray[np.uint32]


class IncompleteFactor(Preconditioner):
    """P = L L^T ~ A_FF + diag(shift), in the order of a triangle."""

    def __init__(self, A: Operator, ordering: str) -> None:
        self._triangle = LowerTriangle(A, ordering)
        n = self._triangle.n
        self._free: Mask = np.zeros(n, dtype=np.bool_)
        self._shift = np.zeros(n)
        self._followed = False
        self._tolerance = dependence(1)
        self._added = np.zeros(n)
        """What is on the diagonal beside A and the shift."""
        self._kind: NDArray[np.uint8] = np.zeros(n, dtype=np.uint8)
        self._shifts = 0
        self._work = np.empty(n)

    def follow(self, free: Mask, shift: Vector) -> None:
        if self._followed and np.array_equal(free, self._free) and np.array_equal(shift[free], self._shift[free]):
            return
        self._free[:], self._shift[:] = free, shift
        triangle = self._triangle
        triangle.gather(self._free, self._shift)
        longest = np.diff(triangle.start[: triangle.count + 1]).max(initial=0)
        self._tolerance = dependence(int(longest))
        self._shifts = 0
        self._added[:] = 0.0
        self._make()
        self._followed = True

    def apply(self, r: Vector) -> Vector:
        rows = self._triangle.rows[: self._triangle.count]
        z = np.zeros(r.size)
        z[rows] = self._solve(r[rows])
        return z

    def report(self) -> dict[str, float]:
        """`shifts` are factorisations that were begun again, `compensation` is the largest share added to a diagonal
        entry, `small_pivots` are rows that depend on others, `decoupled_rows` those of which only that entry is in P.
        """
        count, kind = self._triangle.count, self._kind[: self._triangle.count]
        return {
            "nonzeros": self._nonzeros(),
            "shifts": self._shifts,
            "compensation": float((self._added[:count] / self._triangle.size[:count]).max(initial=0.0)),
            "imaginary_columns": int(np.count_nonzero(kind == kernels.IMAGINARY)),
            "small_pivots": int(np.count_nonzero(kind == kernels.SMALL)),
            "decoupled_rows": int(np.count_nonzero(kind == kernels.DECOUPLED)),
        }

    def factor(self) -> tuple[Integers, Integers, Indices, Vector]:
        """L as it is: the row of A that each of its rows is, and `start`, `row`, `values` by columns."""
        start, row, values = self._storage()
        nonzeros = self._nonzeros()
        count = self._triangle.count
        rows = self._triangle.rows[:count]
        return rows.copy(), start[: count + 1].copy(), row[:nonzeros].copy(), values[:nonzeros].copy()

    @abstractmethod
    def _make(self) -> None:
        """L for the rows that the triangle has gathered."""

    @abstractmethod
    def _attempt(self, rule: int, tolerance: float) -> bool:
        """Factor with what is `_added` by now; whether L is whole."""

    @abstractmethod
    def _storage(self) -> tuple[Integers, Indices, Vector]:
        """L by columns: start, row, values."""

    def _nonzeros(self) -> int:
        return int(self._storage()[0][self._triangle.count])

    def _solve(self, z: Vector) -> Vector:
        kernels.solve(self._triangle.count, *self._storage(), z)
        return z

    def _succeeds(self, rule: int) -> bool:
        """Whether an L came out that can be used."""
        if not self._attempt(rule, self._tolerance):
            return False
        size = self._triangle.size
        return bool(kernels.guess_condition(self._triangle.count, *self._storage(), size, self._work) <= WORST)

    def _compensate(self, first: float = FIRST_SHIFT, growth: float = GROWTH) -> None:
        """Factor A + alpha diag(A) for alpha = 0, first, first growth, ... until L exists (THESIS 4.1.2)."""
        count, alpha = self._triangle.count, 0.0
        for _ in range(MOST_SHIFTS):
            self._added[:count] = alpha * self._triangle.size[:count]
            if self._succeeds(incomplete.STOP):
                return
            self._shifts += 1
            alpha = alpha * growth if alpha > 0.0 else first
        self._keep_diagonal()

    def _keep_diagonal(self) -> None:
        """P = diag(A)."""
        self._added[:] = 0.0
        self._attempt(
            incomplete.DECOUPLE, 1.0
        )  # no pivot exceeds its diagonal entry, so that every row counts as dependent
        self._kind[: self._triangle.count] = incomplete.DECOUPLED


class LowerTriangle:
    """`LowerTriangle(A, ordering)`, then `gather(free, shift)`, which is linear in the nonzeros and allocates nothing.

    Columns and rows are the free ones in the chosen order; `count` of them. Arrays are as long as all rows would need;
    how they lie is said in `perp.kernels.factors.incomplete_cholesky`.
    """

    def __init__(self, A: Operator, ordering: str) -> None:
        matrix = with_diagonal(A.to_sparse())
        matrix.sum_duplicates()
        n = matrix.shape[0]
        permutation = order(matrix, ordering).astype(np.int64)
        inverse = np.empty_like(permutation)
        inverse[permutation] = np.arange(n)
        row, column = inverse[np.repeat(np.arange(n), np.diff(matrix.indptr))], inverse[matrix.indices]
        below = np.flatnonzero(row >= column)
        below = below[np.lexsort((row[below], column[below]))]
        self._order = freeze(permutation)
        self._start = freeze(np.searchsorted(column[below], np.arange(n + 1)).astype(np.int64))
        self._row: Indices = freeze(row[below].astype(np.uint32))
        self._values = freeze(np.asarray(matrix.data[below], dtype=np.float64))
        self._number: Integers = np.empty(n, dtype=np.int64)
        self._row_last: Integers = np.empty(n, dtype=np.int64)

        nonzeros = below.size
        self.n = n
        self.count: int = 0
        self.rows: Integers = np.empty(n, dtype=np.int64)
        """The row of A that each row here is."""
        self.start: Integers = np.zeros(n + 1, dtype=np.int64)
        self.row: Indices = np.empty(nonzeros, dtype=np.uint32)
        self.values: Vector = np.empty(nonzeros)
        self.size: Vector = np.empty(n)
        """|A_ii + shift_i|, or another positive number where that is zero."""
        self.row_first: Integers = np.empty(n, dtype=np.int64)
        self.row_next: Integers = np.empty(nonzeros, dtype=np.int64)
        self.column: Indices = np.empty(nonzeros, dtype=np.uint32)

    @property
    def nonzeros(self) -> int:
        return int(self.start[self.count])

    def gather(self, free: Mask, shift: Vector) -> None:
        """The arguments must be writable arrays: kernels are compiled for one kind of array only."""
        self.count = int(
            kernels.gather(
                self._order, self._start, self._row, self._values, free, shift, self._number,
                self.rows, self.start, self.row, self.values, self.size, self.row_first, self._row_last,
                self.row_next, self.column,
            )
        )  # fmt: skip
