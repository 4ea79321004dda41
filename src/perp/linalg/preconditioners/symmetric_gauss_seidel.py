"""One symmetric Gauss-Seidel sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.factors import splittings
from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe, positive_diagonal
from perp.problems.inputs import Vector
from perp.problems.operators import Operator
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem


class _Sweep(Preconditioner):
    def __init__(self, A: Operator, diagonal: Vector) -> None:
        rows = A.compressed()
        self._rows = (rows.pointers, rows.indices, rows.values)
        below, above = np.empty(rows.n, dtype=np.uint64), np.empty(rows.n, dtype=np.uint64)
        splittings.split_rows(rows.pointers, rows.indices, below, above)
        self._parts = (below, above)
        self._given = diagonal
        self._diagonal = np.empty(0)
        self._free: Mask = np.zeros(rows.n, dtype=np.bool_)

    def follow(self, free: Mask, shift: Vector) -> None:
        self._free = free.copy()
        self._diagonal = positive_diagonal(self._given, shift)

    def apply(self, r: Vector) -> Vector:
        z = np.where(self._free, r, 0.0)
        splittings.sweep_both_ways(*self._rows, *self._parts, self._diagonal, self._free, z)
        return z

    def report(self) -> dict[str, float]:
        return {"nonzeros": int(self._rows[2].size)}


@dataclass(frozen=True)
class SymmetricGaussSeidelPreconditioner(Recipe):
    """P = (D + L) D^-1 (D + U) of A_FF + diag(shift): a sweep forward and one back from zero.

    Symmetric positive definite for every symmetric A, as D is made positive where it is not. Follows another set of
    free rows for nothing: rows that are not free are passed over.
    """

    name: ClassVar[str] = "symmetric_gauss_seidel"
    needs: ClassVar[frozenset[str]] = frozenset({DIAGONAL, TO_SPARSE})
    reference: ClassVar[str] = "Saad 2003, section 10.2"

    def prepare(self, problem: Problem) -> Preconditioner:
        assert problem.diagonal is not None
        return _Sweep(problem.A, problem.diagonal)
