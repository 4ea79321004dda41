"""The inverse that A itself nearly knows: of a convolution, waves divided by what A makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe
from perp.problems.inputs import Vector
from perp.problems.problem import Problem


class _RoughInverse(Preconditioner):
    """A shift is left out: P stays definite, and is a little further from A."""

    def __init__(self, inverse: Callable[[Vector], Vector]) -> None:
        self._inverse = inverse

    def follow(self, free: Mask, shift: Vector) -> None:
        self._free = free.copy()

    def apply(self, r: Vector) -> Vector:
        return np.where(self._free, self._inverse(np.where(self._free, r, 0.0)), 0.0)


@dataclass(frozen=True)
class FourierPreconditioner(Recipe):
    """P^-1 = (C^-1)_FF, with the circulant C nearest to a `ConvolutionOperator`: two Fourier transforms of the grid.

    For the elastic half-space, where A makes waves of length l smaller by l, C^-1 undoes that. The rows that are in
    contact change and P does not, so that nothing is made anew (Vollebregt 2014).
    """

    name: ClassVar[str] = "fourier"
    reference: ClassVar[str] = "Vollebregt 2014; T. Chan 1988 (the circulant)"

    def objection(self, problem: Problem) -> str | None:
        if problem.A.rough_inverse() is not None:
            return None
        return (
            f"preconditioner 'fourier' needs an A that knows a rough inverse of itself, as a positive semi-definite "
            f"convolution does; this one is {problem.A.form}"
        )

    def prepare(self, problem: Problem) -> Preconditioner:
        inverse = problem.A.rough_inverse()
        assert inverse is not None
        return _RoughInverse(inverse)
