"""A problem solved island by island (THESIS 6.1): islands have nothing to do with one another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from threading import Lock
from typing import Any

from perp.errors import suggest
from perp.problems.deadline import deadline, hold, lift, now
from perp.problems.inputs import PointLike, Vector, require_count
from perp.problems.islands import Island
from perp.problems.operators.base import listen_for_forming
from perp.problems.problem import Problem
from perp.solvers.api import ARGUMENTS, as_stopping, solve, starting_point
from perp.solvers.islands.results import IslandsResult, Skipping, combine, split_in_time
from perp.solvers.loop import Progress, SolveInterrupted, interrupted_with
from perp.solvers.method import Method, require_fit
from perp.solvers.progress import AnyCallback, Callback, by_position
from perp.solvers.results import Result, Status
from perp.solvers.roster import default_methods, make_method
from perp.solvers.stopping import Stopping

WORTH_A_SOLVE = 512
"""Rows below which islands are united: the fixed cost of a solve is that of about 50 sweeps over so many rows."""


def solve_islands(
    problem: Problem,
    method: str | Method = "auto",
    *,
    at_least: int = WORTH_A_SOLVE,
    workers: int = 1,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    x0: PointLike | None = None,
    callback: AnyCallback | None = None,
    check_every: int | None = None,
    stop: Stopping | None = None,
    **options: Any,
) -> IslandsResult:
    """Split a problem into its islands (`perp.split_islands`), solve each with `perp.solve`, put the answers together.

    Parameters
    ----------
    at_least
        Islands with fewer rows are united, as a solve has a cost of its own; 1 solves each by itself.
    workers
        Threads. More than one pays where the islands are large; the answer is the same, bit by bit.
    max_iterations
        A limit for each island.
    max_seconds
        A limit for all islands together. Small islands then come first, so that they are not kept waiting by large
        ones; those whose turn does not come stay at the starting point.
    callback
        Called at every check of every island, never by two threads at a time. Iterations and seconds are those of all
        islands so far, x is that of the whole problem; residual, merit and active are those of the island that was
        checked. StopIteration ends the whole solve.

    The others are those of `perp.solve`. With "auto" the method is chosen for each island; a named one must fit each.

    Returns
    -------
    IslandsResult
        One `Result` for the whole problem. Its residual is that of the whole x, computed anew. It is CONVERGED if every
        island is and that residual is within the tolerance. Otherwise it has the status of the island with the largest
        residual; but a proof that an island has no solution is one for the whole, and INFEASIBLE. `iterations`,
        `seconds` and `setup_seconds` are sums over the islands (THESIS 6.2), the last with the time for splitting;
        `methods` has one entry a method, with sums as well. The history is that of the islands one after the other,
        without counters; `result.parts` has those.
    """
    begun = now()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    require_count(workers, "workers", least=1)
    criteria = as_stopping(stop).with_changes(
        tol=tol, max_iterations=max_iterations, max_seconds=max_seconds, check_every=check_every
    )
    named = _named_method(method, options)
    heard: list[str] = []
    with hold(inf if criteria.max_seconds is None else begun + criteria.max_seconds):
        with listen_for_forming(heard):
            islands = split_in_time(problem, at_least)
        x, notes = starting_point(problem, x0)
        notes += heard
        for island in islands:
            if named is not None:
                with lift():
                    require_fit(named, island.problem, default_methods)
        run = IslandRun(islands, named, x, criteria, callback, begun, is_warm=x0 is not None)
        return run.result(problem, workers, notes)


def _named_method(method: str | Method, options: dict[str, Any]) -> Method | None:
    arguments = (*ARGUMENTS, "at_least", "workers")
    if not (isinstance(method, str) and method == "auto"):
        return make_method(method, options, arguments)
    for name in options:
        raise TypeError(
            f"solve_islands has no argument {name!r}{suggest(name, arguments)}; options need a named method"
        )
    return None


class IslandRun:
    """The islands on their way; `parts` has the result of each that is done."""

    islands: tuple[Island, ...]
    stop: Stopping
    begun: float
    start: Vector
    x: Vector
    iterations: list[int]
    seconds: list[float]

    def __init__(
        self,
        islands: tuple[Island, ...],
        method: Method | None,
        x: Vector,
        stop: Stopping,
        callback: AnyCallback | None,
        begun: float,
        *,
        is_warm: bool,
    ) -> None:
        """`method` None is "auto"; x is where each island starts, or where the cold start is."""
        self.islands, self.stop, self.begun = islands, stop, begun
        self.callback: Callback | None = by_position(callback)
        self.method: Method | str = method or "auto"
        self.is_warm: bool = is_warm or method is not None
        self.start, self.x = x, x.copy()
        self.parts: list[Result | None] = [None] * len(islands)
        self.iterations, self.seconds = [0] * len(islands), [0.0] * len(islands)
        self.halted: bool = False
        self.at_work: list[Lock] = [Lock() for _ in islands]
        self.telling: Lock = Lock()

    def result(self, problem: Problem, workers: int, notes: list[str]) -> IslandsResult:
        """Solve all, and make one result of it."""
        splitting = now() - self.begun
        self.skipping = Skipping(problem, self.start, self.method, self.stop.tol)
        self.deadline = deadline()
        self.is_watched: bool = self.callback is not None or workers > 1
        try:
            self.go(workers)
        except KeyboardInterrupt:
            parts = tuple(_as_interrupted(part) for part in self.done)
            raise interrupted_with(self._combine(problem, parts, splitting, notes)) from None
        return self._combine(problem, self.done, splitting, notes)

    def _combine(
        self, problem: Problem, parts: tuple[Result, ...], splitting: float, notes: list[str]
    ) -> IslandsResult:
        tol, is_scaled = self.stop.tol, self.method == "auto"
        with lift():  # what was found is put together, whatever the time is
            return combine(problem, self.islands, parts, tol, splitting, notes, is_scaled=is_scaled)

    @property
    def done(self) -> tuple[Result, ...]:
        return tuple(part for part in self.parts if part is not None)

    def go(self, workers: int) -> None:
        """Largest first, so that workers end together; small ones first where time may run out."""
        direction = -1 if self.stop.max_seconds is None else 1
        order = sorted(range(len(self.islands)), key=lambda number: direction * self.islands[number].rows.size)
        try:
            if workers == 1:
                for number in order:
                    self.solve(number)
            else:
                with ThreadPoolExecutor(workers) as pool:
                    try:
                        for done in [pool.submit(self.solve, number) for number in order]:
                            done.result()
                    except BaseException:
                        self.halted = True  # those at work end at their next check, the others at once
                        raise
        except KeyboardInterrupt:
            self.halted = True
            for number in order:
                self.solve(number)
            raise

    def solve(self, number: int) -> None:
        """Solve an island, unless that is done; one that is at work elsewhere is waited for.

        (Ctrl-C may hit the main thread while it starts another, which the pool then does not know of.)
        """
        with self.at_work[number]:
            if self.parts[number] is None:
                self.parts[number] = self.solve_now(number)

    def solve_now(self, number: int) -> Result:
        island, stop = self.islands[number], self.stop
        if not self.halted and not self.deadline.allows(0.0):
            return self.skipping.skip(island)
        if stop.max_seconds is not None:
            stop = replace(stop, max_seconds=max(0.0, stop.max_seconds - (now() - self.begun)))
        if stop.max_iterations is not None and self.method == "auto":  # a limit for all
            stop = replace(stop, max_iterations=max(0, stop.max_iterations - sum(one.iterations for one in self.done)))

        def watch(progress: Progress) -> None:
            self.watch(number, progress)

        try:
            return solve(
                island.problem,
                self.method,
                x0=self.start[island.rows] if self.is_warm else None,
                stop=stop,
                callback=watch if self.is_watched or self.halted else None,
            )
        except SolveInterrupted as interrupt:
            self.parts[number] = interrupt.partial_result
            raise

    def watch(self, number: int, progress: Progress) -> None:
        with self.telling:
            if self.halted:
                raise StopIteration
            if self.callback is None:
                return
            self.iterations[number], self.seconds[number] = progress.iteration, progress.seconds
            self.x[self.islands[number].rows] = progress.x
            try:
                self.callback(
                    replace(progress, iteration=sum(self.iterations), seconds=sum(self.seconds), x=self.x.copy())
                )
            except StopIteration:
                self.halted = True
                raise


def _as_interrupted(part: Result) -> Result:
    """Islands that were told to stop because of Ctrl-C."""
    if part.status is not Status.STOPPED_BY_CALLBACK:
        return part
    return replace(part, status=Status.INTERRUPTED, message=Status.INTERRUPTED.value)
