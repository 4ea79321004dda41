"""Where a minimum map Newton iteration stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.line_search import Reference
from perp.solvers.newton.minimum_map.equation import Equation, Mask

ROUNDING = 64.0 * 2.0**-52
"""Rounding errors of H, as a share of the largest numbers that it was added up from."""


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
        from perp.kernels.newton import minimum_map

        problem.A.slack(x, problem.b, self.y)
        bounds = problem.bounds(x)
        squares = minimum_map.measure(x, self.y, *bounds, problem.row_scales, self.unit, self.H, self.active)
        return 0.5 * float(squares)

    def derive(self, problem: Problem, dx: Vector, product: Vector) -> Direction:
        from perp.kernels.newton import minimum_map

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
