"""How a Krylov method ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from perp.problems.inputs import Vector

Product = Callable[[Vector], Vector]
"""v -> A v, or r -> P^-1 r; must not keep or change its argument."""


class Ending(Enum):
    """The value is a sentence that a person can read."""

    CONVERGED = "the residual is within the tolerance"
    ITERATION_LIMIT = "the iteration limit was reached"
    NEGATIVE_CURVATURE = "the matrix is not positive definite: a direction of zero or negative curvature was met"
    INDEFINITE_PRECONDITIONER = "the preconditioner is not positive definite"
    BREAKDOWN = "the method cannot go on: a division by zero, or the residual no longer falls"
    NON_FINITE = "a number on the way is not finite"


@dataclass(frozen=True)
class Solution:
    """x, and how good it is: `residual` is the 2-norm of b - A x as the method knows it."""

    x: Vector
    ending: Ending
    iterations: int
    residual: float
    direction: Vector | None = None
    """For NEGATIVE_CURVATURE the direction d with d^T A d <= 0."""

    @property
    def success(self) -> bool:
        return self.ending is Ending.CONVERGED
