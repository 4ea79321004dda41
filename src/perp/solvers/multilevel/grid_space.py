"""Levels of a stencil: red-black sweeps, and grids of half as many cells along each axis."""

from __future__ import annotations

import numpy as np

from perp.linalg.multigrid import GridHierarchy
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.multilevel.level_space import CYCLES, LevelSpace, Mask, Plane
from perp.solvers.splitting.sweeps import steps

RED, BLACK = np.uint64(0), np.uint64(1)


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
