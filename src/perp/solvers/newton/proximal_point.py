"""The proximal-point loop around a Newton method: problems that are easier, and tend to the one that was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.options import About

PROXIMAL = ("rescue", "always", "never")
PROXIMAL_LOOP = About(
    "solve easier problems in turn: where all else fails (rescue), from the start, or never", PROXIMAL
)

REDUCTION = 0.01
"""A subproblem is solved when its residual is this share of what the asked problem has at the centre."""

EASY, HARD = 4, 15
"""Newton iterations for a subproblem up to which the weight falls, and after which it rises."""

FALL, RISE = 0.25, 4.0

MOST_FAILURES, DOUBTS = 60, 12
"""Subproblems in a row that could not be solved, or centres that were not better than the best, before it gives up; and
how many give reason to ask whether the problem has a solution at all."""


@dataclass
class Proximal:
    """LCP(A + weight I, b - weight centre), solved one after another with the last solution as the new centre.

    The weight makes up for what A lacks in monotony (Rockafellar 1976); at a fixed point of the loop it changes
    nothing. It falls where a subproblem was easy and rises where one was hard. Without a weight there is no loop.
    """

    weight: float = 0.0
    centre: Vector = field(default_factory=lambda: np.empty(0))
    residual: float = np.inf
    """Of the asked problem at the centre."""
    best: float = np.inf
    taken: int = 0
    """Newton iterations on this subproblem."""
    failures: int = 0
    move: Vector = field(default_factory=lambda: np.empty(0))
    """From the last centre to this one: where nothing solves the problem, the direction in which x runs off."""

    @property
    def is_on(self) -> bool:
        return self.weight > 0.0

    def begin(self, problem: Problem, x: Vector, weight: float) -> None:
        """Start from x, which lies within its bounds."""
        self.weight, self.centre = weight, x
        self._move(problem, x)
        self.best = self.residual

    def add_to(self, y: Vector, x: Vector) -> None:
        """y + weight (x - centre), the slack of the subproblem, in place."""
        if self.is_on:
            y += self.weight * (x - self.centre)

    def is_solved(self, problem: Problem, x: Vector) -> bool:
        """Whether x, within its bounds, solves the subproblem well enough."""
        y = problem.slack(x)
        self.add_to(y, x)
        return largest_residual(problem, x, y) <= REDUCTION * self.residual

    def advance(self, problem: Problem, x: Vector) -> None:
        """x becomes the centre."""
        if self.taken <= EASY:
            self.weight *= FALL
        self._move(problem, x)
        self.failures = 0 if self.residual < self.best else self.failures + 1
        self.best = min(self.best, self.residual)

    def retreat(self) -> None:
        """The subproblem was too hard."""
        self.weight *= RISE
        self.taken = 0
        self.failures += 1

    def _move(self, problem: Problem, x: Vector) -> None:
        self.move = x - self.centre
        self.centre, self.taken = x.copy(), 0
        self.residual = largest_residual(problem, x, problem.slack(x))


def largest_residual(problem: Problem, x: Vector, y: Vector) -> float:
    """max |x - clip(x - y, lower, upper)| (see `perp.problems.residuals`)."""
    lower, upper = problem.bounds(x)
    return float(np.abs(np.clip(y, x - upper, x - lower)).max(initial=0.0))
