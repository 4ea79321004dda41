"""The finest level of projected multigrid and its space of corrections: on a grid, or on PyAMG's levels.

Regions of a pressure problem in which nothing holds a constant: u = 1 there may prove that there is no solution.

If A u = 0 for the indicator u of a region, u^T y = u^T b whatever x is. Where no row of the region has an upper bound,
all ask for y >= 0, and b^T u < 0 leaves no solution: more flows in than can leave. Where none has a
lower bound, -u proves the same of b^T u > 0. (`perp.problems.certificates`)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.linalg.multigrid import GridHierarchy, find_grid_regions, grid_sizes
from perp.linalg.multigrid.algebraic import AlgebraicHierarchy
from perp.problems.certificates import rounding_share
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.splitting.sweeps import Order, make_order, make_sweeper, steps

ROUNDING = 1e-12
"""A row sum that is so small a share of its terms is zero."""

Mask = NDArray[np.bool_]

PARALLEL = 1e-12
"""Two directions whose Gram determinant is so small a share of the product of their lengths are one."""

CYCLES = ("V", "F", "W")
"""In the order of `perp.kernels.multigrid.cycle`."""

RED, BLACK = np.uint64(0), np.uint64(1)


def find_overfull_regions(problem: Problem) -> Vector | None:
    """A certificate made of 1 (or -1) in all regions that prove something, 0 elsewhere; None where there is none."""
    A = problem.A
    if TO_SPARSE not in A.ability_set:
        return None
    region: Any
    if A.stencil is not None and grid_sizes(A.stencil) is not None:
        region, is_open = find_grid_regions(A.stencil, ROUNDING)
        count = problem.n
    else:
        rows = A.to_sparse()
        count, region = sparse.csgraph.connected_components(rows, directed=False)
        is_open = np.abs(rows.sum(axis=1)) > ROUNDING * abs(rows).sum(axis=1)
    lower, upper = problem.bounds(problem.b)

    def sum_up(values: Any) -> Vector:
        sums: Vector = np.bincount(region, weights=values, minlength=count).astype(np.float64)
        return sums

    closed = sum_up(is_open) == 0.0
    if not closed[region].any():
        return None
    inflow, noise = sum_up(problem.b), rounding_share(problem.n) * sum_up(np.abs(problem.b))
    rises = closed & (sum_up(np.isfinite(upper)) == 0.0) & (inflow < -noise)
    falls = closed & (sum_up(np.isfinite(lower)) == 0.0) & (inflow > noise)
    u = rises[region].astype(np.float64) - falls[region]
    return u if u.any() else None


@dataclass(frozen=True)
class Plane:
    """Of f(x) = 1/2 x^T A x + b^T x at a point with slack y, along two directions d and s."""

    slope_d: float
    """y^T d."""
    slope_s: float
    curvature_d: float
    """d^T A d."""
    mixed: float
    """d^T A s."""
    curvature_s: float

    def least(self) -> tuple[float, float]:
        """Where f is least, as multiples of d and s; along d alone where the two are nearly one."""
        area = self.curvature_d * self.curvature_s
        determinant = area - self.mixed * self.mixed
        if not determinant > PARALLEL * area:
            return (-self.slope_d / self.curvature_d if self.curvature_d > 0.0 else 0.0), 0.0
        along_d = (self.mixed * self.slope_s - self.curvature_s * self.slope_d) / determinant
        along_s = (self.mixed * self.slope_d - self.curvature_d * self.slope_s) / determinant
        return along_d, along_s


class LevelSpace(ABC):
    """Sweeps over x, and corrections of it from coarser levels that move the free rows only."""

    closed: int = 0
    """Parts of the free rows in which nothing holds a constant, as far as the levels show them."""

    @abstractmethod
    def sweep_and_look(self, count: int, y: Vector, free: Mask) -> int:
        """So many sweeps of projected Gauss-Seidel over x; then its slack and free rows. How many changed sides.

        Free are all rows but those at a bound whose slack keeps them there, and fixed ones.
        """

    @abstractmethod
    def follow(self, free: Mask) -> None:
        """Make the coarse levels for these rows (the truncated basis)."""

    @abstractmethod
    def solve_below(self, y: Vector) -> None:
        """The coarse levels' answer -v to A d = -y on the free rows, by one cycle."""

    @abstractmethod
    def propose(self, length: float, y: Vector, out: Vector) -> tuple[float, float, int]:
        """out = x + length v, projected, less x; y^T out, out^T A out, and how many rows met a bound."""

    @abstractmethod
    def step_and_sweep(self, length: float, d: Vector, count: int) -> None:
        """x += length d, then so many sweeps in the other order."""

    @abstractmethod
    def measure_plane(self, d: Vector, s: Vector) -> Plane:
        """Along d and s, at x."""


class GridSpace(LevelSpace):
    """Forward sweeps take red cells first, backward ones black cells."""

    def __init__(
        self, problem: Problem, x: Vector, cycle: str, pre: int, post: int, monotone: bool, relaxation: float
    ) -> None:
        A = problem.A.stencil
        assert A is not None
        self._kind, self._pre, self._post = CYCLES.index(cycle), pre, post
        self._hierarchy = GridHierarchy(A)
        self._within = (*problem.bounds(x), x) if monotone else None
        bounded = problem.kind != "lcp"
        bounds = problem.bounds(x) if bounded else (problem.b, problem.b)  # of an LCP the kernels read no bounds
        self._bounds = (bounded, *bounds)
        self._b, self._x = problem.b, x
        self._sweeps = (relaxation, freeze(steps(problem, 1.0)), problem.b, *self._bounds)

    def sweep_and_look(self, count: int, y: Vector, free: Mask) -> int:
        return self._hierarchy.smooth(self._sweeps, (False, 0.0, count, RED, True), (y, self._x, y, free))

    def follow(self, free: Mask) -> None:
        self._hierarchy.follow(free)
        self.closed: int = self._hierarchy.closed

    def solve_below(self, y: Vector) -> None:
        self._hierarchy.solve_below(y, self._kind, self._pre, self._post, self._within)

    def propose(self, length: float, y: Vector, out: Vector) -> tuple[float, float, int]:
        return self._hierarchy.propose(length, self._bounds, self._x, y, out)

    def step_and_sweep(self, length: float, d: Vector, count: int) -> None:
        stages = (True, length, count, BLACK, False)
        self._hierarchy.smooth(self._sweeps, stages, (d, self._x, d, self._no_cells))

    _no_cells = np.zeros(0, dtype=np.bool_)

    def measure_plane(self, d: Vector, s: Vector) -> Plane:
        return Plane(*self._hierarchy.measure_plane(self._b, self._x, d, s))


class AlgebraicSpace(LevelSpace):
    def __init__(self, problem: Problem, x: Vector, cycle: str, pre: int, post: int) -> None:
        self._A, self._kind, self._pre, self._post = problem.A, CYCLES.index(cycle), pre, post
        self._hierarchy = AlgebraicHierarchy(problem.A.to_sparse())
        self._sweeper = make_sweeper(problem, 1.0, x)
        self._forward, self._backward = make_order(problem, "forward"), make_order(problem, "backward")
        self._b, self._x = problem.b, self._sweeper.x
        self._bounds = problem.bounds(x)
        self._zero, self._product, self._answer = freeze(np.zeros(problem.n)), np.empty(problem.n), np.zeros(problem.n)

    def sweep_and_look(self, count: int, y: Vector, free: Mask) -> int:
        self._sweep(self._forward, count)
        self._A.slack(self._x, self._b, y)
        lower, upper = self._bounds
        is_free = ((self._x > lower) | (y < 0.0)) & ((self._x < upper) | (y > 0.0)) & (lower < upper)
        changed = int(np.count_nonzero(is_free != free))
        free[:] = is_free
        return changed

    def step_and_sweep(self, length: float, d: Vector, count: int) -> None:
        np.clip(self._x + length * d, *self._bounds, out=self._x)
        self._sweep(self._backward, count)

    def _sweep(self, order: Order, count: int) -> None:
        if self._sweeper.refresh is not None:
            self._sweeper.refresh()
        order.iterate(self._sweeper.sweep, count)

    def follow(self, free: Mask) -> None:
        if self._hierarchy.usable:
            self._hierarchy.follow(free)
            self.closed: int = self._hierarchy.closed

    def solve_below(self, y: Vector) -> None:
        if self._hierarchy.usable:
            self._answer = self._hierarchy.correct(y, self._kind, self._pre, self._post)

    def propose(self, length: float, y: Vector, out: Vector) -> tuple[float, float, int]:
        lower, upper = self._bounds
        to = self._x + length * self._answer
        clipped = int(np.count_nonzero((to < lower) | (to > upper)))
        out[:] = np.clip(to, lower, upper) - self._x
        self._A.slack(out, self._zero, self._product)
        return _dot(y, out), _dot(out, self._product), clipped

    def measure_plane(self, d: Vector, s: Vector) -> Plane:
        self._A.slack(self._x, self._b, self._product)
        slopes = _dot(self._product, d), _dot(self._product, s)
        self._A.slack(d, self._zero, self._product)
        mixed = _dot(d, self._product), _dot(s, self._product)
        self._A.slack(s, self._zero, self._product)
        return Plane(*slopes, *mixed, _dot(s, self._product))


def _dot(u: Vector, v: Vector) -> float:
    """Summed in one order, whatever the number of threads."""
    return float(np.sum(u * v))
