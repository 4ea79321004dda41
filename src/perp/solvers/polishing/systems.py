"""The ways to solve for the free rows of one index set: the cheapest first, then those for singular matrices.

Few rows are solved for by LAPACK, many by a factor where the pattern of A shows that it is affordable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perp.linalg.free_systems import FreeSystem, KrylovSystem, choose_system, factor_or_exchange, small_shift
from perp.linalg.free_systems.base import Mask
from perp.linalg.free_systems.body import body_pattern, movable_parts
from perp.linalg.orderings import order
from perp.linalg.paces import DENSE, SUPERLU, SUPERNODAL
from perp.linalg.preconditioners import IC0, JacobiPreconditioner, MultigridPreconditioner, Recipe
from perp.linalg.symbolic import predict_flops
from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.polishing.krylov import LeastSquares, ProductSystem

KRYLOV_SHARE = 1e-6
"""What a Krylov method may leave of a right-hand side; refinement goes on from there."""

KRYLOV_LIMIT = 300
"""Iterations; a system that needs more is factored, unless that takes too long."""

LARGE = 2000
"""Rows beyond which a sparse matrix is not even ordered before conjugate gradients have been tried.

Measured, one after the other on a busy machine: 8,000 cells in space take 249 ms with a factor, and 42 ms without.
"""

SMALL = 64
"""Rows up to which A_FF is inverted by LAPACK; beyond, OpenBLAS may share the work among threads."""

RANK = 1e-11
"""Singular values below this share of the largest are zero up to rounding."""

MOST_SECONDS = 60.0
"""No factorisation is begun that would take longer, however much time there is."""

NOT_WORTH_ASKING = 2000
"""Rows up to which any factorisation is cheaper than to ask."""


class RowSolver(Protocol):
    """Systems of `perp.linalg.free_systems`, once they are factored, and those of this folder."""

    complaint: str
    """Why the last solve is less accurate than it should be, where it is."""

    def solve(self, r: Vector) -> Vector:
        """dx with A_FF dx_F = r_F, zero in the other rows."""
        ...


@dataclass(frozen=True, eq=False)
class Way:
    """A system, factored, and what to say of it."""

    name: str
    system: RowSolver


class Systems:
    """What one polish keeps from index set to index set."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._dense: NDArray[np.float64] | None = None
        self._chosen: FreeSystem | None = None
        self._krylov: KrylovSystem | None = None
        self._affordable: bool | None = None

    def ways(self, free: Mask, shift: Vector | None, seconds: float) -> Iterator[Way]:
        """A_FF, or A_FF + diag(shift)_FF, factored in one way after the other, until one has worked."""
        problem = self._problem
        if TO_SPARSE not in problem.A.ability_set:
            yield Way("by products with A alone", ProductSystem(problem, free, shift))
            return
        if free.size <= SMALL:
            yield from self._small_ways(free, shift)
            return
        has_krylov = bool(problem.is_symmetric) and problem.diagonal is not None
        is_sparse = problem.A.stencil is not None or (problem.A.stored is not None and not problem.A.is_dense)
        is_large = free.size > LARGE and is_sparse
        if has_krylov and is_large:
            yield from self._krylov_ways(free, shift)
        if self._is_affordable(free, seconds):
            yield from self._factored_ways(free, shift)
        elif has_krylov and not is_large:
            yield from self._krylov_ways(free, shift)

    def _is_affordable(self, free: Mask, seconds: float) -> bool:
        """Asked once, as the number of free rows hardly changes."""
        if self._affordable is None:
            self._affordable = is_affordable(self._problem, int(np.count_nonzero(free)), seconds)
        return self._affordable

    def _small_ways(self, free: Mask, shift: Vector | None) -> Iterator[Way]:
        if self._dense is None:
            self._dense = self._problem.A.array()
        rows = np.flatnonzero(free)
        inside = self._dense[rows[:, None], rows]
        if shift is not None:
            inside[np.arange(rows.size), np.arange(rows.size)] += shift[rows]
        for kind, name in ((SmallSystem, "by LAPACK"), (SmallLeastSquares, "by least squares, as they are dependent")):
            try:
                system = kind(rows, inside)
            except np.linalg.LinAlgError:  # singular, or not finite
                continue
            yield Way(name, system)

    def _factored_ways(self, free: Mask, shift: Vector | None) -> Iterator[Way]:
        problem = self._problem
        if self._chosen is None:
            self._chosen = choose_system(problem)
        system = self._factored(free, np.zeros(free.size) if shift is None else shift)
        if system is not None:
            yield Way(f"by a {system.name} factor", system)
        if shift is not None or problem.diagonal is None:
            return
        system = self._factored(free, small_shift(problem))
        if system is not None:
            yield Way(f"by a {system.name} factor with a small shift, which was taken back", system)
        if not problem.is_symmetric:
            yield Way("by least squares, as they are dependent", LeastSquares(problem.A, free))

    def _factored(self, free: Mask, shift: Vector) -> FreeSystem | None:
        assert self._chosen is not None
        try:
            return factor_or_exchange(self._problem, self._chosen, free, shift)
        except (ArithmeticError, RuntimeError, MemoryError):
            return None

    def _krylov_ways(self, free: Mask, shift: Vector | None) -> Iterator[Way]:
        if self._krylov is None:
            self._krylov = KrylovSystem(self._problem, _recipe(self._problem), KRYLOV_SHARE, KRYLOV_LIMIT)
        try:
            self._krylov.factor(free, np.zeros(free.size) if shift is None else shift)
        except ArithmeticError:
            return
        yield Way("by conjugate gradients", self._krylov)


def _recipe(problem: Problem) -> Recipe:
    """Multigrid where A is a grid with no positive coupling, an incomplete factor where A is held by its entries."""
    A = problem.A
    if A.stencil is not None:
        is_grid = A.stencil.has_kernels and not A.has_positive_coupling()
        return MultigridPreconditioner() if is_grid else JacobiPreconditioner()
    return JacobiPreconditioner() if A.factored is not None else IC0()


class SmallSystem:
    """By the inverse of A_FF, which raises LinAlgError where there is none; refinement makes it accurate."""

    def __init__(self, rows: NDArray[np.intp], inside: NDArray[np.float64]) -> None:
        self._rows, self._inverse = rows, self._invert(inside)
        self.complaint = ""

    def _invert(self, inside: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.inv(inside), dtype=np.float64)

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        dx[self._rows] = self._inverse @ r[self._rows]
        return dx


class SmallLeastSquares(SmallSystem):
    """By the pseudo-inverse of D A_FF D, D_ii the power of two nearest to 1/sqrt of the largest entry of row i."""

    def _invert(self, inside: NDArray[np.float64]) -> NDArray[np.float64]:
        size = np.abs(inside).max(axis=1, initial=0.0)
        scale = np.exp2(np.rint(-0.5 * np.log2(np.where(size > 0.0, size, 1.0))))
        both = scale[:, None] * scale
        return np.asarray(both * np.linalg.pinv(both * inside, rcond=RANK))


def is_affordable(problem: Problem, free: int, seconds: float) -> bool:
    """Whether so many free rows can be factored in that time; inf is no time that anybody waits for."""
    return cost_in_seconds(problem, free) <= min(seconds, MOST_SECONDS)


def cost_in_seconds(problem: Problem, free: int) -> float:
    """About, for so many free rows; 0 where it is not worth asking."""
    A, n = problem.A, problem.n
    if A.is_dense:
        return DENSE.predict((1.0 if problem.is_symmetric else 2.0) * float(free) ** 3 / 3.0)
    if n <= NOT_WORTH_ASKING:
        return 0.0
    if A.factored is not None:
        pattern = body_pattern(*movable_parts(A.factored))
        return SUPERNODAL.predict(predict_flops(pattern, order(pattern)))
    matrix = A.to_sparse()
    return (SUPERNODAL if problem.is_symmetric else SUPERLU).predict(predict_flops(matrix, order(matrix)))
