"""What a preconditioner is: a recipe (options, no matrix), and what it makes of a matrix and a set of free rows.

For A_FF x_F = r_F the preconditioner is a symmetric positive definite P ~ A_FF + diag(shift)_FF whose inverse is cheap
to apply (THESIS chapter 4). F changes from solve to solve, so `follow(free, shift)` comes before `apply(r)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

Mask = NDArray[np.bool_]


class Preconditioner(ABC):
    """P for one matrix: `follow(free, shift)` makes it for these rows, `apply(r)` is P^-1 r, zero on the other rows."""

    @abstractmethod
    def follow(self, free: Mask, shift: Vector) -> None:
        """Make P for A_FF + diag(shift)_FF. Nothing is done where neither F nor the shift changed."""

    @abstractmethod
    def apply(self, r: Vector) -> Vector:
        """P^-1 r: reads r on the free rows, returns a new vector that is zero on the others."""

    def report(self) -> dict[str, float]:
        """What P is made of: `nonzeros` of its factor, `shifts`, `imaginary_columns`, ... where they mean something."""
        return {"nonzeros": 0}


@dataclass(frozen=True)
class Recipe(ABC):
    """Options are fields, checked when the recipe is made; `prepare` binds it to the matrix of a problem."""

    name: ClassVar[str]
    """The one name: options of methods, command line, tables."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """The operator abilities (`perp.problems.operators.base`)."""
    reference: ClassVar[str]

    def objection(self, problem: Problem) -> str | None:
        """Why this preconditioner cannot be made for this problem, or None."""
        missing = sorted(self.needs - problem.A.ability_set)
        if missing:
            needed = ", ".join(missing)
            return f"preconditioner '{self.name}' needs {needed} of A, which is {problem.A.form}; 'none' needs nothing"
        return None

    @abstractmethod
    def prepare(self, problem: Problem) -> Preconditioner: ...


def positive_diagonal(diagonal: Vector, shift: Vector) -> Vector:
    """|A_ii + shift_i|, and 1 where that is zero: a row without a diagonal entry is left as it is."""
    size = np.abs(diagonal + shift)
    size[size == 0.0] = 1.0
    return size
