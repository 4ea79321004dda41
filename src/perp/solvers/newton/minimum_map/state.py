"""Where a minimum map Newton iteration stands, and what it does where the Newton direction fails.

Then it holds the rows that the direction pushes out of the box, follows the gradient (NOTES 6), or finds a proof that
there is no solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from perp.kernels.newton import minimum_map
from perp.problems.certificates import verify_certificate
from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.line_search import Reference
from perp.solvers.newton.minimum_map.equation import Equation, Mask

ROUNDING = 64.0 * 2.0**-52
"""Rounding errors of H, as a share of the largest numbers that it was added up from."""

HOLDS = 20
"""Times that rows are held and the equation solved again; each holds at least one row more."""

FLAT = 1e-8
"""The cosine of the angle between H and its derivative along the gradient below which theta is flat."""


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
