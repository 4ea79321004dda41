"""The two cheapest: nothing, and the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe
from perp.problems.inputs import Vector
from perp.problems.operators.base import DIAGONAL
from perp.problems.problem import Problem


class _Identity(Preconditioner):
    def follow(self, free: Mask, shift: Vector) -> None:
        self._free = free.copy()

    def apply(self, r: Vector) -> Vector:
        return np.where(self._free, r, 0.0)


@dataclass(frozen=True)
class NoPreconditioner(Recipe):
    """P = I."""

    name: ClassVar[str] = "none"
    reference: ClassVar[str] = "THESIS Algorithm 3"

    def prepare(self, problem: Problem) -> Preconditioner:
        return _Identity()


class _Diagonal(Preconditioner):
    def __init__(self, diagonal: Vector) -> None:
        self._diagonal = np.abs(diagonal)
        self._inverse = np.zeros(diagonal.size)

    def follow(self, free: Mask, shift: Vector) -> None:
        size = self._diagonal + shift
        usable = free & (size > 0.0)
        self._inverse = np.zeros(size.size)
        np.divide(1.0, size, out=self._inverse, where=usable)
        self._inverse[free & ~usable] = 1.0  # a row without a diagonal entry is left as it is

    def apply(self, r: Vector) -> Vector:
        return self._inverse * r

    def report(self) -> dict[str, float]:
        return {"nonzeros": int(np.count_nonzero(self._inverse))}


@dataclass(frozen=True)
class JacobiPreconditioner(Recipe):
    """P = diag(A_FF) (THESIS chapter 4)."""

    name: ClassVar[str] = "jacobi"
    needs: ClassVar[frozenset[str]] = frozenset({DIAGONAL})
    reference: ClassVar[str] = "THESIS chapter 4"

    def prepare(self, problem: Problem) -> Preconditioner:
        assert problem.diagonal is not None
        return _Diagonal(problem.diagonal)
