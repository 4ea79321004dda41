"""Incomplete Cholesky that keeps what is large, wherever it is (THESIS 4.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.factors import incomplete as kernels
from perp.linalg.preconditioners.base import Preconditioner
from perp.linalg.preconditioners.incomplete_cholesky import IncompleteRecipe, require_shifts
from perp.linalg.preconditioners.incomplete_factor import FIRST_SHIFT, GROWTH, IncompleteFactor, Indices
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import Operator
from perp.problems.problem import Problem


class _Threshold(IncompleteFactor):
    def __init__(self, A: Operator, recipe: ICT) -> None:
        super().__init__(A, recipe.ordering)
        self._recipe = recipe
        n = self._triangle.n
        self._largest = min(recipe.largest, n)
        self._start: Integers = np.zeros(n + 1, dtype=np.int64)
        self._row: Indices = np.empty(0, dtype=np.uint32)
        self._values = np.empty(0)
        self._next: Integers = np.empty(0, dtype=np.int64)
        self._column: Indices = np.empty(0, dtype=np.uint32)
        self._row_first: Integers = np.empty(n, dtype=np.int64)
        self._row_last: Integers = np.empty(n, dtype=np.int64)
        self._mark: Integers = np.empty(n, dtype=np.int64)
        self._touched: Indices = np.empty(n, dtype=np.uint32)
        self._magnitude = np.empty(n)
        self._reserve(min(n * (self._largest + 1), 2 * self._triangle.values.size + self._largest))

    def _make(self) -> None:
        self._compensate(self._recipe.first_shift, self._recipe.growth)

    def _attempt(self, rule: int, tolerance: float) -> bool:
        t, done, full = self._triangle, 0, True
        while full:
            done, full = kernels.factor_by_threshold(
                done, t.count, rule, tolerance, self._recipe.drop_tolerance, self._largest,
                t.start, t.row, t.values, t.size, self._added,
                self._start, self._row, self._values, self._row_first, self._row_last, self._next, self._column,
                self._kind, self._mark, self._touched, self._work, self._magnitude,
            )  # fmt: skip
            if full:
                self._reserve(2 * self._values.size + self._largest + 1)
        return bool(done == t.count)

    def _storage(self) -> tuple[Integers, Indices, Vector]:
        return self._start, self._row, self._values

    def _reserve(self, room: int) -> None:
        """More room for L; what is there stays."""
        self._row, self._column = np.resize(self._row, room), np.resize(self._column, room)
        self._values, self._next = np.resize(self._values, room), np.resize(self._next, room)


@dataclass(frozen=True)
class ICT(IncompleteRecipe):
    """Incomplete Cholesky that drops entries below tau_j = `drop_tolerance` |a_j|, a_j being column j of the lower
    triangle of A_FF, and keeps the `largest` largest of each column beside its diagonal (THESIS Algorithm 5).

    At a negative pivot it begins again with more on the diagonal, as `compensated_ic0` does.

    Three things in the listing are not as they should be. Entries are compared with their sign; here by magnitude. Line
    13 compares an entry of L, whose unit is the root of that of A, with tau_j; here with tau_j / sqrt(A_jj), the same
    for a unit diagonal, so that P for c A is c times P for A. And tau_i in line 21 must be tau_j, that of the column in
    which the entry stands, as the text says.
    """

    name: ClassVar[str] = "ict"
    reference: ClassVar[str] = "THESIS Algorithm 5"

    drop_tolerance: float = 1e-3
    largest: int = 50
    first_shift: float = FIRST_SHIFT
    growth: float = GROWTH

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.drop_tolerance, "drop_tolerance")
        require_count(self.largest, "largest")
        require_shifts(self.first_shift, self.growth)

    def prepare(self, problem: Problem) -> Preconditioner:
        return _Threshold(problem.A, self)
