"""Results of islands and of the whole, and what becomes of islands without time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan
from typing import overload

import numpy as np

from perp.problems.certificates import Certificate, verify_certificate
from perp.problems.deadline import OutOfTime, Pace
from perp.problems.inputs import Vector, freeze
from perp.problems.islands import Island, gather, split_islands
from perp.problems.problem import Problem
from perp.problems.residual_scale import look, scaled_residual
from perp.solvers.method import Method
from perp.solvers.results import Attempt, History, Result, Status, join_histories, make_message

SPLITTING = Pace(2e7)
"""Entries of A a second that are split into islands."""

FEW_ENTRIES = 100_000
"""So many are split at once, however little time there is."""


@dataclass(frozen=True, repr=False, eq=False)
class IslandsResult(Result):
    """The answer of a whole problem, made of those of its islands."""

    islands: tuple[Island, ...]
    parts: tuple[Result, ...]
    """One result an island, in the order of `islands`, with its own history and what its method counted."""


def combine(
    problem: Problem,
    islands: tuple[Island, ...],
    parts: tuple[Result, ...],
    tol: float,
    splitting: float,
    notes: list[str],
    *,
    is_scaled: bool = False,
) -> IslandsResult:
    """One result of all; `splitting` is the time [s] that went by before the first island, `notes` what it told.

    `is_scaled` says that `tol` is on the scaled residual, as with "auto".
    """
    x = gather(islands, parts)
    residual, y = look(problem, x)
    certificate = _find_certificate(problem, islands, parts)
    worst = _worst(parts)
    measure = scaled_residual(problem, x, y, residual) if is_scaled else residual
    status = _name_status(parts, worst, certificate, measure, tol)
    iterations = sum(part.iterations for part in parts)
    if len(parts) == 1 or status is Status.STOPPED_BY_CALLBACK:
        decisive = next(part for part in parts if part.status is status or len(parts) == 1)
        message, reason = decisive.message, decisive.reason
    else:
        reason = _tell_failures(islands, parts, worst)
        message = make_message(status.value, reason, residual, iterations)
    methods = list(dict.fromkeys(part.method for part in parts))
    attempts = [attempt for part in parts for attempt in part.methods]
    return IslandsResult(
        problem=problem,
        method=" and ".join(methods),
        x=x,
        y=y,
        status=status,
        message=message,
        reason=reason,
        iterations=iterations,
        residual=residual,
        seconds=sum(part.seconds for part in parts),
        setup_seconds=splitting + sum(part.setup_seconds for part in parts),
        history=join_histories([part.history for part in parts]),
        best_iteration=sum(part.best_iteration for part in parts),
        methods=_join_attempts(attempts),
        certificate=certificate,
        ray=_spread(islands, parts, worst, parts[worst].ray),
        notes=(*_tell_islands(islands), *notes, *_join_notes(parts)),
        islands=islands,
        parts=parts,
    )


def _worst(parts: Sequence[Result]) -> int:
    """The number of the failed part with the largest residual; of the first part, where none failed."""
    sizes = [0.0 if part.success else inf if isnan(part.residual) else part.residual for part in parts]
    return sizes.index(max(sizes))


def _name_status(
    parts: Sequence[Result], worst: int, certificate: Certificate | None, residual: float, tol: float
) -> Status:
    ends = {part.status for part in parts}
    for outside in (Status.INTERRUPTED, Status.STOPPED_BY_CALLBACK):
        if outside in ends:
            return outside
    if certificate is not None:
        return Status.INFEASIBLE
    if ends != {Status.CONVERGED}:
        # a proof for an island that drowns in the rounding errors of the whole leaves no more than a direction
        return Status.RAY if parts[worst].status is Status.INFEASIBLE else parts[worst].status
    if residual <= tol:
        return Status.CONVERGED
    return Status.BREAKDOWN if isnan(residual) else Status.REDUCED_ACCURACY


def _find_certificate(problem: Problem, islands: Sequence[Island], parts: Sequence[Result]) -> Certificate | None:
    """The first proof that an island has no solution, zero in all other rows, if it also holds for the whole."""
    for number, part in enumerate(parts):
        if part.certificate is not None:
            certificate = verify_certificate(problem, _spread(islands, parts, number, part.certificate.u))
            if certificate.valid:
                return certificate
    return None


@overload
def _spread(islands: Sequence[Island], parts: Sequence[Result], number: int, own: Vector) -> Vector: ...
@overload
def _spread(islands: Sequence[Island], parts: Sequence[Result], number: int, own: Vector | None) -> Vector | None: ...
def _spread(islands: Sequence[Island], parts: Sequence[Result], number: int, own: Vector | None) -> Vector | None:
    """A vector of one island as one of the whole."""
    if own is None:
        return None
    whole = np.zeros(sum(part.x.size for part in parts))
    whole[islands[number].rows] = own
    return freeze(whole)


def _join_attempts(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """One entry a method and end, in the order of their first appearance, with sums and the largest residual."""
    groups: dict[tuple[str, Status | None], list[Attempt]] = {}
    for attempt in attempts:
        groups.setdefault((attempt.method, attempt.status), []).append(attempt)
    return tuple(
        Attempt(
            name,
            status,
            sum(one.iterations for one in group),
            sum(one.seconds for one in group),
            max(one.residual for one in group),
            f"in {len(group)} islands" if len(group) > 1 else group[0].why,
        )
        for (name, status), group in groups.items()
    )


def _tell_failures(islands: Sequence[Island], parts: Sequence[Result], worst: int) -> str:
    ends = Counter(part.status.name for part in parts if not part.success)
    if not ends:
        return ""
    rows = islands[worst].rows
    listed = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
    return (
        f"{ends.total()} of {len(parts)} islands failed ({listed}), "
        f"the one with the largest residual has {rows.size} rows from row {rows[0]} on"
    )


def _tell_islands(islands: Sequence[Island]) -> list[str]:
    largest = max(island.rows.size for island in islands)
    if len(islands) == 1:
        return ["solved as one island"]
    return [f"solved as {len(islands)} islands, the largest with {largest} rows"]


def _join_notes(parts: Sequence[Result]) -> list[str]:
    """Each note once, with the number of islands that have it."""
    notes = Counter(note for part in parts for note in part.notes)
    return [note if count == len(parts) else f"{note} (in {count} islands)" for note, count in notes.items()]


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
