"""The one outer loop: history, callback, limits, guards, best-so-far and stopping, for every iterative method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan
from time import perf_counter

import numpy as np

from perp.errors import OperatorFault
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.history import History
from perp.solvers.method import Method, State
from perp.solvers.result import Result
from perp.solvers.status import Status
from perp.solvers.stopping import Stopping

SECONDS_A_CALL = 0.02
"""A compiled step is asked for no more iterations than fit in this time: Ctrl-C and time limits act within it."""

SMALL_FIRST_STEP = 100_000
"""Rows times iterations up to which the first step, whose pace is not yet known, is asked for at full width."""

ROUNDING_LEVEL = 1e-12
"""An iteration that goes round in circles of this relative size has stagnated; larger circles are cycling."""


@dataclass(frozen=True)
class Progress:
    """What a callback sees at a check. Raise StopIteration in it to stop the solve."""

    iteration: int
    seconds: float
    residual: float
    merit: float
    active: int
    x: Vector
    """A copy of the iterate: changing it changes nothing."""


Callback = Callable[[Progress], object]


@dataclass(frozen=True)
class Outcome:
    """How the loop ended; `solve` makes a `Result` of it."""

    x: Vector
    status: Status
    message: str
    iterations: int
    best_iteration: int
    seconds: float
    setup_seconds: float
    history: History


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C during a solve: still a KeyboardInterrupt, which carries along what was reached."""

    partial_result: Result

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("the solve was interrupted; exception.partial_result holds what was reached")
        self.outcome = outcome


def iterate(problem: Problem, method: Method, x: Vector, stop: Stopping, callback: Callback | None = None) -> Outcome:
    """Run `method` from x, which must lie within its bounds, until a criterion of `stop` holds."""
    run = _Run(problem, method, x, stop, callback)
    with np.errstate(all="ignore"):  # overflow is told by the status, not by a warning
        try:
            status, message = run.go()
        except KeyboardInterrupt:
            raise SolveInterrupted(run.outcome(Status.INTERRUPTED, "")) from None
    return run.outcome(status, message)


class _Run:
    """The variables of one loop."""

    def __init__(self, problem: Problem, method: Method, x: Vector, stop: Stopping, callback: Callback | None) -> None:
        self.begun = perf_counter()
        self.problem, self.method, self.stop, self.callback = problem, method, stop, callback
        self.x, self.best_x = x, x.copy()
        self.best_residual, self.best_iteration, self.iteration = inf, 0, 0
        self.seconds = self.setup_seconds = 0.0
        self.rows: list[tuple[int, float, float, float, int]] = []
        self.merit = inf
        self.unchanged = 0
        self.checks, self.next_mark = 0, 1
        self.check_every = stop.check_every or method.check_every

    def go(self) -> tuple[Status, str]:
        try:
            return self._go()
        except OperatorFault as fault:
            return Status.BREAKDOWN, str(fault)

    def _go(self) -> tuple[Status, str]:
        self.watch = Watch(self.problem)
        verdict = self._check(self.x)
        if verdict is not None:
            return verdict
        started = perf_counter()
        state = self.method.start(self.problem, self.x.copy())
        self.setup_seconds = perf_counter() - started
        pace = 0.0 if self.problem.n * self.check_every <= SMALL_FIRST_STEP else SECONDS_A_CALL
        while True:
            due = min(self.iteration + self.check_every, self.stop.max_iterations)
            while self.iteration < due:
                width = due - self.iteration
                if pace * width > SECONDS_A_CALL:
                    width = max(1, int(SECONDS_A_CALL / pace))
                before = perf_counter()
                self.method.step(self.problem, state, width)
                after = perf_counter()
                self.iteration += width
                self.seconds += after - before
                pace = (after - before) / width
                if state.ended is not None or self._is_late(after):
                    break
            verdict = self._check(state.x, state)
            if verdict is not None:
                return verdict

    def _check(self, x: Vector, state: State | None = None) -> tuple[Status, str] | None:
        """Measure x, write the history, ask the callback, and decide whether to stop."""
        stop = self.stop
        residual, merit, active, changed, change, from_mark, largest, probe = self.watch.look(x)
        if isnan(probe):
            return self._not_finite()
        self.watch.accept(x)
        self.checks += 1
        self.rows.append((self.iteration, self.seconds, residual, merit, active))
        if residual < self.best_residual:
            self.best_residual, self.best_iteration = residual, self.iteration
            np.copyto(self.best_x, x)
        if self.callback is not None:
            try:
                self.callback(Progress(self.iteration, self.seconds, residual, merit, active, x.copy()))
            except StopIteration as request:
                return Status.STOPPED_BY_CALLBACK, str(request)
        if residual <= stop.tol:
            self.best_x, self.best_iteration = x, self.iteration
            return Status.CONVERGED, ""
        if state is not None:
            if state.ended is not None:
                return state.ended
            if not state.moving and (change <= stop.stagnation * largest or from_mark == 0.0):
                return self._name_standstill(state, largest)
            if stop.relative is not None and abs(merit - self.merit) < stop.relative * self.merit:
                return Status.RELATIVE, ""
            self.unchanged = 0 if changed else self.unchanged + 1
            if stop.unchanged_checks is not None and self.unchanged >= stop.unchanged_checks:
                return Status.ACTIVE_SET_UNCHANGED, ""
        self.merit = merit
        if self.checks == self.next_mark:  # Brent's search for a cycle: compare with checks 1, 2, 4, 8, ...
            self.watch.set_mark(x)
            self.next_mark *= 2
        if self.iteration >= stop.max_iterations:
            return Status.ITERATION_LIMIT, ""
        if self._is_late(perf_counter()):
            return Status.TIME_LIMIT, ""
        return None

    def _name_standstill(self, state: State, largest: float) -> tuple[Status, str]:
        """x is where it was some iterations ago. One more tells a standstill from a cycle that fits between checks."""
        self.method.step(self.problem, state, 1)
        self.iteration += 1
        change = float(np.abs(state.x - self.watch.previous).max(initial=0.0))
        if change <= max(self.stop.stagnation, ROUNDING_LEVEL) * largest:
            return Status.STAGNATED, ""
        return Status.CYCLING, ""

    def _is_late(self, now: float) -> bool:
        return self.stop.max_seconds is not None and now - self.begun >= self.stop.max_seconds

    def _not_finite(self) -> tuple[Status, str]:
        if not self.rows:
            return Status.NON_FINITE, ""
        self.iteration = self._find_overflow()
        return Status.BREAKDOWN, f"x or A x + b stopped being finite in iteration {self.iteration}"

    def _find_overflow(self) -> int:
        """The iteration that made the first number that is not finite: go back to the last check and step by ones."""
        last = self.rows[-1][0]
        state = self.method.start(self.problem, self.watch.previous.copy())
        for iteration in range(last + 1, self.iteration):
            self.method.step(self.problem, state, 1)
            if isnan(self.watch.look(state.x)[-1]):
                return iteration
        return self.iteration

    def last_x(self) -> Vector:
        """The iterate of the last check at which all numbers were finite."""
        return self.watch.previous.copy() if self.rows else self.x

    def outcome(self, status: Status, message: str) -> Outcome:
        best = status.success or self.stop.keep == "best"
        return Outcome(
            x=self.best_x if best else self.last_x(),
            status=status,
            message=message,
            iterations=self.iteration,
            best_iteration=self.best_iteration if best or not self.rows else self.rows[-1][0],
            seconds=self.seconds,
            setup_seconds=self.setup_seconds,
            history=History.from_rows(self.rows),
        )
