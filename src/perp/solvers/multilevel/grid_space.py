"""Levels of a stencil: red-black sweeps, and grids of half as many cells along each axis."""

from __future__ import annotations

import numpy as np

from perp.linalg.multigrid import GridHierarchy
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import StencilOperator
from perp.problems.problem import Problem
from perp.solvers.multilevel.level_space import CYCLES, LevelSpace, Mask, Plane
from perp.solvers.splitting.sweeps import steps

RED, BLACK = np.uint64(0), np.uint64(1)


class GridSpace(LevelSpace):
    """Forward sweeps take red cells first, backward ones black cells."""

    def __init__(self, problem: Problem, x: Vector, cycle: str, pre: int, post: int, monotone: bool) -> None:
        A = problem.A
        assert isinstance(A, StencilOperator)
        self._A, self._kind, self._pre, self._post = A, CYCLES.index(cycle), pre, post
        self._hierarchy = GridHierarchy(A)
        self._within = (*problem.bounds(x), x) if monotone else None
        bounded = problem.kind != "lcp"
        bounds = problem.bounds(x) if bounded else (problem.b, problem.b)  # of an LCP the kernels read no bounds
        self._b, self._x, line = problem.b, x, np.empty(A.grid[-1])
        self._sweep_arrays = (1.0, freeze(steps(problem, 1.0)), problem.b, bounded, *bounds, x, line)

    def sweep(self, count: int, backward: bool) -> None:
        first = BLACK if backward else RED
        self._A.kernels.sweep_colours(count, first, False, *self._A.kernel_arguments, *self._sweep_arrays)

    def follow(self, free: Mask) -> None:
        self._hierarchy.follow(free)
        self.closed = self._hierarchy.closed

    def correct(self, y: Vector, out: Vector) -> None:
        self._hierarchy.correct(y, out, self._kind, self._pre, self._post, self._within)

    def measure_line(self, y: Vector, d: Vector) -> tuple[float, float]:
        return self._hierarchy.measure_line(y, d)

    def measure_plane(self, d: Vector, s: Vector) -> Plane:
        return Plane(*self._hierarchy.measure_plane(self._b, self._x, d, s))
