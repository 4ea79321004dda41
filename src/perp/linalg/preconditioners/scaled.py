"""Another preconditioner, made for the matrix after a diagonal scaling (THESIS 4.1.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from perp.errors import suggest
from perp.linalg import preconditioners
from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe
from perp.problems.inputs import Vector
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem

MEASURES = ("diagonal", "columns")


class _Scaled(Preconditioner):
    """P^-1 = S Q^-1 S, where Q ~ S A S."""

    def __init__(self, scales: Vector, inner: Preconditioner) -> None:
        self._scales, self._inner = scales, inner

    def follow(self, free: Mask, shift: Vector) -> None:
        self._inner.follow(free, self._scales * shift * self._scales)

    def apply(self, r: Vector) -> Vector:
        return self._scales * self._inner.apply(self._scales * r)

    def report(self) -> dict[str, float]:
        return self._inner.report() | {"scaled": 1}


@dataclass(frozen=True)
class ScaledPreconditioner(Recipe):
    """Scale A to S A S, make the preconditioner `inner` for that, and scale back.

    S_ii is 1 / sqrt(A_ii) (`by="diagonal"`), or one over the root of the 2-norm of column i (`by="columns"`). The text
    says the inverse of the diagonal and the norm itself, which would scale twice over: S stands on both sides, and
    the codes that it cites (Chen et al. 2021; Scott & Tuma 2014, after Lin & Moré 1999) take the root. Columns are
    measured over all rows, so that S does not change with the free set.

    It matters to what drops or shifts by size (ICT, compensated IC(0)); Jacobi, Gauss-Seidel and plain IC(0) are the
    same with it and without.
    """

    name: ClassVar[str] = "scaled"
    needs: ClassVar[frozenset[str]] = frozenset({DIAGONAL, TO_SPARSE})
    reference: ClassVar[str] = "THESIS 4.1.6"

    inner: str | Recipe = "ict"
    by: str = "diagonal"

    def __post_init__(self) -> None:
        if self.by not in MEASURES:
            raise ValueError(f"by is {self.by!r}{suggest(str(self.by), MEASURES)}")
        self._recipe()

    def _recipe(self) -> Recipe:
        return preconditioners.make_recipe(self.inner)

    def objection(self, problem: Problem) -> str | None:
        return super().objection(problem) or self._recipe().objection(problem)

    def prepare(self, problem: Problem) -> Preconditioner:
        matrix = problem.A.to_sparse()
        assert problem.diagonal is not None
        squares = sparse.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
        size = np.abs(problem.diagonal) if self.by == "diagonal" else np.sqrt(squares.sum(axis=0))
        scales = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        spread = sparse.diags_array(scales)
        scaled = sparse.csr_array(spread @ matrix @ spread)
        A = problem.A.in_this_form(scaled)
        return _Scaled(scales, self._recipe().prepare(problem.with_matrix(A)))
