"""What makes Newton's methods global: line searches, and proximal points where those fail.

Projected back-tracking (NOTES 5.4): the Armijo condition for the point that is projected, which is then the iterate.

The listings of NOTES project in the search and not in the update; here the accepted point is the next iterate
(and SLIDES' projection of the direction, which would forbid any decrease of x, is not used).

The proximal-point loop around a Newton method: problems that are easier, and tend to the one that was asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.options import About

MEMORY = About(
    "a merit need only be below the largest of so many last ones; 1: it must fall each time",
    at_least=1,
    synonyms=("nonmonotone", "nonmonotone_memory"),
)
SUFFICIENT = About(
    "share of the promised decrease that a step must bring; less than `reduction`",
    above=0.0,
    below=1.0,
    synonyms=("armijo", "c1"),
)
REDUCTION = About(
    "what the length of a step is multiplied by until it brings enough",
    above=0.0,
    below=1.0,
    synonyms=("backtracking",),
)
LEAST_STEP = About(
    "share of a full step below which the search gives up", above=0.0, synonyms=("alpha_min", "min_step")
)

PROXIMAL = ("rescue", "always", "never")

PROXIMAL_LOOP = About(
    "solve easier problems in turn: where all else fails (rescue), from the start, or never", PROXIMAL
)

PROXIMAL_REDUCTION = 0.01
"""A subproblem is solved when its residual is this share of what the asked problem has at the centre."""

EASY, HARD = 4, 15
"""Newton iterations for a subproblem up to which the weight falls, and after which it rises."""

FALL, RISE = 0.25, 4.0

MOST_FAILURES, DOUBTS = 60, 12
"""Subproblems in a row that could not be solved, or centres that were not better than the best, before it gives up; and
how many give reason to ask whether the problem has a solution at all."""


def require_reduction(sufficient: float, reduction: float) -> None:
    """Raise ValueError where no shorter step could bring enough."""
    if not sufficient < reduction < 1.0:
        raise ValueError(f"sufficient is {sufficient} and reduction {reduction}; sufficient < reduction < 1 is needed")


@dataclass
class MeritPoint:
    """A point, which may lie outside of what its law allows, its slack, F, and the merit theta."""

    point: Vector
    y: Vector
    F: Vector
    theta: float = np.inf

    @classmethod
    def empty(cls, n: int) -> Self:
        return cls(np.empty(n), np.empty(n), np.empty(n))


@dataclass(frozen=True)
class Step:
    """The accepted point, its merit, and the step length that led there."""

    x: Vector
    merit: float
    step_length: float
    evaluations: int


@dataclass(frozen=True)
class Armijo:
    """psi(tau) = theta(project(x + tau dx)) <= reference + sufficient tau slope  (NOTES eq. 83, tau = 1, beta, ...).

    `reduction` is beta, `sufficient` alpha, `least_step` delta: below it the search gives up (returns None).
    """

    sufficient: float = 1e-4
    reduction: float = 0.5
    least_step: float = 1e-10

    def search(
        self,
        merit: Callable[[Vector], float],
        project: Callable[[Vector], Vector],
        x: Vector,
        dx: Vector,
        reference: float,
        slope: float,
    ) -> Step | None:
        step_length, evaluations = 1.0, 0
        while step_length >= self.least_step:
            moved = step_length * dx
            moved += x
            candidate = project(moved)
            value = merit(candidate)
            evaluations += 1
            if value <= reference + self.sufficient * step_length * slope:
                return Step(candidate, value, step_length, evaluations)
            step_length *= self.reduction
        return None


@dataclass
class Reference:
    """What a new merit is compared with: the largest of the last `memory` ones (Grippo, Lampariello & Lucidi 1986).

    memory = 1 is the monotone search.
    """

    memory: int
    last: deque[float] = field(default_factory=deque)

    def remember(self, merit: float) -> None:
        self.last.append(merit)
        while len(self.last) > self.memory:
            self.last.popleft()

    @property
    def value(self) -> float:
        return max(self.last)


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
        return largest_residual(problem, x, y) <= PROXIMAL_REDUCTION * self.residual

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
