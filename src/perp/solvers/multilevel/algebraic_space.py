"""Levels of a matrix that is no stencil: Gauss-Seidel in the order of the rows, and PyAMG's interpolations."""

from __future__ import annotations

import numpy as np

from perp.linalg.multigrid.algebraic import AlgebraicHierarchy
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.multilevel.level_space import CYCLES, LevelSpace, Mask, Plane
from perp.solvers.splitting.orders import Order, make_order
from perp.solvers.splitting.sweeps import make_sweeper


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
