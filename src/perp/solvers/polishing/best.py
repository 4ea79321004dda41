"""The best point that a polish has seen, and when it is good enough."""

from __future__ import annotations

from math import inf, isnan

import numpy as np

from perp.problems.deadline import Deadline
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residual_scale import least_scale
from perp.problems.residuals import Watch

ENOUGH, GOOD, NEAR = 1e-13, 1e-12, 1e-2
"""Scaled residuals at which no other index set is tried, and between which it is worth while to try what takes long."""

ROUNDING = 2.0**-52

UNAVOIDABLE = 0.25 * ROUNDING
"""Of the largest A_ii x_i, less than the rounding errors of y: a residual below is as good as can be, too."""


class BestPoint:
    """Points are judged by the problem as it was given, whatever form of it the linear systems are made of."""

    problem: Problem
    deadline: Deadline
    residual: float

    def __init__(self, problem: Problem, x: Vector, deadline: Deadline) -> None:
        self.problem, self.deadline = problem, deadline
        self.rounds = 0
        self._watch = Watch(problem)
        self.x: Vector = x
        self._given = self.residual = self._measure(x)
        inside = problem.project(x)
        if (inside != x).any():  # a point outside is no answer, however small its residual is
            self.x, self.residual = inside, self._measure(inside)
        self.y: Vector = self._watch.y.copy()
        """The slack of the x that was given, within its bounds."""
        scale = least_scale(problem)  # what residuals are a share of
        self.rounding: float = ROUNDING * scale
        """What is not worth another correction."""
        self._enough, self._good, self._near = ENOUGH * scale, GOOD * scale, NEAR * scale
        if problem.diagonal is not None:
            rows = problem.diagonal * self.x
            largest = float(np.abs(rows * problem.row_scales if problem.has_extreme_rows else rows).max())
            self._enough = max(self._enough, UNAVOIDABLE * largest)

    def offer(self, x: Vector) -> float:
        """The residual of x, which must not be changed afterwards; kept if it is the best so far."""
        residual = self._measure(x)
        if residual < self.residual:
            self.x, self.residual = x, residual
        return residual

    def _measure(self, x: Vector) -> float:
        residual, *_, probe = self._watch.look(x)
        return inf if isnan(residual) or isnan(probe) else residual

    @property
    def is_enough(self) -> bool:
        return self.residual <= self._enough

    @property
    def is_promising(self) -> bool:
        """Whether x is not good yet, but near a solution."""
        return self._good < self.residual <= self._near

    @property
    def is_perfect(self) -> bool:
        """Whether the x that was given is an answer with nothing but rounding errors left."""
        return max(self.residual, self._given) <= self.rounding

    @property
    def is_better(self) -> bool:
        return self.residual < self._given

    @property
    def is_late(self) -> bool:
        return not self.deadline.allows(0.0)

    @property
    def seconds_left(self) -> float:
        return self.deadline.left
