"""What a solve by "auto" knows so far: the best point, everything that was tried, and what is left of its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, isnan, nan

import numpy as np

from perp.errors import OperatorFault
from perp.problems.certificates import Certificate
from perp.problems.deadline import deadline, now
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start, look, measure_cold, scale_residual
from perp.solvers.method import Method
from perp.solvers.progress import Callback, Progress
from perp.solvers.results import Attempt, History, Result, Status, join_turns, make_message
from perp.solvers.stopping import Stopping

FROM_OUTSIDE = (Status.STOPPED_BY_CALLBACK, Status.INTERRUPTED)
"""Ends after which no other method is asked. (TIME_LIMIT is not one: a method may end so because its next step would
take longer than is left, and another one may have shorter steps.)"""


class Search:
    """Points are judged here, by the data of the problem that was asked and by nothing else."""

    problem: Problem
    start: Vector
    stop: Stopping
    callback: Callback | None
    begun: float
    notes: list[str]
    cold: float
    x: Vector
    y: Vector
    residual: float
    scaled: float
    method: str
    status: Status
    reason: str
    told: str
    """What is to be said of the best point where it stays the answer and is no solution."""
    iterations: int
    best_iteration: int
    seconds: float
    has_ended_methods: bool
    lacks_time: bool
    """Whether something was not done because it would have taken longer than was left."""
    has_sought_proof: bool
    """Whether it was asked if there is a solution at all."""
    is_at_rounding: bool
    is_broken: bool
    """Whether A has no product to work with."""

    def __init__(
        self,
        problem: Problem,
        start: Vector,
        stop: Stopping,
        callback: Callback | None,
        begun: float,
        notes: list[str],
        is_warm: bool,
    ) -> None:
        """`start` is the cold start, unless `is_warm`."""
        self.problem, self.stop, self.callback = problem, stop, callback
        self.begun, self.notes = begun, notes
        self.deadline = deadline()
        self.x, self.y, self.residual, self.scaled, self.method = start, start, inf, inf, ""
        self.status, self.reason, self.told = Status.ITERATION_LIMIT, "", ""
        self.has_ended_methods = self.lacks_time = self.has_sought_proof = False
        self.is_at_rounding = self.is_broken = False
        self.certificate: Certificate | None = None
        self.exhausted: Certificate | None = None
        """That every index set is refuted; so it stands unless a method finds a point within the tolerance."""
        self.ray: Vector | None = None
        self.polished: Vector | None = None
        """The best point when a polish was last tried."""
        self.trail: list[Attempt] = []
        self.histories: list[History] = []
        self.iterations, self.best_iteration, self.seconds = 0, 0, 0.0
        origin = cold_start(problem) if is_warm else start
        self.cold, residual, y = measure_cold(problem, origin)
        self.accept(origin, residual, y, "start")
        self.start = origin
        if is_warm:
            residual = self.consider(start, "start")
            if isnan(residual):
                self.notes.append("x0 has a slack beyond all numbers: the solve starts cold")
            else:
                self.start = start
        if isnan(self.residual):
            self._name_fault()

    def _name_fault(self) -> None:
        """There is no finite slack to begin with: is it the caller's own product that fails?"""
        try:
            with np.errstate(all="ignore"):
                self.problem.A.slack(self.start, self.problem.b, np.empty(self.problem.n))
        except OperatorFault as fault:
            self.status, self.reason, self.is_broken = Status.BREAKDOWN, str(fault), True

    def consider(self, x: Vector, method: str, iteration: int = 0) -> float:
        """Take x, which `method` made, for the best point if it is better; returns its residual."""
        return self.accept(x, *look(self.problem, x), method, iteration)

    def accept(self, x: Vector, residual: float, y: Vector, method: str, iteration: int = 0) -> float:
        """The same for a point whose residual and slack are known; `iteration` is the one of `method` that made it."""
        if self.method == "" or residual < self.residual or (isnan(self.residual) and not isnan(residual)):
            self.x, self.y, self.residual, self.method, self.told = x, y, residual, method, ""
            self.scaled = scale_residual(self.problem, x, y, residual, self.cold)
            self.best_iteration = self.iterations + iteration
        return residual

    def exchange(self, x: Vector, method: str) -> bool:
        """Take another solution for the best point, though its residual may be the larger one; whether it is one."""
        residual, y = look(self.problem, x)
        scaled = scale_residual(self.problem, x, y, residual, self.cold)
        if not scaled <= self.stop.tol:
            return False
        self.x, self.y, self.residual, self.scaled, self.method = x, y, residual, scaled, method
        self.best_iteration = self.iterations
        return True

    @property
    def is_certain(self) -> bool:
        """Whether the best point is a solution within the tolerance, and none is proved not to exist."""
        return self.scaled <= self.stop.tol and self.certificate is None

    @property
    def is_open(self) -> bool:
        """Whether there is still something to find out, and leave to do so."""
        if self.is_certain or self.is_at_rounding or self.certificate is not None or self.status in FROM_OUTSIDE:
            return False
        limit = self.stop.max_iterations
        return (limit is None or self.iterations < limit) and self.seconds_left > 0.0

    @property
    def seconds_left(self) -> float:
        return self.deadline.left

    @property
    def target(self) -> float:
        """The residual that methods are asked for: strict also where x turns out to be large."""
        return self.stop.tol * min(1.0, self.cold) if self.cold > 0.0 else self.stop.tol

    def leave(self, problem: Problem, method: Method, most: int | None, share: float) -> Stopping:
        """The criteria for one method: its own limit of iterations, within what is left of those for all.

        `share` is what becomes of the residual that is asked for.
        """
        limit = method.default_iterations(problem) if most is None else most
        if self.stop.max_iterations is not None:
            limit = min(limit, self.stop.max_iterations - self.iterations)
        return replace(self.stop, tol=self.target * share, max_iterations=max(0, limit))

    def record(
        self, name: str, status: Status | None, since: float, why: str, *, iterations: int = 0, residual: float = nan
    ) -> None:
        """Write down that a step was taken."""
        self.count(Attempt(name, status, iterations, now() - since, residual, why))

    def count(self, attempt: Attempt) -> None:
        """The same for a step that has been written down."""
        self.iterations += attempt.iterations
        self.seconds += attempt.seconds
        self.trail.append(attempt)

    def end(self, status: Status, reason: str, *, is_better: bool) -> None:
        """A method has ended without an answer: what is the status of all of it, as long as nothing else is found?

        That of the method with the best point; but an end from outside stands, and so does a ray. Whoever ran out of
        time says nothing of the problem.
        """
        if status is Status.TIME_LIMIT:
            self.lacks_time = True
            return
        stands = status in FROM_OUTSIDE or status is Status.RAY
        if stands or (self.status is not Status.RAY and (is_better or not self.has_ended_methods)):
            self.status, self.reason = status, reason
        self.has_ended_methods = True

    def settle(self) -> None:
        """The best point is as good as rounding errors allow, and not within the tolerance: nobody can do better."""
        self.is_at_rounding = True
        self.status = Status.STAGNATED if self.stop.tol == 0.0 else Status.REDUCED_ACCURACY
        self.reason = ""

    def prove(self, certificate: Certificate) -> None:
        """There is no solution; so it stands from now on.

        INFEASIBLE is for what a vector proves. A problem whose index sets were all refuted may be feasible: RAY.
        """
        self.certificate, self.reason = certificate, certificate.reason
        self.status = Status.RAY if certificate.kind == "exhausted" else Status.INFEASIBLE

    def _name_end(self) -> Status:
        if self.is_certain and self.status is not Status.INTERRUPTED:
            return Status.CONVERGED
        if self.certificate is not None or self.is_at_rounding or self.is_broken or self.status in FROM_OUTSIDE:
            return self.status
        if self.stop.max_iterations is not None and self.iterations >= self.stop.max_iterations:
            return Status.ITERATION_LIMIT
        return Status.TIME_LIMIT if self.lacks_time or self.seconds_left <= 0.0 else self.status

    def result(self) -> Result:
        status, proof = self._name_end(), self.certificate
        # a proof by exhaustion, which no ray was needed for, has a sentence of its own
        sentence = proof.proves if proof is not None and proof.kind == "exhausted" else status.value
        reason = "" if status.success or status is Status.TIME_LIMIT else self.reason
        if self.told and not status.success:
            self.notes.append(self.told)
        return Result(
            problem=self.problem,
            method=self.method,
            x=self.x,
            y=self.y,
            status=status,
            message=make_message(sentence, reason, self.residual, self.iterations),
            reason=reason,
            iterations=self.iterations,
            residual=self.residual,
            seconds=self.seconds,
            setup_seconds=max(0.0, now() - self.begun - self.seconds),
            history=join_turns(self.histories),
            best_iteration=self.best_iteration,
            methods=tuple(self.trail),
            certificate=self.certificate,
            ray=None if status.success else self.ray,
            notes=tuple(dict.fromkeys(self.notes)),
        )


def translate(search: Search, recover: Callable[[Vector], Vector]) -> Callback | None:
    """The caller's callback for the next method: it sees the asked problem, and the iterations of all methods."""
    if search.callback is None:
        return None
    callback, done, seconds = search.callback, search.iterations, search.seconds

    def watch(progress: Progress) -> object:
        iteration, spent = done + progress.iteration, seconds + progress.seconds
        return callback(replace(progress, iteration=iteration, seconds=spent, x=recover(progress.x)))

    return watch
