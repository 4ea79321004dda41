"""The finest level of projected multigrid and its space of corrections: on a grid, or on PyAMG's levels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.linalg.multigrid import GridHierarchy
from perp.linalg.multigrid.algebraic import AlgebraicHierarchy
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.splitting.orders import Order, make_order
from perp.solvers.splitting.sweeps import make_sweeper, steps

Mask = NDArray[np.bool_]

PARALLEL = 1e-12
"""Two directions whose Gram determinant is so small a share of the product of their lengths are one."""

CYCLES = ("V", "F", "W")
"""In the order of `perp.kernels.multigrid.cycle`."""

RED, BLACK = np.uint64(0), np.uint64(1)


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
