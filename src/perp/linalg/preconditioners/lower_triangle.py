"""The lower triangle of A_FF + diag(shift) for a set F that changes: the pattern of A is sorted once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.linalg.orderings import order
from perp.linalg.plan import with_diagonal
from perp.linalg.preconditioners.base import Mask
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import Operator

Indices = NDArray[np.uint32]


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
        from perp.kernels.factors import incomplete_cholesky as kernels

        self.count = int(
            kernels.gather(
                self._order, self._start, self._row, self._values, free, shift, self._number,
                self.rows, self.start, self.row, self.values, self.size, self.row_first, self._row_last,
                self.row_next, self.column,
            )
        )  # fmt: skip
