"""The walk through all index sets, as Python sees it."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.pivoting import principal_pivots, small_problems
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.pivoting.scaled_problem import ScaledProblem, Sides, scale_problem, tight_sides

BUFFER = 1024
"""So many solutions, and as many singular sets, are handed over by the kernel at a time."""

MOST_SINGULAR = 2**15
"""Beyond so many consistent singular index sets the families are no longer complete."""


def sides_of_rows(problem: Problem) -> NDArray[np.int64]:
    """How many sides each row has to choose from: 1 (fixed, or without bounds), 2 (one bound) or 3 (two bounds)."""
    lower, upper = problem.bounds(problem.b)
    count: NDArray[np.int64] = np.where(
        lower == upper, 1, 1 + np.isfinite(lower).astype(np.int64) + np.isfinite(upper).astype(np.int64)
    )
    return count


def number_of_sets(problem: Problem) -> int:
    return prod(int(sides) for sides in sides_of_rows(problem))


class IndexSetWalk:
    """Visits every index set once. `found` collects the solutions, `singular` the sets whose A_FF is singular.

    A solution is found in the one set in which its free rows are strictly between their bounds.
    """

    scaled: ScaledProblem

    def __init__(self, problem: Problem) -> None:
        self.scaled = scaled = scale_problem(problem)
        first = np.where(np.isfinite(scaled.x_lower), scaled.x_lower, scaled.x_upper)
        unbounded = np.isinf(first)
        side, rest = tight_sides(scaled, np.where(unbounded, 0.0, first))
        wanted = np.where(unbounded, principal_pivots.FREE, side)
        sides = sides_of_rows(problem)
        rows = np.flatnonzero(sides > 1)
        self.data: principal_pivots.Data = principal_pivots.Data(scaled.A, scaled.b, scaled.lower, scaled.upper)
        self.tableau: principal_pivots.Tableau = principal_pivots.make_tableau(scaled.A, side, rest)
        self.tableau.depth[:] = np.abs(scaled.A[:: problem.n + 1])
        principal_pivots.evaluate(self.data, self.tableau)
        self.progress: NDArray[np.int64] = np.zeros(small_problems.COUNT, dtype=np.int64)
        self.progress[small_problems.TOTAL] = number_of_sets(problem)
        self.walk: small_problems.Walk = small_problems.Walk(
            wanted,
            rows.astype(np.uint32),
            np.zeros(rows.size, dtype=np.int64),
            sides[rows],
            np.ones(rows.size, dtype=np.int64),
            np.arange(rows.size + 1),
            self.progress,
            np.empty((BUFFER, problem.n)),
            np.empty((BUFFER, problem.n), dtype=np.int8),
        )
        self.found: list[Vector] = []
        self.singular: list[Sides] = []
        self.complete: bool = True
        """Whether every consistent singular set could be kept."""

    @property
    def visited(self) -> int:
        return int(self.progress[small_problems.VISITED])

    @property
    def finished(self) -> bool:
        return self.visited == int(self.progress[small_problems.TOTAL])

    def visit(self, count: int) -> int:
        """Look at the next `count` index sets; return how many there were."""
        done = int(small_problems.visit(count, self.data, self.tableau, self.walk))
        self._collect()
        while done < count and not self.finished:
            done += int(small_problems.visit(count - done, self.data, self.tableau, self.walk))
            self._collect()
        return done

    def _collect(self) -> None:
        """Empty the buffers of the kernel."""
        scaled = self.scaled
        found: Any = np.clip(
            self.walk.found[: self.progress[small_problems.FOUND]] * scaled.scales, scaled.x_lower, scaled.x_upper
        )
        self.found += list(found)
        room = max(MOST_SINGULAR - len(self.singular), 0)
        self.complete = self.complete and self.progress[small_problems.OPEN] <= room
        self.singular += list(self.walk.singular[: min(self.progress[small_problems.OPEN], room)].copy())
        self.progress[small_problems.FOUND] = self.progress[small_problems.OPEN] = 0
