"""The last digits: an approximate answer made exact on the index set that it points at.

Where x is near a solution, it tells which rows lie between their bounds and which at one of them; what is left is one
linear system,

    x_T = bound_T,      A_FF x_F = -(b_F + A_FT x_T),      F the free rows, T those at a bound (THESIS eq. 2.40),

whose answer is as good as rounding errors allow. It is solved for a correction of the x that was given, so that of the
many solutions of a singular A_FF (redundant contacts) one nearby is found, and refined (Skeel 1980). Contact laws have
Newton's equation in the place of the linear system. `rows` and `contacts` say how.

What can be reached: y = A x + b has rounding errors of about 2^-53 (|A| |x| + |b|), and the residual is no smaller.
Sums of more digits would not change that, as x itself is rounded to 53 binary digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import lsmr

from perp.errors import OperatorFault
from perp.linalg.free_systems.base import Mask
from perp.linalg.free_systems.block_rows import BlockDiagonal, BlockSystem
from perp.linalg.krylov import FreeProduct, Product, cg, gmres
from perp.problems.deadline import Deadline, OutOfTime, hold, now, watched
from perp.problems.inputs import Vector, as_vector, freeze
from perp.problems.operators import Operator
from perp.problems.problem import Problem
from perp.problems.residual_scale import least_scale
from perp.problems.residuals import Watch
from perp.problems.written_out import write_out
from perp.solvers.polishing.contacts import polish_contacts
from perp.solvers.polishing.rows import polish_rows

ENOUGH, GOOD, NEAR = 1e-13, 1e-12, 1e-2
"""Scaled residuals at which no other index set is tried, and between which it is worth while to try what takes long."""

ROUNDING = 2.0**-52

UNAVOIDABLE = 0.25 * ROUNDING
"""Of the largest A_ii x_i, less than the rounding errors of y: a residual below is as good as can be, too."""


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


SHARE = 1e-6
"""What a solve may leave of its right-hand side, in the 2-norm."""

LIMIT = 1000

SYMMETRIC = 1e-10
"""u^T A v and v^T A u of two vectors differ by a larger share where A is not symmetric."""


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


MOST_PRODUCTS = 200
"""Rows up to which an A that is only a product is written out; beyond, Krylov methods need fewer products."""


@dataclass(frozen=True, eq=False)
class Polished:
    """A better answer, and how it was found."""

    x: Vector
    """Within its bounds, read-only."""
    residual: float
    """As `perp.verify` measures it; smaller than that of the x that was given."""
    rounds: int
    """Linear systems that were set up: index sets, or Newton steps."""
    how: str
    """A sentence."""


def polish(problem: Problem, x: Vector, *, max_seconds: float = inf) -> Polished | None:
    """A better answer near x, or None where there is none to be found: x solves the problem as well as can be, is too
    far from a solution, or the linear system would take longer than `max_seconds`.

    x is projected on its bounds first. Nothing is ever made worse, and numbers that break down are no error.
    """
    begun = now()
    given = np.array(as_vector(x, "x", problem.n))
    if isnan(max_seconds):
        raise ValueError("max_seconds is nan; a number of seconds is needed")
    if problem.n == 0 or not max_seconds > 0.0:
        return None
    best = None
    how = "the time was over before all was tried"
    with np.errstate(all="ignore"), hold(begun + max_seconds) as deadline:
        try:
            best = BestPoint(problem, given, deadline)
            if best.is_perfect:
                return None
            known = write_out(problem, MOST_PRODUCTS)
            contacts = known.frictional
            how = polish_rows(known, best) if contacts is None else polish_contacts(contacts, best)
        except OperatorFault:
            return None
        except OutOfTime:
            pass
    if best is None or not best.is_better:
        return None
    return Polished(freeze(best.x), best.residual, best.rounds, how)
