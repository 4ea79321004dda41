"""The best point that a polish has seen, and the ways to solve for the free rows of one index set.

The cheapest comes first, then those for singular matrices. LAPACK solves for few rows, a factor for many where the
pattern of A shows that it is affordable, the others by products alone or by least squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isnan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import lsmr

from perp.linalg.free_systems import FreeSystem, KrylovSystem, choose_system, factor_or_exchange, small_shift
from perp.linalg.free_systems.base import Mask
from perp.linalg.free_systems.block_rows import BlockDiagonal, BlockSystem
from perp.linalg.free_systems.body import body_pattern, movable_parts
from perp.linalg.krylov import FreeProduct, Product, cg, gmres
from perp.linalg.orderings import order
from perp.linalg.paces import DENSE, SUPERLU, SUPERNODAL
from perp.linalg.preconditioners import IC0, JacobiPreconditioner, MultigridPreconditioner, Recipe
from perp.linalg.symbolic import predict_flops
from perp.problems.deadline import Deadline, watched
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residual_scale import least_scale
from perp.problems.residuals import Watch

ENOUGH, GOOD, NEAR = 1e-13, 1e-12, 1e-2
"""Scaled residuals at which no other index set is tried, and between which it is worth while to try what takes long."""

ROUNDING = 2.0**-52

UNAVOIDABLE = 0.25 * ROUNDING
"""Of the largest A_ii x_i, less than the rounding errors of y: a residual below is as good as can be, too."""

SHARE = 1e-6
"""What a solve may leave of its right-hand side, in the 2-norm."""

LIMIT = 1000

SYMMETRIC = 1e-10
"""u^T A v and v^T A u of two vectors differ by a larger share where A is not symmetric."""

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


class BestPoint:
    """Points are judged by the problem as it was given, whatever form of it the linear systems are made of."""

    problem: Problem
    deadline: Deadline
    residual: float

    def __init__(self, problem: Problem, x: Vector, deadline: Deadline) -> None:
        self.problem, self.deadline = problem, deadline
        self.rounds = 0
        self._watch = Watch(problem)
        self.x: Vector = x
        self._given = self.residual = self._measure(x)
        inside = problem.project(x)
        if (inside != x).any():  # a point outside is no answer, however small its residual is
            self.x, self.residual = inside, self._measure(inside)
        self.y: Vector = self._watch.y.copy()
        """The slack of the x that was given, within its bounds."""
        scale = least_scale(problem)  # what residuals are a share of
        self.rounding: float = ROUNDING * scale
        """What is not worth another correction."""
        self._enough, self._good, self._near = ENOUGH * scale, GOOD * scale, NEAR * scale
        if problem.diagonal is not None:
            rows = problem.diagonal * self.x
            largest = float(np.abs(rows * problem.row_scales if problem.has_extreme_rows else rows).max())
            self._enough = max(self._enough, UNAVOIDABLE * largest)

    def offer(self, x: Vector) -> float:
        """The residual of x, which must not be changed afterwards; kept if it is the best so far."""
        residual = self._measure(x)
        if residual < self.residual:
            self.x, self.residual = x, residual
        return residual

    def _measure(self, x: Vector) -> float:
        residual, *_, probe = self._watch.look(x)
        return inf if isnan(residual) or isnan(probe) else residual

    @property
    def is_enough(self) -> bool:
        return self.residual <= self._enough

    @property
    def is_promising(self) -> bool:
        """Whether x is not good yet, but near a solution."""
        return self._good < self.residual <= self._near

    @property
    def is_perfect(self) -> bool:
        """Whether the x that was given is an answer with nothing but rounding errors left."""
        return max(self.residual, self._given) <= self.rounding

    @property
    def is_better(self) -> bool:
        return self.residual < self._given

    @property
    def is_late(self) -> bool:
        return not self.deadline.allows(0.0)

    @property
    def seconds_left(self) -> float:
        return self.deadline.left


class ProductSystem:
    """A_FF by products: conjugate gradients where A seems to be symmetric and they go through, else GMRES."""

    def __init__(self, problem: Problem, free: Mask, shift: Vector | None) -> None:
        self.complaint = ""
        self._free = free
        self._product = FreeProduct(problem.A)
        self._product.follow(free, shift)
        diagonal = problem.diagonal
        self._scale = None if diagonal is None or not (diagonal > 0.0).all() else 1.0 / diagonal
        self._definite = _seems_symmetric(self._product, free)

    def solve(self, r: Vector) -> Vector:
        right = np.where(self._free, r, 0.0)
        options = {"tolerance": SHARE * float(np.linalg.norm(right)), "max_iterations": LIMIT}
        preconditioner: Product | None = None if self._scale is None else self._precondition
        if self._definite:
            found = cg(self._product, right, preconditioner=preconditioner, **options)  # type: ignore[arg-type]
            if found.success:
                return found.x
            self._definite = False
        found = gmres(self._product, right, preconditioner=preconditioner, **options)  # type: ignore[arg-type]
        return found.x

    def _precondition(self, r: Vector) -> Vector:
        assert self._scale is not None
        return self._scale * r


def _seems_symmetric(product: FreeProduct, free: Mask) -> bool:
    count = np.arange(free.size)
    u, v = (np.where(free, np.cos(speed * count), 0.0) for speed in (1.0, 1.7))
    one, other = float(np.sum(v * product(u))), float(np.sum(u * product(v)))
    size = float(np.sum(np.abs(v * product(u))))
    return abs(one - other) <= SYMMETRIC * size


class LeastSquares:
    """The least correction that leaves the least, by LSMR (Fong & Saunders 2011): for singular A_FF of any kind."""

    def __init__(self, A: Operator, free: Mask) -> None:
        self.complaint = ""
        self._rows: NDArray[np.intp] = np.flatnonzero(free)
        self._inside = A.submatrix(self._rows, self._rows)

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        found = lsmr(watched(self._inside), r[self._rows], atol=1e-14, btol=SHARE, conlim=0.0, maxiter=LIMIT)
        dx[self._rows] = found[0]
        self.complaint = "" if found[1] in (0, 1, 2) else "least squares did not converge"
        return dx


class BlockProducts(BlockSystem):
    """(E + G A) dx = r by GMRES, with the block-diagonal part of it where A_ii is known."""

    def __init__(self, A: Operator) -> None:
        self._A, self._zero, self._diagonal = A, freeze(np.zeros(A.n)), A.diagonal()

    def factor(self, E: BlockDiagonal, G: BlockDiagonal) -> None:
        self.factorisations += 1
        self._E, self._G = E, G
        self._inverse = E.plus_scaled_columns(G, self._diagonal).inverse()

    def solve(self, r: Vector) -> Vector:
        size = float(np.linalg.norm(r))
        options = {"tolerance": SHARE * size, "max_iterations": LIMIT}
        return gmres(self._product, r, preconditioner=self._inverse.apply, **options).x  # type: ignore[arg-type]

    def _product(self, v: Vector) -> Vector:
        return self._E.apply(v) + self._G.apply(self._A.slack(v, self._zero, np.empty(v.size)))


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
