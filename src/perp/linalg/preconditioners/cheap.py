"""Preconditioners that factor nothing large: none, the diagonal, its blocks, a sweep, an inverse that A itself nearly
knows; and any other one, made for the matrix after a diagonal scaling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from perp.errors import suggest
from perp.kernels.factors import splittings
from perp.linalg import preconditioners
from perp.linalg.cholesky import dependence
from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe, positive_diagonal
from perp.problems.inputs import Vector, freeze, require_count
from perp.problems.operators import Operator
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem

MEASURES = ("diagonal", "columns")


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
        splittings.factor_blocks(self._blocks, self._size, changed, self._free, self._shift, floor, self._factors)
        rest = slice(self._in_blocks, None)
        self._single = positive_diagonal(self._diagonal[rest], shift[rest])

    def apply(self, r: Vector) -> Vector:
        z = np.where(self._free, r, 0.0)
        splittings.solve_blocks(self._factors, self._size, self._count, z)
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


class _RoughInverse(Preconditioner):
    """A shift is left out: P stays definite, and is a little further from A."""

    def __init__(self, inverse: Callable[[Vector], Vector]) -> None:
        self._inverse = inverse

    def follow(self, free: Mask, shift: Vector) -> None:
        self._free = free.copy()

    def apply(self, r: Vector) -> Vector:
        return np.where(self._free, self._inverse(np.where(self._free, r, 0.0)), 0.0)


@dataclass(frozen=True)
class FourierPreconditioner(Recipe):
    """P^-1 = (C^-1)_FF, with the circulant C nearest to a `ConvolutionOperator`: two Fourier transforms of the grid.

    For the elastic half-space, where A makes waves of length l smaller by l, C^-1 undoes that. The rows that are in
    contact change and P does not, so that nothing is recomputed (Vollebregt 2014).
    """

    name: ClassVar[str] = "fourier"
    reference: ClassVar[str] = "Vollebregt 2014; T. Chan 1988 (the circulant)"

    def objection(self, problem: Problem) -> str | None:
        if problem.A.rough_inverse() is not None:
            return None
        return (
            f"preconditioner 'fourier' needs an A that knows a rough inverse of itself, as a positive semi-definite "
            f"convolution does; this one is {problem.A.form}"
        )

    def prepare(self, problem: Problem) -> Preconditioner:
        inverse = problem.A.rough_inverse()
        assert inverse is not None
        return _RoughInverse(inverse)


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
