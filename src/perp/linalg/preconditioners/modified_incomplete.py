"""Modified incomplete Cholesky: what is dropped comes off the diagonal, so that P acts on constants as A does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.factors import incomplete as kernels
from perp.linalg.preconditioners.base import Preconditioner
from perp.linalg.preconditioners.grid_factor import MOST_AXES, GridFactor
from perp.linalg.preconditioners.incomplete_cholesky import IncompleteRecipe
from perp.linalg.preconditioners.incomplete_factor import IncompleteFactor, Indices
from perp.linalg.symbolic import Integers
from perp.problems.inputs import Vector, require_number
from perp.problems.operators.base import Operator
from perp.problems.problem import Problem


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
        kernels.factor_modified(
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
