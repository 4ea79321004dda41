"""A preconditioner that counts how often it is made, and how many of its columns are imaginary (THESIS 6.2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from perp.linalg.preconditioners import BY_NAME, Preconditioner, Recipe, make_recipe
from perp.linalg.preconditioners.base import Mask
from perp.problems.inputs import Vector
from perp.problems.problem import Problem


@dataclass
class Tally:
    """Sums over all factors that were made."""

    made: int = 0
    columns: int = 0
    imaginary: int = 0
    shifts: int = 0


@dataclass(frozen=True)
class MeteredRecipe(Recipe):
    """The same preconditioner, whose factors are added to a tally."""

    name: ClassVar[str] = "metered"
    reference: ClassVar[str] = "THESIS 6.2.4"

    inner: Recipe
    tally: Tally = field(compare=False)

    def objection(self, problem: Problem) -> str | None:
        return self.inner.objection(problem)

    def prepare(self, problem: Problem) -> Preconditioner:
        return _Metered(self.inner.prepare(problem), self.tally)


class _Metered(Preconditioner):
    def __init__(self, inner: Preconditioner, tally: Tally) -> None:
        self._inner, self._tally = inner, tally
        self._last: tuple[Mask, Vector] | None = None

    def follow(self, free: Mask, shift: Vector) -> None:
        self._inner.follow(free, shift)
        if self._last is not None and np.array_equal(free, self._last[0]) and np.array_equal(shift, self._last[1]):
            return
        self._last = free.copy(), shift.copy()
        report = self._inner.report()
        self._tally.made += 1
        self._tally.columns += int(np.count_nonzero(free))
        self._tally.imaginary += int(report.get("imaginary_columns", 0))
        self._tally.shifts += int(report.get("shifts", 0))

    def apply(self, r: Vector) -> Vector:
        return self._inner.apply(r)

    def report(self) -> dict[str, float]:
        return self._inner.report()


def read_recipe(given: str | Mapping[str, Any]) -> Recipe:
    """A recipe from plain data: a name, or a mapping with the `name` and options."""
    if isinstance(given, str):
        return make_recipe(given)
    options = dict(given)
    return BY_NAME[options.pop("name")](**options)
