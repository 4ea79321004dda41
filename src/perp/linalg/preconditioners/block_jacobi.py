"""Small dense blocks on the diagonal: one a contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.storages import block_diagonal
from perp.linalg.cholesky import dependence
from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe, positive_diagonal
from perp.problems.inputs import Vector, freeze, require_count
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem


class _Blocks(Preconditioner):
    """Blocks of `size` rows from the first row on, then single rows."""

    def __init__(self, blocks: np.ndarray, diagonal: Vector) -> None:
        self._count, self._size = blocks.shape[:2]
        self._blocks = freeze(blocks.reshape(-1))
        self._in_blocks = self._count * self._size
        self._diagonal = diagonal
        self._factors = np.empty(blocks.size)
        self._free: Mask = np.zeros(diagonal.size, dtype=np.bool_)
        self._shift = np.full(diagonal.size, np.nan)  # equal to no shift: the first call factors every block
        self._single = np.empty(0)

    def follow(self, free: Mask, shift: Vector) -> None:
        differs = (free != self._free) | (shift != self._shift)
        self._free, self._shift = free.copy(), shift.copy()
        changed = np.flatnonzero(differs[: self._in_blocks].reshape(self._count, self._size).any(axis=1))
        floor = dependence(self._size)
        block_diagonal.factor(self._blocks, self._size, changed, self._free, self._shift, floor, self._factors)
        rest = slice(self._in_blocks, None)
        self._single = positive_diagonal(self._diagonal[rest], shift[rest])

    def apply(self, r: Vector) -> Vector:
        z = np.where(self._free, r, 0.0)
        block_diagonal.solve(self._factors, self._size, self._count, z)
        z[self._in_blocks :] /= self._single
        return z

    def report(self) -> dict[str, float]:
        inside = self._free[: self._in_blocks].reshape(self._count, self._size).sum(axis=1)
        return {"nonzeros": int((inside * (inside + 1) // 2).sum() + self._free[self._in_blocks :].sum())}


@dataclass(frozen=True)
class BlockJacobiPreconditioner(Recipe):
    """P = the diagonal blocks of A_FF, `size` rows each, or the rows of a contact where the problem has contacts.

    Rows after the last whole block (those of joints, after the contacts) stand alone. Blocks are found without forming
    a factored A. A block that is not positive definite gets pivots that are.
    """

    name: ClassVar[str] = "block_jacobi"
    needs: ClassVar[frozenset[str]] = frozenset({DIAGONAL, TO_SPARSE})
    reference: ClassVar[str] = "Saad 2003, section 12.2"

    size: int = 3

    def __post_init__(self) -> None:
        require_count(self.size, "size", least=1)

    def prepare(self, problem: Problem) -> Preconditioner:
        assert problem.diagonal is not None
        if problem.frictional is not None:
            return _Blocks(problem.frictional.contact_blocks, problem.diagonal)
        return _Blocks(problem.A.diagonal_blocks(self.size, problem.n // self.size), problem.diagonal)
