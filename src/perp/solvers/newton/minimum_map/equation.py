"""The Newton equation of the minimum map after its Schur reduction, A_AA dx_A = r_A (NOTES eq. 80), and its state.

Where a minimum map Newton iteration stands, and what it does where the Newton direction fails.

Then it holds the rows that the direction pushes out of the box, follows the gradient (NOTES 6), or finds a proof that
there is no solution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels.newton import minimum_map
from perp.linalg.free_systems import choose_system, factor_or_exchange, purify, small_shift
from perp.linalg.krylov import FreeProduct, Solution
from perp.linalg.preconditioners import Recipe
from perp.problems.certificates import verify_certificate
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.globalisation import Reference

Mask = NDArray[np.bool_]

REFINED = 1e-10
"""What refinement may leave of the Newton equation, as a share of the largest |H|: the next iteration sees to it."""

POOR = 1e-3
"""A factor that leaves more than this share, however often it is refined, belongs to a matrix all but singular."""

REFINEMENTS = 30
"""Steps of iterative refinement at most; each must at least halve what is left, so that none is common, or two."""

CONTRADICTION = 1e-9
"""A vector u counts as a null vector of A_AA when A_AA u is below this share of its size."""

Krylov = Callable[..., Solution]

ROUNDING = 64.0 * 2.0**-52
"""Rounding errors of H, as a share of the largest numbers that it was added up from."""

HOLDS = 20
"""Times that rows are held and the equation solved again; each holds at least one row more."""

FLAT = 1e-8
"""The cosine of the angle between H and its derivative along the gradient below which theta is flat."""


@dataclass(frozen=True)
class Answer:
    """dx, zero outside A; A dx on all rows; and whether A_AA was singular or the solver gave up."""

    dx: Vector
    product: Vector
    is_singular: bool


def power_of_two(size: float) -> float:
    """The one nearest to a positive number; 1 where it is zero or not finite."""
    usable = 0.0 < size < np.inf
    return float(np.exp2(np.clip(np.rint(np.log2(size)), -1000.0, 1000.0))) if usable else 1.0


class Equation(ABC):
    """`solve(active, right, ...)` for a set that changes; right is read on it. What it does is in `counters`."""

    complaint: ClassVar[str]
    """What `Answer.is_singular` means, in words."""
    may_form_A: ClassVar[bool] = True
    """Whether A may be formed from an operator that does not store it; the answer of matrix-free methods is no."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._zero = freeze(np.zeros(problem.n))
        self.counters: dict[str, float] = {}

    def multiply(self, dx: Vector) -> Vector:
        """A dx."""
        return self._problem.A.slack(dx, self._zero, np.empty(dx.size))

    @abstractmethod
    def solve(self, active: Mask, right: Vector, largest: float, spread: float) -> Answer:
        """`largest` is the largest |H_i| and `spread` times that is ||H||: by those accuracy is measured."""

    def find_contradiction(self, active: Mask, left: Vector) -> Vector | None:
        """A null vector of A_AA in what the last solve left of its equation, which no dx can take away; or None."""
        return None


class DirectEquation(Equation):
    """A factor of A_AA, dense, sparse or in body space; where that is singular, of A_AA + a small shift, and refined.

    Refinement takes the shift back where the rows do not contradict each other. Where they do, what is left of the
    equation shows in the slope, which the method looks at.
    """

    complaint = "the reduced matrix A_AA of the Newton equation is singular"

    def __init__(self, problem: Problem, space: str) -> None:
        super().__init__(problem)
        self._system = choose_system(problem, space)
        self._factored: Mask | None = None
        self._is_shifted = False
        self.counters: dict[str, float] = {"factorisations": 0.0}

    def solve(self, active: Mask, right: Vector, largest: float, spread: float) -> Answer:
        self._factor(active)
        dx, product, left = self._refine(active, right, largest)
        if left > POOR * largest and not self._is_shifted:  # LU has small pivots, but none that is zero
            self._shift(active)
            soft = self._refine(active, right, largest)
            if soft[2] < left:
                dx, product, left = soft
        self.counters["factorisations"] = float(self._system.factorisations)
        return Answer(dx, product, self._is_shifted)

    def _refine(self, active: Mask, right: Vector, largest: float) -> tuple[Vector, Vector, float]:
        """dx, A dx, and the largest entry that is left of the equation, in the units of H."""
        scale = self._problem.row_scales
        dx, product = np.zeros(right.size), np.zeros(right.size)
        rest, before = np.where(active, right, 0.0), np.inf
        for _ in range(REFINEMENTS):
            better = dx + self._system.solve(rest)
            image = self.multiply(better)
            left = np.where(active, right - image, 0.0)
            size = float(np.abs(left * scale).max(initial=0.0))
            if not size < before:  # or not a number
                break
            is_settled = size <= REFINED * largest or size > 0.5 * before
            dx, product, rest, before = better, image, left, size
            if is_settled:
                break
        return dx, product, before

    def _factor(self, active: Mask) -> None:
        if self._factored is not None and np.array_equal(self._factored, active):
            return
        self._factor_with(active, np.zeros(active.size))
        self._factored, self._is_shifted = active.copy(), False
        if self._system.dependent:
            self._shift(active)

    def _shift(self, active: Mask) -> None:
        self._factor_with(active, small_shift(self._problem))
        self._is_shifted = True

    def _factor_with(self, active: Mask, shift: Vector) -> None:
        self._system = factor_or_exchange(self._problem, self._system, active, shift)

    def find_contradiction(self, active: Mask, left: Vector) -> Vector | None:
        """A null vector of A_AA in which `left`, which no dx takes away, has a part; None where there is none.

        For symmetric A only: a proof needs a null vector of the transposed matrix.
        """
        if not (self._is_shifted and self._problem.is_symmetric):
            return None
        vector = self._system.solve(np.where(active, left, 0.0))
        vector = purify(self._system, active, vector, self._system.added)
        if not 0.0 < np.abs(vector).max(initial=0.0) < np.inf:
            return None
        image = np.where(active, self.multiply(vector), 0.0)
        assert self._problem.diagonal is not None
        size = np.abs(self._problem.diagonal * vector).max()
        return vector if np.abs(image).max() <= CONTRADICTION * size else None


class KrylovEquation(Equation):
    """Conjugate gradients or GMRES until ||H + BH dx|| <= forcing ||H|| (NOTES eq. 71): only products with A.

    H measures a row as scale_i y_i, so that the norm of H is not that of y. A symmetric equation is solved with rows
    and columns multiplied by the root of scale, any other with its rows brought to |A_ii| = 1 (by powers of two; else
    one large row would hide the others). `_excess` is by how much the norm that is seen falls short of that of H, at
    most. The right side has size one, so that no square overflows.
    """

    complaint = "the Krylov method gave up on the Newton equation"
    may_form_A = False

    def __init__(
        self, problem: Problem, krylov: Krylov, recipe: Recipe, forcing: float, limit: int | None, symmetric: bool
    ) -> None:
        super().__init__(problem)
        self._krylov, self._forcing, self._limit = krylov, forcing, limit
        self._preconditioner = recipe.prepare(problem)
        scale = problem.row_scales
        is_plain = symmetric and bool((scale == 1.0).all())
        root = scale if is_plain else np.exp2(np.rint(0.5 * np.log2(scale)))
        self._rows: Vector | None = None if is_plain else root if symmetric else _row_factors(problem)
        self._columns: Vector | None = root if symmetric and not is_plain else None
        self._excess = None if self._rows is None else scale / self._rows
        self._product = FreeProduct(problem.A, self._rows, self._columns)
        self.counters: dict[str, float] = {"inner_iterations": 0.0}

    def solve(self, active: Mask, right: Vector, largest: float, spread: float) -> Answer:
        unit = power_of_two(largest)
        self._preconditioner.follow(active, self._zero)
        self._product.follow(active)
        excess = 1.0 if self._excess is None else float(self._excess[active].max(initial=0.0) or 1.0)
        share = right / unit
        if self._rows is not None:
            share *= self._rows
        minimum_map.keep(active, share)
        solution = self._krylov(
            self._product,
            share,
            preconditioner=self._precondition,
            tolerance=self._forcing * spread * (largest / unit) / excess,
            max_iterations=max(100, 2 * int(active.sum())) if self._limit is None else self._limit,
        )
        self.counters["inner_iterations"] += solution.iterations
        dx = unit * solution.x
        if self._columns is not None:
            dx *= self._columns
        return Answer(dx, self.multiply(dx), not solution.success)

    def _precondition(self, r: Vector) -> Vector:
        z = self._preconditioner.apply(r if self._rows is None else r / self._rows)
        return z if self._columns is None else z / self._columns


def _row_factors(problem: Problem) -> Vector:
    """The powers of two that bring |A_ii| near 1; `row_scales` where A_ii is zero or not known."""
    factors = problem.row_scales.copy()
    if problem.diagonal is not None:
        known = problem.diagonal != 0.0
        factors[known] = np.exp2(np.clip(np.rint(-np.log2(np.abs(problem.diagonal[known]))), -1000.0, 1000.0))
    return factors


@dataclass(frozen=True)
class Direction:
    """dx and A dx, and with the B-derivative BH (NOTES eq. 78) H^T BH(dx) and ||H + BH(dx)||^2, both over unit^2."""

    dx: Vector
    product: Vector
    slope: float
    left: float


@dataclass
class MapPoint:
    """y = A x + b, H = x - clip(x - scale y, lower, upper), and the rows A where H_i = scale_i y_i (NOTES eq. 77).

    scale is 1 except in rows with an extreme diagonal entry (`Problem.row_scales`): so H is what the residual measures.
    """

    y: Vector
    H: Vector
    active: Mask
    unit: float
    """A power of two about as large as H was at the start, so that no square overflows."""

    @staticmethod
    def empty(n: int, unit: float) -> MapPoint:
        return MapPoint(np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_), unit)

    def measure(self, problem: Problem, x: Vector) -> float:
        """Move to x; returns theta = 1/2 H^T H (NOTES eq. 64), over unit^2."""
        problem.A.slack(x, problem.b, self.y)
        bounds = problem.bounds(x)
        squares = minimum_map.measure(x, self.y, *bounds, problem.row_scales, self.unit, self.H, self.active)
        return 0.5 * float(squares)

    def derive(self, problem: Problem, dx: Vector, product: Vector) -> Direction:
        slope, left = minimum_map.derive(dx, product, problem.row_scales, self.unit, self.H, self.active)
        return Direction(dx, product, float(slope), float(left))

    @property
    def largest(self) -> float:
        return float(np.abs(self.H).max(initial=0.0))

    def is_rounding(self, problem: Problem, x: Vector) -> bool:
        """Whether H is no larger than the rounding errors in it."""
        terms = np.maximum(np.abs(self.y - problem.b), np.abs(problem.b))
        if problem.diagonal is not None:
            terms = np.maximum(terms, np.abs(problem.diagonal * x))
        size = (problem.row_scales * terms).max(initial=0.0) + np.abs(x).max(initial=0.0)
        return self.largest <= ROUNDING * float(size)


@dataclass
class MinimumMapState(State):
    here: MapPoint
    trial: MapPoint
    """Where the line search is; it changes places with `here` when a step is accepted."""
    theta: float
    reference: Reference
    equation: Equation
    is_new: bool = False
    """Whether a nested start is still to come."""
    failures: int = 0
    """Iterations in which the Newton direction failed."""
    transposed: sparse.csc_array | None = None
    """A^T, made when a gradient is first asked for; not where A is symmetric."""

    @property
    def spread(self) -> float:
        """||H|| as a multiple of the largest |H_i|."""
        return float(np.sqrt(2.0 * self.theta) * (self.here.unit / self.here.largest))


def newton_direction(problem: Problem, state: MinimumMapState, solved: Mask) -> Direction:
    """dx_F = -H_F, and A_SS dx_S = -(y_S + A_SF dx_F) for the `solved` rows S of A (NOTES eq. 79-80); others rest."""
    here = state.here
    dx = np.negative(here.H)
    np.copyto(dx, 0.0, where=here.active)
    product = state.equation.multiply(dx) if dx.any() else np.zeros(problem.n)
    right = here.y + product
    np.negative(right, out=right)
    answer = state.equation.solve(solved, right, here.largest, state.spread)
    state.counters["singular"] += answer.is_singular
    dx += answer.dx
    product += answer.product
    return here.derive(problem, dx, product)


def blocked_rows(problem: Problem, x: Vector, dx: Vector) -> Mask:
    """Rows at a bound that dx would push beyond it: the projection keeps them, so that theta does not see their dx."""
    lower, upper = problem.bounds(x)
    return np.asarray(((x <= lower) & (dx < 0.0)) | ((x >= upper) & (dx > 0.0)))


def held_direction(problem: Problem, state: MinimumMapState, dx: Vector) -> Direction | None:
    """Newton's direction with the rows held that it pushes out of the box, those that it then pushes out held too, ...

    The active rows that are held stay at their bound, where dx_i = 0; the slack that they have there is left to the
    others. None where there is nothing to hold, or no end to it.
    """
    solved = state.here.active.copy()
    direction = None
    for _ in range(HOLDS):
        blocked = solved & blocked_rows(problem, state.x, dx)
        if not blocked.any():
            return direction
        solved &= ~blocked
        direction = newton_direction(problem, state, solved)
        dx = direction.dx
    return None


def gradient(problem: Problem, state: MinimumMapState, is_symmetric: bool) -> Vector | None:
    """J^T H, the gradient of theta: A^T scale H over the active rows, and H_F; None where A^T cannot be had."""
    here = state.here
    weight = np.where(here.active, problem.row_scales * here.H, 0.0)
    if is_symmetric:
        pulled = state.equation.multiply(weight)
    elif TO_SPARSE in problem.A.ability_set:
        if state.transposed is None:
            state.transposed = problem.A.to_sparse().T
        pulled = state.transposed @ weight
    else:
        return None
    return np.asarray(pulled + np.where(here.active, 0.0, here.H))


def gradient_direction(problem: Problem, state: MinimumMapState, slope: Vector) -> Direction | None:
    """Down the gradient as far as the linear model falls; None where theta is flat, which is a local minimum.

    Along p = -gradient, without the components that leave the box, ||H + t J p||^2 is least at
    t = -H^T J p / ||J p||^2, and falls by the squared cosine of the angle between H and J p, as a share.
    """
    here = state.here
    p = np.where(blocked_rows(problem, state.x, -slope), 0.0, -slope)
    largest = np.abs(p).max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return None
    p /= largest
    product = state.equation.multiply(p)
    H, Jp = here.H / here.unit, np.where(here.active, problem.row_scales * product, p)
    descent, squares = -float(np.sum(H * Jp)), float(np.sum(Jp * Jp))
    if descent <= FLAT * np.sqrt(2.0 * state.theta * squares):
        return None
    length = here.unit * descent / squares
    dx = length * p
    # g^T (project(x + tau dx) - x) is a convex function of tau, so that its value at tau = 1 is a slope for all tau < 1
    inside = problem.project(state.x + dx) - state.x
    return Direction(dx, length * product, float(np.sum(slope / here.unit * (inside / here.unit))), 2.0 * state.theta)


def find_proof(problem: Problem, state: MinimumMapState, left: Vector | None = None) -> Vector | None:
    """A vector that proves the problem infeasible, or None.

    At a minimum of theta over the box that is no solution, J^T H points out of the box; if the rows at bounds have
    H = 0 there, then u = -scale H of the active rows has A^T u = -J^T H, and is a proof by Farkas' lemma
    (`perp.problems.certificates`). Where rows of a singular A_AA contradict each other, a null vector in what is
    `left` of the Newton equation is one.
    """
    if TO_SPARSE not in problem.A.ability_set or not (problem.A.pulls_unformed or state.equation.may_form_A):
        return None
    here = state.here
    if left is None:
        has_two = np.isfinite(problem.bounds(state.x)).all(axis=0)
        u: Vector | None = np.where(here.active & ~has_two, -problem.row_scales * here.H, 0.0)
    else:
        u = state.equation.find_contradiction(here.active, -left)
    if u is None or not np.isfinite(u).all():
        return None
    return u if verify_certificate(problem, u).valid else None
