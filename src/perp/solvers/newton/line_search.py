"""Projected back-tracking (NOTES 5.4): the Armijo condition for the point that is projected, which is then the iterate.

The listings of NOTES project in the search and not in the update; here the accepted point is the next iterate
(and SLIDES' projection of the direction, which would forbid any decrease of x, is not used).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from perp.problems.inputs import Vector
from perp.solvers.options import About

MEMORY = About("a merit need only be below the largest of so many last ones; 1: it must fall each time", at_least=1)
SUFFICIENT = About("share of the promised decrease that a step must bring; less than `reduction`", above=0.0, below=1.0)
REDUCTION = About("what the length of a step is multiplied by until it brings enough", above=0.0, below=1.0)
LEAST_STEP = About("share of a full step below which the search gives up", above=0.0)


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
