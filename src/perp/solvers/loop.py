"""The one outer loop: history, callback, limits, guards, best-so-far and stopping, for every iterative method."""

from __future__ import annotations

import sys
from bisect import bisect_left
from math import inf, isnan, log
from typing import NamedTuple

import numpy as np

from perp.errors import OperatorFault
from perp.problems.deadline import Deadline, OutOfTime, hold, lift, now
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method, State
from perp.solvers.progress import Callback as Callback
from perp.solvers.progress import Progress as Progress
from perp.solvers.progress import by_position, log_check, logs_checks
from perp.solvers.results import BestAnswer, History, Result, Row, Status
from perp.solvers.stopping import Stopping

SECONDS_A_CALL = 0.02
"""A compiled step is asked for no more iterations than fit in this time: Ctrl-C and time limits act within it."""

SMALL_STEP = 200_000
"""Multiplications an iteration up to which the first step, whose pace is not yet known, is asked for ten of them."""

GROWTH = 3
"""A step is asked for at most so many times the iterations of the last one: the first may be quicker than the rest."""

QUICK_STEP, QUICK_GROWTH = 1e-4, 20
"""After a step of less than so many seconds, for so many times: ten times slower, it would still be in time."""

ROUNDING_LEVEL = 1e-12
"""An iteration whose iterates change by less than this share has only rounding errors left to move it."""

EPSILON = 1e-15
"""Rounding errors of this share of the largest entry reach every row that is coupled with it."""

FIRST_LOOK_AHEAD, OPTIMISM = 10, 4.0
"""Checks before an extrapolation, and how many times the limit of iterations it may say: rates are rough."""

PATIENCE = 20
"""So many checks without a better residual, and as many as came before it, show that rounding level is reached."""


class Outcome(NamedTuple):
    """How the loop ended; `solve` makes a `Result` of it."""

    x: Vector
    status: Status
    message: str
    iterations: int
    best_iteration: int
    seconds: float
    setup_seconds: float
    history: History
    certificate: Vector | None
    """A vector that the method holds for a proof of infeasibility; `solve` checks it."""
    watch: Watch | None = None
    """What looked at the iterates, and still knows the last one; None where there was none to accept."""


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C during a solve: still a KeyboardInterrupt, which carries along what was reached."""

    partial_result: Result

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("the solve was interrupted; exception.partial_result holds what was reached")
        self.outcome = outcome


def interrupted_with(partial: Result) -> SolveInterrupted:
    """The interrupt of a solve that has made a result of what was reached."""
    outcome = Outcome(
        x=partial.x,
        status=partial.status,
        message="",
        iterations=partial.iterations,
        best_iteration=partial.best_iteration,
        seconds=partial.seconds,
        setup_seconds=partial.setup_seconds,
        history=partial.history,
        certificate=None,
    )
    interrupt = SolveInterrupted(outcome)
    interrupt.partial_result = partial
    return interrupt


def iterate(
    problem: Problem,
    method: Method,
    x: Vector,
    stop: Stopping,
    callback: Callback | None = None,
    begun: float | None = None,
) -> Outcome:
    """Run `method` from x, which must lie within its bounds, until a criterion of `stop` holds.

    `begun` is the time on the clock (`now`) from which the time limit counts. An earlier deadline that holds here
    (`perp.problems.deadline`) counts, too.
    """
    limit = inf if stop.max_seconds is None else (now() if begun is None else begun) + stop.max_seconds
    with np.errstate(all="ignore"), hold(limit) as deadline:  # overflow is told by the status, not by a warning
        run = _Run(problem, method, x, stop, callback, deadline)
        try:
            status, message = run.go()
        except KeyboardInterrupt:
            raise SolveInterrupted(run.outcome(Status.INTERRUPTED, "")) from None
    return run.outcome(status, message)


Verdict = tuple[Status, str] | None


class _Run:
    """The variables of one loop."""

    def __init__(
        self,
        problem: Problem,
        method: Method,
        x: Vector,
        stop: Stopping,
        callback: Callback | None,
        deadline: Deadline,
    ) -> None:
        self.problem, self.method, self.stop, self.deadline = problem, method, stop, deadline
        self.state: State | None = None
        self.pace = self.check_seconds = 0.0
        self.callback = by_position(callback)
        self.start = x
        self.best_residual, self.best_iteration, self.best_check = inf, 0, 0
        self.iteration, self.checks, self.next_mark = 0, 0, 1
        self.seconds = self.setup_seconds = 0.0
        self.rows: list[Row] = []
        self.merit, self.unchanged = inf, 0
        self.offer_watch: Watch | None = None
        self.check_every = stop.check_every or method.check_every
        self.limit = stop.iteration_limit(method.default_iterations(problem))
        self.counted: list[dict[str, float]] = []
        self.uncounted = dict.fromkeys(method.counted, 0.0)
        self.logs_checks = logs_checks()
        self.certificate: Vector | None = None

    def go(self) -> tuple[Status, str]:
        try:
            return self._go()
        except OperatorFault as fault:
            return Status.BREAKDOWN, str(fault)
        except OutOfTime:
            return self._look_a_last_time()

    def _look_a_last_time(self) -> tuple[Status, str]:
        """Time ran out within a step: x may have moved since the last check, by iterations that nobody counted."""
        late = Status.TIME_LIMIT, ""
        if self.state is None or np.array_equal(self.state.x, self.watch.previous):
            return late
        self.iteration += 1
        self.limit = self.iteration
        verdict = self._check(self.state)
        return verdict if verdict is not None and verdict[0].success else late

    def _go(self) -> tuple[Status, str]:
        self.watch = Watch(self.problem)
        self.best = BestAnswer(self.watch)
        verdict = self._check(State(self.start), first=True)
        if verdict is not None:
            return verdict
        started = now()
        try:
            state: State = self.method.start(self.problem, self.start.copy())
            self.state = state
            self.method.step(self.problem, state, 0)  # loads kernels, which is no part of the method's own time
        finally:
            self.setup_seconds = now() - started
        most = 10 if self.problem.A.work() <= SMALL_STEP else 1
        while True:
            due = min(self.iteration + self.check_every, self.limit)
            while self.iteration < due:
                width = min(due - self.iteration, most)
                before = now()
                state.is_due = False
                try:
                    self.method.step(self.problem, state, width)
                finally:
                    after = now()
                    self.seconds += after - before
                self.iteration += width - state.unused
                self.pace = pace = (after - before) / width
                fits = int(min(SECONDS_A_CALL, self.deadline.left) / pace) if pace > 0.0 else sys.maxsize
                growth = QUICK_GROWTH if after - before < QUICK_STEP else GROWTH
                most = max(1, min(fits, growth * width))
                if state.ended is not None or state.is_due or self._is_late():
                    break
            verdict = self._check(state)
            if verdict is not None:
                return verdict

    def _check(self, state: State, first: bool = False) -> Verdict:
        """Measure the iterate, write the history, ask the callback, and decide whether to stop."""
        before = now()
        residual, merit, active, changed, change, drift, from_mark, largest, probe = self.watch.look(state.x)
        self.check_seconds = now() - before
        if isnan(probe):
            return self._not_finite(state)
        answer = state.x
        if state.offer is not None:
            answer = state.offer
            residual, merit, active = self._look_at_offer(answer)
        is_better = residual < self.best_residual or residual <= self.stop.tol or not self.rows
        self.best.accept(state.x, answer, is_better)
        self.checks += 1
        self.rows.append((self.iteration, self.seconds, residual, merit, active))
        self.counted.append(self.uncounted | state.counters)
        if self.logs_checks:
            log_check(self.method.label, self.rows[-1])
        if residual < self.best_residual:
            self.best_residual, self.best_iteration, self.best_check = residual, self.iteration, self.checks
        verdict = None if self.callback is None else self._ask(self.callback, answer)
        if residual <= self.stop.tol:
            self.best_iteration = self.iteration
            return Status.CONVERGED, ""
        if state.ended is not None:
            self.certificate = state.certificate
        if verdict is None and not first:
            self.unchanged = 0 if changed else self.unchanged + 1
            verdict = state.ended or self._judge_motion(state, merit, change, drift, from_mark, largest)
        self.merit = merit
        if self.checks == self.next_mark:  # Brent's search for a cycle: compare with checks 1, 2, 4, 8, ...
            self.watch.set_mark(state.x)
            self.next_mark *= 2
        return verdict or self._judge_limits()

    def _ask(self, callback: Callback, answer: Vector) -> Verdict:
        try:
            with lift():
                callback(Progress(*self.rows[-1], answer.copy()))
        except StopIteration as request:
            return Status.STOPPED_BY_CALLBACK, str(request)
        return None

    def _judge_motion(
        self, state: State, merit: float, change: float, drift: float, from_mark: float, largest: float
    ) -> Verdict:
        """The criteria that compare this check with earlier ones."""
        if state.ends_itself:
            return None
        stop = self.stop
        if 0.0 < change <= stop.stagnation * largest:
            return Status.STAGNATED, ""
        may_step = self.iteration + 2 <= self.limit and self.deadline.allows(2.0 * self.pace)
        if (change == 0.0 or (from_mark == 0.0 and state.repeatable)) and may_step:
            verdict = self._name_standstill(state, largest)
            if verdict is not None:
                return verdict
        if drift <= EPSILON * largest and self.checks - self.best_check > max(PATIENCE, self.best_check):
            return Status.STAGNATED, "only rounding errors move it"
        if stop.relative is not None and abs(merit - self.merit) < stop.relative * self.merit:
            return Status.RELATIVE, ""
        if stop.unchanged_checks is not None and self.unchanged >= stop.unchanged_checks:
            return Status.ACTIVE_SET_UNCHANGED, ""
        return None

    def _judge_limits(self) -> Verdict:
        if self.iteration >= self.limit:
            return Status.ITERATION_LIMIT, ""
        if self.stop.extrapolate and self._extrapolated() > OPTIMISM * self.limit:
            return Status.ITERATION_LIMIT, "at this rate it would be reached before the tolerance"
        if self._is_late():
            return Status.TIME_LIMIT, ""
        return None

    def _extrapolated(self) -> float:
        """The iteration at which the residual would be within the tolerance, at the rate of the last half of them."""
        if self.iteration < FIRST_LOOK_AHEAD * self.check_every:
            return 0.0
        middle = bisect_left(self.rows, 0.5 * self.iteration, key=lambda row: row[0])
        fallen = log(min(row[2] for row in self.rows[: middle + 1]) / self.best_residual)
        left = log(self.best_residual / self.stop.tol) if self.stop.tol > 0.0 else inf
        rest = self.iteration - self.rows[middle][0]
        return self.iteration + rest * left / fallen if fallen > 0.0 else inf

    def _name_standstill(self, state: State, largest: float) -> Verdict:
        """x is where it was some iterations ago: one more tells a standstill from a cycle.

        A standstill may also come of what the method keeps beside x; so that is computed anew before the last word.
        """
        if self._moves(state, largest):
            return (Status.CYCLING, "") if state.repeatable else None
        self.method.refresh(self.problem, state)
        return None if self._moves(state, largest) else (Status.STAGNATED, "")

    def _moves(self, state: State, largest: float) -> bool:
        """Do one iteration; whether x changes by more than rounding."""
        here = state.x.copy()
        self.method.step(self.problem, state, 1)
        self.iteration += 1
        return bool(np.abs(state.x - here).max(initial=0.0) > ROUNDING_LEVEL * largest)

    def _look_at_offer(self, offer: Vector) -> tuple[float, float, int]:
        self.offer_watch = self.offer_watch or Watch(self.problem)
        residual, merit, active, *_ = self.offer_watch.look(offer)
        return residual, merit, active

    def _is_late(self) -> bool:
        """Whether there is no time for another iteration, at the pace of the last one, and the look at it."""
        return not self.deadline.allows(self.pace + self.check_seconds if self.pace > 0.0 else 0.0)

    def _not_finite(self, state: State) -> tuple[Status, str]:
        if not self.rows:
            return Status.NON_FINITE, ""
        if not state.repeatable:
            last = self.rows[-1][0]
            return Status.BREAKDOWN, f"x or A x + b stopped being finite in iterations {last + 1} to {self.iteration}"
        self.iteration = self._find_overflow()
        return Status.BREAKDOWN, f"x or A x + b stopped being finite in iteration {self.iteration}"

    def _find_overflow(self) -> int:
        """The iteration that made the first number that is not finite: go back to the last check and step by ones."""
        last = self.rows[-1][0]
        if not self.deadline.allows(self.setup_seconds + (self.iteration - last) * (self.pace + self.check_seconds)):
            return self.iteration
        state: State = self.method.start(self.problem, self.watch.previous.copy())
        for iteration in range(last + 1, self.iteration):
            self.method.step(self.problem, state, 1)
            if isnan(self.watch.look(state.x)[-1]):
                return iteration
        return self.iteration

    def _answer(self, best: bool) -> Vector:
        if not self.rows:  # there may not even be a watch
            return self.start.copy()
        return self.best.x if best else self.watch.previous

    def outcome(self, status: Status, message: str) -> Outcome:
        best = status.success or self.stop.keep == "best" or not self.rows
        return Outcome(
            x=self._answer(best),
            status=status,
            message=message,
            iterations=self.iteration,
            best_iteration=self.best_iteration if best else self.rows[-1][0],
            seconds=self.seconds,
            setup_seconds=self.setup_seconds,
            history=History.from_rows(self.rows, self.counted),
            certificate=self.certificate,
            watch=self.watch if self.rows else None,
        )
