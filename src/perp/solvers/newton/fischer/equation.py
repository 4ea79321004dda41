"""The Newton equation of the Fischer reformulation: (D_p + D_q (A + shift I)) dx = -F (NOTES eq. 96)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from perp.errors import OperatorFault
from perp.linalg import krylov
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import (
    CoupledBlocks,
    FreeSystem,
    choose_shifted_system,
    choose_system,
    factor_or_exchange,
)
from perp.linalg.free_systems.base import Mask
from perp.linalg.preconditioners import Recipe
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

NEGLIGIBLE = 1e-10
"""|q_i| below this share of |p_i|: the row says dx_i = -F_i / p_i, and is no part of the system that is factored."""

ACCURATE, ROUGH = 1e-8, 0.5
"""What is to be left of a directly solved equation, as a share of ||F||, and what may be left."""

REFINEMENTS = 5
"""Steps of iterative refinement at most; each must at least halve what is left."""


@dataclass(frozen=True)
class Line:
    """The linear model at a point: F, and the diagonals p and q of its derivative."""

    F: Vector
    p: Vector
    q: Vector
    weight: float
    """What the proximal-point loop has on the diagonal of A."""
    regularisation: float
    """What is added to it for this equation only."""

    def apply(self, v: Vector, product: Vector) -> Vector:
        """J v from A v, without the regularisation."""
        return np.asarray(self.p * v + self.q * (product + self.weight * v))


class Equation(ABC):
    """`solve` gives dx and J dx (without the regularisation), or None where there is no finite dx."""

    @abstractmethod
    def solve(self, problem: Problem, line: Line) -> tuple[Vector, Vector] | None: ...

    @abstractmethod
    def counters(self) -> dict[str, float]: ...


class DirectEquation(Equation):
    """Row i divided by q_i: A + diag(p / q) + shift I, symmetric where A is, and positive definite where A is.

    Rows whose q_i is negligible leave the system beforehand.
    """

    def __init__(self, problem: Problem, space: str) -> None:
        self._system = choose_shifted_system(problem, space)
        self._spare: FreeSystem | None = None

    def solve(self, problem: Problem, line: Line) -> tuple[Vector, Vector] | None:
        free = np.abs(line.q) > NEGLIGIBLE * np.abs(line.p)
        divisor = np.where(free, line.q, line.p)
        added = np.where(free, line.p / divisor + line.weight + line.regularisation, 0.0)
        try:
            self._system = factor_or_exchange(problem, self._system, free, added)
            found = self._refine(problem, line, self._system, free, divisor)
        except NotFinite:
            found = None
        if found is None and isinstance(self._system, CoupledBlocks):  # a block may be singular where A is not
            self._spare = self._spare or choose_system(problem)
            try:
                self._spare.factor(free, added)
                found = self._refine(problem, line, self._spare, free, divisor)
            except NotFinite:
                return None
        return found

    @staticmethod
    def _refine(
        problem: Problem, line: Line, system: FreeSystem, free: Mask, divisor: Vector
    ) -> tuple[Vector, Vector] | None:
        """dx and J dx, by iterative refinement; None where there is not even a beginning of a solution."""
        size = norm(line.F)
        dx, product, left, before = np.zeros(problem.n), np.zeros(problem.n), -line.F, np.inf
        for _ in range(REFINEMENTS):
            right = left / divisor
            held = np.where(free, 0.0, right)
            dx = dx + held + system.solve(right - problem.A.apply(held) if held.any() else right)
            if not np.isfinite(dx).all():
                return None
            product = problem.A.apply(dx)
            left = -line.F - line.apply(dx, product) - line.regularisation * line.q * dx
            largest = norm(left)
            if largest <= ACCURATE * size or not largest <= 0.5 * before:
                break
            before = largest
        return (dx, line.apply(dx, product)) if largest <= ROUGH * size else None

    def counters(self) -> dict[str, float]:
        spare = 0 if self._spare is None else self._spare.factorisations
        return {"factorisations": self._system.factorisations + spare}


class KrylovEquation(Equation):
    """GMRES until ||F + J dx|| <= forcing ||F|| (eq. 105); J v by p, q and A v, or by finite differences.

    The preconditioner is P^-1 D_q^-1, with P for A + diag(p / q): the same division of rows as in the direct equation.
    """

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        forcing: float,
        inner_limit: int | None,
        restart: int,
        difference: Callable[[Vector], Vector] | None,
    ) -> None:
        self._preconditioner = recipe.prepare(problem)
        self._forcing, self._restart = forcing, restart
        self._limit = max(2 * problem.n, 20) if inner_limit is None else inner_limit
        self._difference = difference
        self._iterations = 0

    def solve(self, problem: Problem, line: Line) -> tuple[Vector, Vector] | None:
        free = np.abs(line.q) > NEGLIGIBLE * np.abs(line.p)
        divisor, straight = np.where(free, line.q, 1.0), np.where(free, 1.0, line.p)
        added = np.where(free, line.p / divisor + line.weight + line.regularisation, 0.0)
        self._preconditioner.follow(free, added)

        def derivative(v: Vector) -> Vector:
            if self._difference is not None:
                return self._difference(v)
            return line.apply(v, problem.A.apply(v))

        def product(v: Vector) -> Vector:
            return derivative(v) + line.regularisation * line.q * v

        def preconditioner(r: Vector) -> Vector:
            return np.where(free, self._preconditioner.apply(r / divisor), r / straight)

        tolerance = krylov.forcing(self._forcing, norm(line.F))
        try:
            found = krylov.gmres(
                product,
                -line.F,
                preconditioner=preconditioner,
                tolerance=tolerance,
                max_iterations=self._limit,
                restart=self._restart,
            )
            self._iterations += found.iterations
            return (found.x, derivative(found.x)) if np.isfinite(found.x).all() else None
        except OperatorFault:  # the caller's product, which the loop speaks of
            raise
        except ValueError:  # a vector that is not finite has no product
            return None

    def counters(self) -> dict[str, float]:
        return {"inner_iterations": self._iterations}


def norm(v: Vector) -> float:
    """The 2-norm, by a sum that no BLAS shares among threads."""
    return float(np.sqrt(np.sum(v * v)))
