"""What a generator hands over: a problem together with what is known about its solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

Expected = Literal["solvable", "infeasible", "unsolvable", "several", "infinitely_many"]
"""What must come out.

`solvable` has a solution (nothing is said of others), `several` has finitely many but more than one, `infinitely_many`
a continuum. `infeasible` has no x >= 0 with y >= 0; `unsolvable` has such x, but none that is complementary.
"""


@dataclass(frozen=True, eq=False)
class Example:
    """A problem, its known solution `x` (or None), and the recipe (name, seed, options) that makes it again.

    `solutions` lists every solution where there are finitely many and they are known in closed form; for a continuum it
    lists the corners. `options` holds every option of the generator, given or not. Where the problem is a continuous
    one on a grid and the solution of that one is known, `continuous` has it at the points of the grid: x tends to it as
    the grid is refined.
    """

    problem: Problem
    x: Vector | None = None
    expected: Expected = "solvable"
    solutions: tuple[Vector, ...] = ()
    note: str = ""
    name: str = ""
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    continuous: Vector | None = None

    @property
    def is_solvable(self) -> bool:
        """Whether some x solves the problem."""
        return self.expected not in ("infeasible", "unsolvable")

    def __repr__(self) -> str:
        return f"<Example {self.name!r}, seed {self.seed}, {self.expected}: {self.problem!r}>"
