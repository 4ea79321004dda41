"""The reduced equation of PGS-SM (eq. 22), solved also where rows depend on one another, as those of contacts do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import FreeSystem, factor_or_exchange, purify, small_shift
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.scaling import symmetric_scales

Mask = NDArray[np.bool_]

ROUNDING = 16.0 * 2.0**-52
"""Rounding errors of a slack, as a share of the largest scaled impulse and bias."""

REFINEMENTS = 10
"""Steps of iterative refinement at most; each must at least halve what is left."""

CONTRADICTION, NOISE = 1e-8, 1e-11
"""A solve that leaves more than these shares, of the slack and of the numbers involved, has met a contradiction."""


class ReducedEquation:
    """(A_FF + S_F + W_F) x_F = W_F c_F - (b_F + A_FT x_T) for a changing set F of active rows, T all others.

    S = diag(regularisation) belongs to the method (PGS-SM 5.1). W = weight diag(A) draws the solution towards the
    point c where the solve begins.

    It is solved for a correction of the present x_F. So where A_FF is singular and the equation has many solutions, one
    near x is found: what null vectors of A_FF add to x_F is not touched.
    """

    def __init__(self, problem: Problem, system: FreeSystem, regularisation: Vector) -> None:
        assert problem.diagonal is not None
        self.system: FreeSystem = system
        self._problem, self._regularisation = problem, regularisation
        self._stiffness = np.maximum(problem.diagonal, 0.0)
        self._scale = symmetric_scales(problem)
        self._bias = float(np.abs(problem.b * self._scale).max(initial=0.0))
        self._factored: tuple[Mask, float] | None = None
        self.contradicts: bool = False
        """Whether the last solve left the equation unsolved, because no x solves it."""

    def slack(self, x: Vector) -> Vector:
        """(A + S) x + b."""
        return self._problem.A.slack(x, self._problem.b, np.empty(x.size)) + self._regularisation * x

    def solve(self, x: Vector, free: Mask, weight: float = 0.0) -> Vector:
        """x with x_F changed so that the equation holds as far as it can; the other rows stay as they are."""
        self._factor(free, weight)
        point, first, before = x, np.inf, np.inf
        for k in range(REFINEMENTS):
            rest = np.where(free, self.slack(point) + weight * self._stiffness * (point - x), 0.0)
            left = float(np.abs(rest * self._scale).max(initial=0.0))
            size = float(np.abs(point / self._scale).max(initial=0.0)) + self._bias
            if not np.isfinite(left + size):
                raise NotFinite("the solution of the reduced equation is not finite")
            first = left if k == 0 else first
            enough = max(ROUNDING * size, 2.0 * self.system.tolerance * first)
            if left <= enough or left > 0.5 * before:
                break
            before = left
            point = point - self.system.solve(rest)
        self.contradicts = left > max(CONTRADICTION * first, NOISE * size, enough)
        return point

    def solve_least_squares(self, x: Vector, free: Mask) -> Vector:
        """For rows that contradict each other: the x_F near x that leaves the least of the slack.

        The factor has a small shift P, and what contradicts in a right-hand side r is P z for a null vector z of A_FF;
        it makes (A_FF + P)^-1 r huge along z. So z is found there, and its part taken out of r. Twice, as rounding
        errors of what is huge look like other null vectors.
        """
        self._factor(free, 0.0)
        point = x
        for _ in range(2):  # the second time repairs what the shift changes
            rest = np.where(free, self.slack(point), 0.0)
            shift = np.where(free, self.system.added, 0.0)
            for _ in range(2):
                null = purify(self.system, free, self.system.solve(rest), shift)
                length = float(np.sum(shift * null * null))
                if length > 0.0:
                    rest = rest - shift * null * (float(np.sum(null * rest)) / length)
            point = point - self.system.solve(rest)
        if not np.isfinite(point).all():
            raise NotFinite("the solution of the reduced equation is not finite")
        return point

    def _factor(self, free: Mask, weight: float) -> None:
        """Factor A_FF, unless that is what the system holds already."""
        if self._factored is not None and self._factored[1] == weight and np.array_equal(self._factored[0], free):
            return
        self._factored = None  # a factor that fails leaves nothing to solve with
        shift = self._regularisation + weight * self._stiffness
        self.system = factor_or_exchange(self._problem, self.system, free, shift)
        if self.system.dependent:  # refinement will take the small shift back, as far as the rows do not contradict
            self.system = factor_or_exchange(self._problem, self.system, free, shift + small_shift(self._problem))
        self._factored = free.copy(), weight
