"""Levels of a matrix that is no stencil: Gauss-Seidel in the order of the rows, and PyAMG's interpolations."""

from __future__ import annotations

import numpy as np

from perp.linalg.multigrid.algebraic import AlgebraicHierarchy
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.multilevel.level_space import CYCLES, LevelSpace, Mask, Plane
from perp.solvers.splitting.orders import make_order
from perp.solvers.splitting.sweeps import make_sweeper


class AlgebraicSpace(LevelSpace):
    def __init__(self, problem: Problem, x: Vector, cycle: str, pre: int, post: int) -> None:
        self._A, self._kind, self._pre, self._post = problem.A, CYCLES.index(cycle), pre, post
        self._hierarchy = AlgebraicHierarchy(problem.A.to_sparse())
        self._sweeper = make_sweeper(problem, 1.0, x)
        self._forward, self._backward = make_order(problem, "forward"), make_order(problem, "backward")
        self._b, self._x = problem.b, self._sweeper.x
        self._zero, self._product = freeze(np.zeros(problem.n)), np.empty(problem.n)

    def sweep(self, count: int, backward: bool) -> None:
        if self._sweeper.refresh is not None:
            self._sweeper.refresh()
        (self._backward if backward else self._forward).iterate(self._sweeper.sweep, count)

    def follow(self, free: Mask) -> None:
        if self._hierarchy.usable:
            self._hierarchy.follow(free)
            self.closed = self._hierarchy.closed

    def correct(self, y: Vector, out: Vector) -> None:
        out[:] = self._hierarchy.correct(y, self._kind, self._pre, self._post) if self._hierarchy.usable else 0.0

    def measure_line(self, y: Vector, d: Vector) -> tuple[float, float]:
        self._A.slack(d, self._zero, self._product)
        return _dot(y, d), _dot(d, self._product)

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
