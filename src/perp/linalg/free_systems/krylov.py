"""Free rows by preconditioned conjugate gradients: nothing is factored but the preconditioner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels.measures import index_sets
from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body import LEAST_COMPLIANCE
from perp.linalg.krylov.cg import cg
from perp.linalg.krylov.cycles import Ending, Solution
from perp.linalg.plan import with_diagonal
from perp.linalg.preconditioners.base import Recipe
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator, SparseOperator
from perp.problems.problem import Problem

NEGATIVE = 1e-10
"""A curvature of D A D below minus this is no rounding error of a semi-definite A."""


class KrylovSystem(FreeSystem):
    """A_FF + shift for symmetric A, by PCG, in at most `limit` iterations a solve.

    With D_ii the power of two nearest to 1/sqrt(A_ii), the system is D (A_FF + shift) D z = D r, and a solve ends when
    the 2-norm of what is left of D r is at most `tolerance` times its largest entry: units do not matter, and the
    largest entry falls to that share.

    Where A is held by its entries, A_FF is gathered; a factored or matrix-free A is only ever applied, with rows that
    are not free left out. Rows that depend on one another show as a direction without curvature: then the system is
    solved with a small shift, as a factor would be. `complaint` tells why the last solve is not what was asked for.
    """

    name = "krylov"
    tolerance: float
    added: Vector

    def __init__(self, problem: Problem, recipe: Recipe, tolerance: float, limit: int) -> None:
        super().__init__()
        n = problem.n
        self._A, self.tolerance, self._limit = problem.A, tolerance, limit
        self._preconditioner = recipe.prepare(problem)
        assert problem.diagonal is not None
        size = np.abs(problem.diagonal)
        self._least = LEAST_COMPLIANCE * np.maximum(size, 1e-3 * (size.max(initial=0.0) or 1.0))
        self._scale = np.exp2(np.rint(-0.5 * np.log2(np.where(size > 0.0, size, 1.0))))
        self._entries = None if problem.A.stored is None else _Entries(problem.A)
        self._inside: SparseOperator | None = None
        self._free, self._shift = np.zeros(n, dtype=np.bool_), np.zeros(n)
        self._factor, self._zero = np.zeros(n), freeze(np.zeros(n))
        self.inner_iterations: int = 0
        self.inner_failures: int = 0

    def factor(self, free: Mask, shift: Vector) -> None:
        self.dependent: int = 0
        self._take(free.copy(), shift.copy())
        self.factorisations += 1

    def _take(self, free: Mask, shift: Vector) -> None:
        self._free, self._shift, self.added = free, shift, shift
        self._factor = np.where(free, self._scale, 0.0)
        self._inside = None if self._entries is None else self._entries.gather(free, shift, self._scale)
        self._preconditioner.follow(free, shift)

    def solve(self, r: Vector) -> Vector:
        right = np.where(self._free, r, 0.0) * self._scale
        found = self._run(right)
        if found.ending is Ending.NEGATIVE_CURVATURE and not self.dependent and self._is_flat(found):
            self.dependent = 1
            self._take(self._free, self._shift + self._least)
            found = self._run(right)
        self.complaint = "" if found.success else found.ending.value
        if found.success:
            return found.x * self._scale
        self.inner_failures += 1
        if found.ending is Ending.NON_FINITE:
            raise NotFinite(self.complaint)
        if found.ending in (Ending.NEGATIVE_CURVATURE, Ending.INDEFINITE_PRECONDITIONER):
            raise NotPositive(self.complaint)
        return found.x * self._scale

    def _run(self, right: Vector) -> Solution:
        found = cg(
            self._product,
            right,
            preconditioner=self._precondition,
            tolerance=self.tolerance * float(np.abs(right).max(initial=0.0)),
            max_iterations=self._limit,
        )
        self.inner_iterations += found.iterations
        return found

    def _precondition(self, r: Vector) -> Vector:
        """D^-1 P^-1 D^-1 r."""
        return self._preconditioner.apply(r / self._scale) / self._scale

    def _product(self, z: Vector) -> Vector:
        """D (A_FF + shift) D z, for a z that is zero outside F."""
        out = np.empty(z.size)
        if self._inside is not None:
            return self._inside.slack(z, self._zero, out)
        x = self._scale * z
        self._A.slack(x, self._zero, out)
        out += self._shift * x
        out *= self._factor
        return out

    def _is_flat(self, found: Solution) -> bool:
        """Whether the direction that stopped CG has no curvature, rather than a negative one."""
        assert found.direction is not None
        d = found.direction
        curvature = float(np.sum(d * self._product(d)))
        return curvature >= -NEGATIVE * float(np.sum(d * d))

    @property
    def can_keep_apart(self) -> bool:  # type: ignore[override]
        return self._entries is not None or self._A.factored is not None

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        keep = np.zeros(self._free.size, dtype=np.bool_)
        if self._entries is not None:
            index_sets.keep_apart_by_neighbours(rows, *self._entries.pattern, np.zeros_like(keep), keep)
            return keep
        if self._A.factored is None:
            return super().keep_apart(rows)
        J = self._A.factored.J
        mark = np.zeros(J.shape[1], dtype=np.bool_)
        index_sets.keep_apart_by_columns(rows, J.indptr.astype(np.int64), J.indices.astype(np.int64), mark, keep)
        return keep

    def counters(self) -> dict[str, float]:
        inner = {"inner_iterations": self.inner_iterations, "inner_failures": self.inner_failures}
        return super().counters() | inner


class _Entries:
    """All of A by rows, from which A_FF is taken: still n rows, those that are not free empty."""

    def __init__(self, A: Operator) -> None:
        self._matrix = with_diagonal(A.to_sparse())
        self._row = np.repeat(np.arange(A.n), np.diff(self._matrix.indptr))
        self._diagonal = np.flatnonzero(self._row == self._matrix.indices)

    @property
    def pattern(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._matrix.indptr.astype(np.int64), self._matrix.indices.astype(np.int64)

    def gather(self, free: Mask, shift: Vector, scale: Vector) -> SparseOperator:
        """D (A_FF + shift) D."""
        n = free.size
        data = self._matrix.data.copy()
        data[self._diagonal] += shift
        data *= scale[self._row] * scale[self._matrix.indices]
        inside = free[self._row] & free[self._matrix.indices]
        if not np.isfinite(data[inside]).all():
            raise NotFinite("the scaled matrix of the free rows is not finite")
        pointers = np.concatenate([[0], np.cumsum(np.bincount(self._row[inside], minlength=n))])
        return SparseOperator(sparse.csr_array((data[inside], self._matrix.indices[inside], pointers), shape=(n, n)))
