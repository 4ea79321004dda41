"""The point that belongs to an index set: rows at their bounds, and the others as a linear system, refined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.linalg.free_systems.base import Mask
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.polishing.best import BestPoint
from perp.solvers.polishing.row_solver import RowSolver
from perp.solvers.polishing.sets import Sides
from perp.solvers.polishing.systems import Systems

SOLVED = 1e-3
"""A way to solve the system has worked if it leaves at most this share of the slack of the free rows."""

REFINEMENTS = 30
"""Corrections at most; each must halve what is left, so that only a shift that is taken back needs more than three."""


@dataclass(frozen=True, eq=False)
class Proximity:
    """y + shift (x - centre) in the place of y."""

    centre: Vector
    shift: Vector


class IndexSets:
    """Solves for one index set after the other, and offers what it finds as an answer."""

    lower: Vector
    upper: Vector

    def __init__(self, problem: Problem, best: BestPoint, lower: Vector, upper: Vector) -> None:
        self._problem, self._best = problem, best
        self.lower, self.upper = lower, upper
        self._scales = problem.row_scales if problem.has_extreme_rows else None
        self._systems = Systems(problem)
        self._near: Proximity | None = None
        self._free, self._name = 0, ""

    def solve(self, sides: Sides, near: Proximity | None) -> tuple[Vector, Vector] | None:
        """The point of this set, which may leave its bounds, and its slack; None where nothing can solve it."""
        best = self._best
        self._near = near
        free = sides == 0
        point = np.where(free, best.x, np.where(sides < 0, self.lower, self.upper))
        y = self._slack(point)
        first = left = self._left(free, y)
        if left == 0.0:  # nothing is to be solved for
            self._offer(point, 0, "without a system")
            return point, y
        for way in self._systems.ways(free, None if near is None else near.shift, best.seconds_left):
            trial, slack, rest = self._refine(way.system, free, point, y, left)
            if rest < left:
                point, y, left = trial, slack, rest
                self._offer(point, int(np.count_nonzero(free)), way.name)
            if left <= SOLVED * first or best.is_enough or best.is_late:
                break
        return (point, y) if left < first else None

    def _offer(self, point: Vector, free: int, name: str) -> None:
        """What of the point lies within the bounds."""
        before = self._best.residual
        self._best.offer(np.minimum(np.maximum(point, self.lower), self.upper))
        if self._best.residual < before:
            self._free, self._name = free, name if self._near is None else f"{name}, near the point before"

    def _refine(
        self, system: RowSolver, free: Mask, point: Vector, y: Vector, left: float
    ) -> tuple[Vector, Vector, float]:
        """x_F -= A_FF^-1 y_F, with y computed anew each time, as long as that halves what is left of y_F."""
        for _ in range(REFINEMENTS):
            try:
                trial = point - system.solve(y)
            except ArithmeticError:
                break
            slack = self._slack(trial)
            rest = self._left(free, slack)
            if not rest < left:
                break
            halved = rest <= 0.5 * left
            point, y, left = trial, slack, rest
            if not halved or left <= self._best.rounding or system.complaint or self._best.is_late:
                break
        return point, y, left

    def _slack(self, x: Vector) -> Vector:
        y = self._problem.A.slack(x, self._problem.b, np.empty(x.size))
        if self._near is not None:
            y += self._near.shift * (x - self._near.centre)
        return y

    def _left(self, free: Mask, y: Vector) -> float:
        """The largest slack of the free rows, extreme ones scaled as the residual is."""
        part = y[free] if self._scales is None else (self._scales * y)[free]
        return float(np.abs(part).max(initial=0.0))

    def tell(self) -> str:
        """How the best point was found."""
        return f"{self._free} free rows were solved for {self._name}; {self._best.rounds} index sets were tried"
