"""What every system for free rows can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

Mask = NDArray[np.bool_]


class FreeSystem(ABC):
    """`factor(free, shift)`, then `solve(r)`, which reads r on the free rows and returns dx, zero on the others.

    `shift` is added to the diagonal of A (zero, or a regularisation).
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self.factorisations = 0
        self.dependent = 0
        """Free rows that rest because they depend on other ones."""
        self.negative = 0
        """Those of them whose pivot was even negative: A is not positive semi-definite."""
        self.added: Vector = np.empty(0)
        """What the last factor has on its diagonal beside A."""
        self.tolerance: float = 0.0
        """The share of the right-hand side that a solve may leave; factors leave rounding errors."""
        self.complaint = ""
        """Why the last solve is less accurate than it should be, where it is."""

    @abstractmethod
    def factor(self, free: Mask, shift: Vector) -> None: ...

    @abstractmethod
    def solve(self, r: Vector) -> Vector: ...

    def slack(self, problem: Problem, x: Vector, out: Vector) -> Vector:
        """out = A x + b, in the way that is quickest here."""
        return problem.A.slack(x, problem.b, out)

    can_keep_apart: ClassVar[bool] = False
    """Whether `keep_apart` can keep more than one row."""

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        """Of these rows, in this order, those that are not coupled (A_ij = 0) with one that was kept before.

        Where all rows count as coupled, that is the first.
        """
        keep = np.zeros(self.added.size, dtype=np.bool_)
        keep[rows[:1]] = True
        return keep

    def counters(self) -> dict[str, float]:
        """What was done so far; names are the same for all kinds where they mean the same."""
        return {"factorisations": self.factorisations}
