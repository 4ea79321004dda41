"""Incomplete Cholesky without fill: L has the pattern of the lower triangle of A_FF (THESIS 4.1.1-4.1.5).

One kernel makes the columns of all of them; they differ in what happens at a negative pivot:

    ic0                 the row is taken out of the factor, as if only its diagonal entry were in A; no restart
    compensated_ic0     all begins again with more on the diagonal
    partial_shift_ic0   the columns that reduced this pivot get more on their diagonal, and only they are made again
    imaginary_ic0       the magnitude is taken and the sign kept in mind; no restart

Where the first, third or fourth would be singular to working precision, it is replaced by the second; `shifts` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.errors import suggest
from perp.kernels.factors import incomplete
from perp.kernels.factors import incomplete as kernels
from perp.linalg.cholesky import dependence
from perp.linalg.orderings import METHODS
from perp.linalg.preconditioners.base import Preconditioner, Recipe
from perp.linalg.preconditioners.grid_factor import MOST_AXES, GridFactor
from perp.linalg.preconditioners.incomplete_factor import FIRST_SHIFT, GROWTH, IncompleteFactor, Indices
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, require_number
from perp.problems.operators.base import TO_SPARSE, Operator
from perp.problems.problem import Problem

MOST_WORK = 50
"""Partial shifts may make this many times as many columns again as there are."""


class _ZeroFill(IncompleteFactor):
    """What a negative pivot means is said by those that inherit, in `_make`."""

    _gamma = 0.0
    """The unit of partial shifts."""

    def __init__(self, A: Operator, ordering: str) -> None:
        super().__init__(A, ordering)
        n = self._triangle.n
        self._values = np.empty(self._triangle.values.size)
        self._times: Integers = np.zeros(n, dtype=np.int64)
        self._place: Integers = np.full(n, -1, dtype=np.int64)

    def _attempt(self, rule: int, tolerance: float) -> bool:
        t = self._triangle
        self._times[:] = 0
        made = kernels.factor(
            t.count, rule, tolerance, self._gamma, MOST_WORK * t.count,
            t.start, t.row, t.row_first, t.row_next, t.column, t.values,
            t.size, self._added, self._values, self._kind, self._times, self._place,
        )  # fmt: skip
        return bool(made == t.count)

    def _storage(self) -> tuple[Integers, Indices, Vector]:
        return self._triangle.start, self._triangle.row, self._values


class _Decoupled(_ZeroFill):
    def _make(self) -> None:
        if not self._succeeds(incomplete.DECOUPLE):
            self._compensate()


class _Compensated(_ZeroFill):
    def __init__(self, A: Operator, ordering: str, first: float, growth: float) -> None:
        super().__init__(A, ordering)
        self._first, self._growth = first, growth

    def _make(self) -> None:
        self._compensate(self._first, self._growth)


class _PartlyShifted(_ZeroFill):
    def __init__(self, A: Operator, ordering: str, gamma: float) -> None:
        super().__init__(A, ordering)
        self._gamma = gamma

    def _make(self) -> None:
        usable = self._succeeds(incomplete.SHIFT)
        self._shifts = int(self._times.sum())
        if not usable:
            self._compensate()


class _Imaginary(_ZeroFill):
    def _make(self) -> None:
        if not self._succeeds(incomplete.TAKE_MAGNITUDE):
            self._compensate()


@dataclass(frozen=True)
class IncompleteRecipe(Recipe):
    """What recipes of incomplete factors share: A must be at hand, and its rows come in an order."""

    needs: ClassVar[frozenset[str]] = frozenset({TO_SPARSE})

    ordering: str = "natural"

    def __post_init__(self) -> None:
        if self.ordering not in (*METHODS, "best"):
            raise ValueError(f"ordering is {self.ordering!r}{suggest(str(self.ordering), (*METHODS, 'best'))}")


@dataclass(frozen=True)
class IC0(IncompleteRecipe):
    """L L^T = A_FF wherever A_FF has an entry, and no entry elsewhere (THESIS Algorithm 4; Meijerink & van der Vorst
    1977).

    The listing breaks down at a negative pivot. Here such a row is decoupled: P keeps its diagonal entry and drops its
    other ones, and L is what it would be for a matrix without them. `report()` counts `decoupled_rows`.

    On a stencil, in the order of its cells, the same L takes one number a cell; where that has a negative pivot, A is
    formed after all.
    """

    name: ClassVar[str] = "ic0"
    reference: ClassVar[str] = "THESIS Algorithm 4"

    def prepare(self, problem: Problem) -> Preconditioner:
        A = problem.A

        def by_entries() -> Preconditioner:
            return _Decoupled(A, self.ordering)

        if A.stencil is not None and len(A.stencil.grid) <= MOST_AXES and self.ordering == "natural":
            return GridFactor(A.stencil, 0.0, dependence(len(A.stencil.grid) + 1), False, by_entries)
        return by_entries()


@dataclass(frozen=True)
class CompensatedIC0(IncompleteRecipe):
    """IC(0) of A_FF + alpha diag(A_FF), alpha = 0, `first_shift`, `growth` times that, ... until all pivots are
    positive (THESIS 4.1.2; Manteuffel 1980; Lin & More 1999, whose numbers these are).
    """

    name: ClassVar[str] = "compensated_ic0"
    reference: ClassVar[str] = "THESIS 4.1.2"

    first_shift: float = FIRST_SHIFT
    growth: float = GROWTH

    def __post_init__(self) -> None:
        super().__post_init__()
        require_shifts(self.first_shift, self.growth)

    def prepare(self, problem: Problem) -> Preconditioner:
        return _Compensated(problem.A, self.ordering, self.first_shift, self.growth)


@dataclass(frozen=True)
class PartialShiftIC0(IncompleteRecipe):
    """IC(0); at a negative pivot the columns that reduced it, and its own, get 2^p `gamma` times their diagonal entry
    more, p being how often that happened to them before, and the factor is made again from the first of them
    (THESIS 4.1.4; Chen, Schaefer, Huang & Desbrun 2021).

    The column's own shift is not in the text, but without it a diagonal entry that is negative from the beginning
    could not be mended. As columns are shifted again and again, doubling has an end: a diagonal entry that is twice
    what it was stays, and a pivot that is negative all the same is decoupled as in `ic0`. Where the columns that are
    made again cost as much as 50 factors, all begins again as in `compensated_ic0`. `report()` counts each shift of a
    column in `shifts`.
    """

    name: ClassVar[str] = "partial_shift_ic0"
    reference: ClassVar[str] = "THESIS 4.1.4"

    gamma: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.gamma, "gamma", positive=True)

    def prepare(self, problem: Problem) -> Preconditioner:
        return _PartlyShifted(problem.A, self.ordering, self.gamma)


@dataclass(frozen=True)
class ImaginaryIC0(IncompleteRecipe):
    """IC(0) whose columns with a negative pivot are imaginary: their magnitude is stored, their sign counts in the
    updates (THESIS Algorithm 6).

    With M the matrix of magnitudes, P = M M^T is real and positive definite, and is applied by plain substitution (the
    signs in THESIS Algorithm 7 are wrong). It is the factor L D L^T of LDL with |D| in the place of D.
    """

    name: ClassVar[str] = "imaginary_ic0"
    reference: ClassVar[str] = "THESIS Algorithm 6"

    def prepare(self, problem: Problem) -> Preconditioner:
        return _Imaginary(problem.A, self.ordering)


def require_shifts(first_shift: float, growth: float) -> None:
    require_number(first_shift, "first_shift", positive=True)
    require_number(growth, "growth", positive=True)
    if growth <= 1.0:
        raise ValueError(f"growth is {growth}; a number > 1 is needed")
