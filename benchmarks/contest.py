"""Ours and the peers under the same rules: the same problem, the same clock, the same judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import perp
from benchmarks.peers import Peer, Question
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

GROWTH = 2.5
"""The power of the row count by which a peer's time at a larger size is foretold, before it is let run there."""

SLACK = 1.05
"""A run may go over the limit by so much: solvers look at the clock only now and then."""

PATIENCE = 0.1
"""A tighter tolerance is tried only after a run that took less than this share of the limit."""


@dataclass(frozen=True)
class Judgement:
    """How good an answer is, by the caller's own numbers, after its entries were put within their bounds."""

    natural: float
    """max |x - clip(x - y, lower, upper)|, by `perp.verify`."""
    impulse: float
    """The same with y_i / A_ii for y_i: in the unit of x, whatever the masses."""


NO_ANSWER = Judgement(np.inf, np.inf)


def judge(problem: Problem, answer: Vector) -> Judgement:
    if not np.isfinite(answer).all():
        return NO_ANSWER
    x = problem.project(answer)
    lower, upper = problem.bounds(x)
    diagonal = problem.A.diagonal()
    step = problem.slack(x) / np.where(diagonal > 0.0, diagonal, 1.0)
    impulse = np.abs(x - np.clip(x - step, lower, upper)).max(initial=0.0)
    return Judgement(perp.verify(problem, x).natural_inf, float(impulse))


@dataclass(frozen=True)
class Target:
    """What an answer must reach to count."""

    measure: str
    """Which entry of a judgement decides."""
    bound: float

    def is_reached(self, judgement: Judgement) -> bool:
        return bool(getattr(judgement, self.measure) <= self.bound)

    def __str__(self) -> str:
        return f"{self.measure} {self.bound:.0e}".replace("e-0", "e-")


LOOSE = Target("natural", 1e-6)
TIGHT = Target("impulse", 1e-10)


@dataclass(frozen=True)
class Attempt:
    seconds: float
    judgement: Judgement
    reached: bool
    answer: Any
    """What was returned: a vector, or a `perp.Result`."""


@dataclass
class Entrant:
    """Somebody who is asked for answers that reach a target.

    `ladder` has one way to ask for each tolerance, from cheap to dear. A question is begun on the rung that first led
    to the target; a miss leads to the next one, for this question only. The last run of a question counts, not the
    climb, as if an entrant had known its tolerance beforehand.
    """

    name: str
    ladder: Sequence[Callable[[Question], Callable[[], Any]]]
    target: Target
    limit: float
    is_ours: bool = False
    first: int = 0
    """The rung to begin on."""
    spent: float = 0.0
    """Seconds of all runs since `begin`, climbs included."""
    has_reached: bool = False
    longest: tuple[int, float] = (1, 0.0)
    """Rows and seconds of the slowest run yet."""
    attempts: list[Attempt] = field(default_factory=list)

    @staticmethod
    def of_peer(peer: Peer, target: Target, limit: float) -> Entrant:
        def rung(tolerance: float) -> Callable[[Question], Callable[[], Any]]:
            return lambda question: peer.prepare(question, tolerance)

        return Entrant(peer.name, [rung(tolerance) for tolerance in peer.tolerances], target, limit)

    def begin(self) -> None:
        """Another size or another kind of problem: earlier attempts belong to the old one."""
        self.attempts, self.spent = [], 0.0

    def is_too_slow_for(self, rows: int) -> bool:
        """Whether it went over the limit already, or would, going by its slowest run at a smaller size."""
        old_rows, seconds = self.longest
        return bool(seconds * max(rows / old_rows, 1.0) ** GROWTH > self.limit)

    def has_spent_its_time(self) -> bool:
        return self.spent > self.limit

    def attempt(self, question: Question) -> Attempt:
        """Answer once; again with a tighter tolerance where that misses the target."""
        for rung in range(self.first, len(self.ladder)):
            run = self.ladder[rung](question)
            begun = perf_counter()
            answer = run()
            seconds = perf_counter() - begun
            judgement = judge(question.problem, np.asarray(getattr(answer, "x", answer), dtype=np.float64))
            reached = self.target.is_reached(judgement) and seconds <= SLACK * self.limit
            self.spent += seconds
            if seconds > self.longest[1]:
                self.longest = question.problem.n, seconds
            if reached or seconds > PATIENCE * self.limit:
                break
        if reached and not self.has_reached:
            self.first, self.has_reached = rung, True
        made = Attempt(seconds, judgement, reached, answer)
        self.attempts.append(made)
        return made

    @property
    def seconds(self) -> float:
        return median(attempt.seconds for attempt in self.attempts) if self.attempts else np.inf

    @property
    def reached(self) -> bool:
        return bool(self.attempts) and all(attempt.reached for attempt in self.attempts)

    @property
    def is_late(self) -> bool:
        """Whether most runs took longer than the limit, whatever they led to."""
        return self.seconds > SLACK * self.limit

    @property
    def residual(self) -> float:
        """The worst by the measure of the target."""
        return max((getattr(attempt.judgement, self.target.measure) for attempt in self.attempts), default=np.inf)

    def forget(self) -> None:
        """After a rehearsal: what was learnt about speed there does not count, and neither does its answer."""
        self.attempts, self.spent, self.longest = [], 0.0, (1, 0.0)
        self.first, self.has_reached = 0, False


def fastest(entrants: Sequence[Entrant], target: Target) -> Entrant | None:
    """The peer with the least median among those whose every answer reached the target."""
    ready = [one for one in entrants if not one.is_ours and one.target == target and one.reached]
    return min(ready, key=lambda one: one.seconds, default=None)


def compare(ours: Entrant, peer: Entrant | None) -> float | None:
    """Our time over the peer's, by medians over the questions that both were asked: the first ones."""
    if peer is None or not ours.attempts:
        return None
    count = min(len(ours.attempts), len(peer.attempts))
    mine, theirs = (median(attempt.seconds for attempt in one.attempts[:count]) for one in (ours, peer))
    return mine / theirs
