"""What incomplete Cholesky factors have in common: the free rows, the substitutions, and how they survive a breakdown.

P = L L^T is symmetric and positive definite whenever L is finite with a positive diagonal, whatever it was made of
(also with imaginary columns, where THESIS Algorithm 7 has the signs wrong). Dropping entries can make a pivot negative
although A is positive definite; the recipes differ in what they do then. All end in a factor that can be used: an L
whose P would be singular to working precision is not taken, but made with more on the diagonal, and in the end from it
alone. The pattern of A is sorted once, and the lower triangle of the free rows is gathered from it (`LowerTriangle`).

On a stencil, one number a cell is all that is stored, and A is never formed (`GridFactor`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.factors import incomplete
from perp.kernels.grid import cholesky as grid_cholesky
from perp.linalg.cholesky import dependence
from perp.linalg.orderings import order
from perp.linalg.plan import with_diagonal
from perp.linalg.preconditioners.base import Mask, Preconditioner
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import StencilOperator
from perp.problems.operators.base import Operator

WORST = 1e15
"""The condition number of P, in units of the diagonal of A, above which P^-1 r is noise: conjugate gradients then meet
what looks like negative curvature, and in long chains of rows numbers overflow."""
FIRST_SHIFT, GROWTH = 1e-3, 2.0
"""Shares of the diagonal that are added to it: the first, and by how much it grows (Lin & More 1999)."""
MOST_SHIFTS = 60
"""Attempts to shift all of the diagonal; at the usual growth the last one is by 1e14 times the diagonal."""
Indices = NDArray[np.uint32]

MOST_AXES = 3


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
            "imaginary_columns": int(np.count_nonzero(kind == incomplete.IMAGINARY)),
            "small_pivots": int(np.count_nonzero(kind == incomplete.SMALL)),
            "decoupled_rows": int(np.count_nonzero(kind == incomplete.DECOUPLED)),
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
        incomplete.solve(self._triangle.count, *self._storage(), z)
        return z

    def _succeeds(self, rule: int) -> bool:
        """Whether an L came out that can be used."""
        if not self._attempt(rule, self._tolerance):
            return False
        size = self._triangle.size
        return bool(incomplete.guess_condition(self._triangle.count, *self._storage(), size, self._work) <= WORST)

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
    how they lie is said in `perp.kernels.factors.incomplete`.
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
            incomplete.gather(
                self._order, self._start, self._row, self._values, free, shift, self._number,
                self.rows, self.start, self.row, self.values, self.size, self.row_first, self._row_last,
                self.row_next, self.column,
            )
        )  # fmt: skip


def line_couplings(A: StencilOperator) -> tuple[Any, ...]:
    """Shape, step and couplings as `perp.kernels.grid.cholesky` reads them; axes of size one come before the others."""
    missing = MOST_AXES - len(A.grid)
    sizes = [np.uint64(size) for size in (1,) * missing + A.grid]
    if A.faces is not None:
        weights, step = list(A.faces), 1
    else:
        assert A.couplings is not None
        lines = np.outer(A.couplings, np.ones(A.grid[-1] + 1))
        lines[-1, [0, -1]] = 0.0
        weights, step = [freeze(line.copy()) for line in lines], 0
    return *sizes, np.uint64(step), *weights[:1] * missing, *weights


def is_dominant(A: StencilOperator) -> bool:
    """Whether no coupling is positive and no row sum negative, beyond rounding: pivots then stay positive, and no
    substitution amplifies."""
    most = max((float(np.max(A.between(axis), initial=-np.inf)) for axis in range(len(A.grid))), default=0.0)
    if most > 0.0:
        return False
    sums = A.slack(np.ones(A.n), freeze(np.zeros(A.n)), np.empty(A.n))
    return bool((sums >= -dependence(2 * len(A.grid)) * A.centre).all())


class GridFactor(Preconditioner):
    """P = (E + L) E^-1 (E + L^T) on the free cells (`perp.kernels.grid.cholesky`).

    Where a pivot is of no use, or P would be singular to working precision, `otherwise` makes the preconditioner that
    takes over for these cells: the same one for a matrix that is given by its entries, which knows what to do.
    """

    def __init__(
        self, A: StencilOperator, tau: float, least: float, mends: bool, otherwise: Callable[[], Preconditioner]
    ) -> None:
        self._A, self._options = A, (float(tau), float(least), mends)
        self._grid = line_couplings(A)
        self._is_dominant = is_dominant(A)
        self._free: Mask = np.zeros(A.n, dtype=np.bool_)
        self._shift = np.zeros(A.n)
        self._inverse = np.zeros(A.n)
        self._make_other = otherwise
        self._other: Preconditioner | None = None
        self._has_factor = True
        self._followed = False

    def follow(self, free: Mask, shift: Vector) -> None:
        if self._followed and np.array_equal(free, self._free) and np.array_equal(shift, self._shift):
            return
        self._free[:], self._shift[:], self._followed = free, shift, True
        numbers = (self._A.centre, self._free, self._shift, *self._options, self._inverse)
        lost = grid_cholesky.factor(*self._grid, *numbers)
        is_safe = self._is_dominant and not shift.min(initial=0.0) < 0.0
        self._has_factor = lost == 0 and (is_safe or self._is_sound())
        if not self._has_factor:
            self._other = self._other or self._make_other()
            self._other.follow(free, shift)

    def _is_sound(self) -> bool:
        """Whether P^-1 of a probe, in units of the diagonal, is no larger than working precision allows."""
        root = np.sqrt(np.abs(self._A.centre + self._shift))
        probe = self._substitute(root * np.cos(np.arange(root.size)))
        return bool(np.abs(probe * root).max(initial=0.0) <= WORST)

    def _substitute(self, r: Vector) -> Vector:
        z = np.empty(r.size)
        if z.size:
            grid_cholesky.substitute(*self._grid, self._inverse, r, z)
        return z

    def apply(self, r: Vector) -> Vector:
        if not self._has_factor:
            assert self._other is not None
            return self._other.apply(r)
        return self._substitute(r)

    @property
    def pivots(self) -> Vector:
        """E, zero where a cell is not free."""
        e = np.zeros(self._inverse.size)
        np.divide(1.0, self._inverse, out=e, where=self._free)
        return e

    def report(self) -> dict[str, float]:
        if not self._has_factor:
            assert self._other is not None
            return self._other.report()
        cells, faces = self._free.reshape(self._A.grid), 0
        for axis in range(len(self._A.grid)):
            ahead, behind = cells.swapaxes(0, axis)[1:], cells.swapaxes(0, axis)[:-1]
            coupled = np.swapaxes(
                np.broadcast_to(np.not_equal(self._A.between(axis), 0.0), _ahead(self._A, axis)), 0, axis
            )
            faces += int(np.count_nonzero(ahead & behind & coupled))
        nothing = ("shifts", "compensation", "imaginary_columns", "small_pivots", "decoupled_rows")
        return {"nonzeros": float(np.count_nonzero(cells) + faces)} | dict.fromkeys(nothing, 0.0)


def _ahead(A: StencilOperator, axis: int) -> tuple[int, ...]:
    """The shape of the couplings across an axis."""
    return tuple(size - (k == axis) for k, size in enumerate(A.grid))
