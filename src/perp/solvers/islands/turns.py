"""Islands whose turn does not come: how long it takes to find islands, and what becomes of those without time."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from perp.problems.deadline import OutOfTime, Pace
from perp.problems.inputs import Vector, freeze
from perp.problems.islands import Island, split_islands
from perp.problems.problem import Problem
from perp.problems.residual_scale import look
from perp.solvers.method import Method
from perp.solvers.results import Attempt, History, Result, Status, make_message

SPLITTING = Pace(2e7)
"""Entries of A a second that are split into islands."""


FEW_ENTRIES = 100_000
"""So many are split at once, however little time there is."""


def count_entries(problem: Problem) -> float:
    """What is looked at when a problem is split, beyond what is not worth a question."""
    stored = problem.A.nonzeros()
    return max(0.0, float(problem.A.work() if stored is None else stored) - FEW_ENTRIES)


def split_in_time(problem: Problem, at_least: int) -> tuple[Island, ...]:
    """The islands of a problem; all of it as one where there is no time to find them."""
    entries = count_entries(problem)
    if not entries:
        return split_islands(problem, at_least)
    try:
        with SPLITTING.work(entries):
            return split_islands(problem, at_least)
    except OutOfTime:
        return (Island(problem, freeze(np.arange(problem.n))),)


class Skipping:
    """Results at the starting point, many of them at little cost: one product with all of A serves all islands."""

    def __init__(self, problem: Problem, start: Vector, method: Method | str, tol: float) -> None:
        self._problem, self._start, self._tol = problem, start, tol
        self._name = "start" if isinstance(method, str) else method.label
        self._is_auto = isinstance(method, str)

    @cached_property
    def _whole(self) -> tuple[Vector, Vector] | None:
        """Slack and natural map, x - clip(x - y, lower, upper), of the starting point; None where that is not all."""
        problem = self._problem
        if problem.frictional is not None or problem.has_extreme_rows:
            return None
        _, y = look(problem, self._start)
        lower, upper = problem.bounds(self._start)
        return y, np.abs(self._start - np.clip(self._start - y, lower, upper))

    def skip(self, island: Island) -> Result:
        """What a solve of it without any time would return."""
        x = self._start[island.rows]
        if self._whole is None:
            residual, y = look(island.problem, x)
        else:
            y = self._whole[0][island.rows]
            residual = float(self._whole[1][island.rows].max(initial=0.0))
        is_solved = residual <= (0.0 if self._is_auto else self._tol)
        status = Status.CONVERGED if is_solved else Status.TIME_LIMIT
        return Result(
            problem=island.problem,
            method=self._name,
            x=x,
            y=y,
            status=status,
            message=make_message(status.value, "", residual, 0),
            iterations=0,
            residual=residual,
            seconds=0.0,
            setup_seconds=0.0,
            history=History.from_rows([(0, 0.0, residual, np.nan, 0)]),
            best_iteration=0,
            methods=() if self._is_auto and not is_solved else (Attempt(self._name, status, 0, 0.0, residual),),
            certificate=None,
            ray=None,
            notes=(),
        )
