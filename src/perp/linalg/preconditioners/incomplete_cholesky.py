"""Incomplete Cholesky recipes (THESIS 4.1.1-4.1.5): where L has entries, and what happens to what is dropped.

Without fill, L has the pattern of the lower triangle of A_FF. One kernel makes the columns of four recipes, which
differ in what happens at a negative pivot:

    ic0                 the row is taken out of the factor, as if only its diagonal entry were in A; no restart
    compensated_ic0     all begins again with more on the diagonal
    partial_shift_ic0   the columns that reduced this pivot get more on their diagonal, and only they are made again
    imaginary_ic0       the magnitude is taken and the sign kept in mind; no restart

Where the first, third or fourth would be singular to working precision, it is replaced by the second; `shifts` tells.
Two more go other ways:

    ict                 keeps what is large, wherever it is
    mic0                without fill; what is dropped comes off the diagonal, so that P acts on constants as A does
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.errors import suggest
from perp.kernels.factors import incomplete
from perp.linalg.cholesky import dependence
from perp.linalg.orderings import METHODS
from perp.linalg.preconditioners.base import Preconditioner, Recipe
from perp.linalg.preconditioners.incomplete_factor import (
    FIRST_SHIFT,
    GROWTH,
    MOST_AXES,
    GridFactor,
    IncompleteFactor,
    Indices,
)
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, require_count, require_number
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
        made = incomplete.factor(
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


# -- what is large, wherever it is -------------------------------------------------------------------------------------


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
            done, full = incomplete.factor_by_threshold(
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


# -- what is dropped comes off the diagonal ----------------------------------------------------------------------------


class _Modified(IncompleteFactor):
    """By the entries of A; P is the diagonal where no usable factor comes out."""

    def __init__(self, A: Operator, ordering: str, tau: float, sigma: float) -> None:
        super().__init__(A, ordering)
        self._tau, self._sigma = float(tau), float(sigma)
        n = self._triangle.n
        self._values = np.empty(self._triangle.values.size)
        self._lowered = np.empty(n)
        self._place: Integers = np.full(n, -1, dtype=np.int64)

    def _make(self) -> None:
        if not self._succeeds(rule=0):
            t = self._triangle
            self._values[:] = 0.0
            self._values[t.start[: t.count]] = np.sqrt(t.size[: t.count])

    def _attempt(self, rule: int, tolerance: float) -> bool:
        t = self._triangle
        incomplete.factor_modified(
            t.count, self._tau, self._sigma,
            t.start, t.row, t.row_first, t.row_next, t.column, t.values,
            t.size, self._lowered, self._values, self._kind, self._place,
        )  # fmt: skip
        return True

    def _storage(self) -> tuple[Integers, Indices, Vector]:
        return self._triangle.start, self._triangle.row, self._values


@dataclass(frozen=True)
class MIC0(IncompleteRecipe):
    """Incomplete Cholesky without fill whose dropped entries come off the diagonal, times `tau` (Gustafsson 1978).

    With tau = 1 the row sums of P are those of A, and the condition number of P^-1 A on a grid of width h grows as 1/h
    instead of 1/h^2: conjugate gradients take about h^-1/2 iterations, not h^-1. A little less than 1 is safer, and
    better on grids of up to about a hundred cells a side (Bridson 2008: 0.97); on much finer ones any fixed tau < 1
    brings h^-1 back. A pivot below `sigma` times its diagonal entry becomes that entry.

    For matrices without positive entries off the diagonal, as in pressure equations: there no pivot gets lost that A
    has not lost itself. On a stencil, in the order of its cells, one number a cell is all that is stored.
    """

    name: ClassVar[str] = "mic0"
    reference: ClassVar[str] = "Gustafsson 1978; Bridson 2008, section 4.3"

    tau: float = 0.97
    sigma: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tau", "sigma"):
            require_number(getattr(self, name), name)
            if getattr(self, name) > 1.0:
                raise ValueError(f"{name} is {getattr(self, name)}; a share of at most 1 is needed")

    def objection(self, problem: Problem) -> str | None:
        return super().objection(problem) or _positive_coupling(problem.A)

    def prepare(self, problem: Problem) -> Preconditioner:
        A = problem.A

        def by_entries() -> Preconditioner:
            return _Modified(A, self.ordering, self.tau, self.sigma)

        if A.stencil is not None and len(A.stencil.grid) <= MOST_AXES and self.ordering == "natural":
            return GridFactor(A.stencil, self.tau, self.sigma, True, by_entries)
        return by_entries()


def _positive_coupling(A: Operator) -> str | None:
    """Names an entry off the diagonal that is positive, which would make the diagonal of P too large or too small."""
    stencil = A.stencil
    if stencil is not None:
        for axis in range(len(stencil.grid)):
            most = float(np.max(stencil.between(axis), initial=-np.inf))
            if most > 0.0:
                return (
                    f"preconditioner 'mic0' is for couplings <= 0, and one across axis {axis} is {most:g}; take 'ic0'"
                )
        return None
    entries = A.to_sparse().tocoo()
    positive = np.flatnonzero((entries.row != entries.col) & (entries.data > 0.0))
    if not positive.size:
        return None
    at = positive[np.argmax(entries.data[positive])]
    place = f"A[{entries.row[at]},{entries.col[at]}] = {entries.data[at]:g}"
    return f"preconditioner 'mic0' is for matrices without positive entries off the diagonal, and {place}; take 'ic0'"
