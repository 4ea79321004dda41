"""Time limits: what is left of one, and whether a piece of work fits into it.

A deadline holds inside a block (`hold`), for all that is called from there, whatever layer it is in; threads do not mix
and blocks may be nested. Whoever is about to do a piece of work that cannot be stopped (a factorisation, a call of a
foreign solver) predicts its time by an operation count and a measured `Pace`, and asks before it begins. Whoever runs a
loop asks in every turn. Where the answer is no, `OutOfTime` is raised, and caught by those who have an answer to
return: the loop of methods, `polish`, the search for a proof, "auto".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf, sqrt
from time import perf_counter
from types import TracebackType
from typing import Any

from scipy.sparse.linalg import LinearOperator

WORTH_LEARNING = 2e-3
"""Seconds below which a measurement tells more of calls and caches than of the pace of work that matters."""

NOT_NOTHING = 2e-4
"""Predicted seconds of work that is too little to learn from, however long it took: that was something else."""

MOST_CHANGE, MOST_DRIFT = 4.0, 16.0
"""What one measurement changes a pace by, and all of them together: one busy hour must not forbid work for good."""


def now() -> float:
    """The one clock of time limits."""
    return perf_counter()


class OutOfTime(Exception):
    """What was to be done next takes longer than there is time. It never reaches the caller of `solve`."""


@dataclass(frozen=True)
class Deadline:
    """A moment on the clock of `now`; inf is never."""

    at: float = inf

    @property
    def is_limited(self) -> bool:
        return self.at < inf

    @property
    def left(self) -> float:
        """Seconds; not positive where it is over."""
        return inf if self.at == inf else self.at - now()

    def allows(self, seconds: float) -> bool:
        """Whether work that takes so long may begin."""
        return self.at == inf or now() + seconds < self.at

    def require(self, seconds: float = 0.0) -> None:
        """Raise `OutOfTime` where it does not."""
        if not self.allows(seconds):
            raise OutOfTime(f"{seconds:.3g} s of work do not fit into {max(self.left, 0.0):.3g} s")


NEVER = Deadline()

_held: ContextVar[Deadline] = ContextVar("perp_deadline", default=NEVER)


def deadline() -> Deadline:
    """The one that holds here: of nested ones the earliest."""
    return _held.get()


class hold:
    """A deadline for all that is done inside the block, unless an earlier one holds already."""

    __slots__ = ("_chosen", "_token")

    def __init__(self, at: float) -> None:
        outer = deadline()
        self._chosen = outer if outer.at <= at else Deadline(at)

    def __enter__(self) -> Deadline:
        self._token = _held.set(self._chosen)
        return self._chosen

    def __exit__(self, *_: object) -> None:
        _held.reset(self._token)


@contextmanager
def lift() -> Iterator[None]:
    """No deadline inside the block: for code of the caller, which has nothing to do with this solve."""
    token = _held.set(NEVER)
    try:
        yield
    finally:
        _held.reset(token)


class Pace:
    """Operations a second of one kind of work: a guess at first, then what was measured.

    `kind`, a pace of the same kind of work on other data, gives the first guess and learns along.
    """

    rate: float

    def __init__(self, rate: float | Pace) -> None:
        self.kind: Pace | None = rate if isinstance(rate, Pace) else None
        self.rate = self.guess = rate.rate if isinstance(rate, Pace) else rate

    def predict(self, operations: float) -> float:
        """Seconds."""
        return operations / self.rate

    def learn(self, operations: float, seconds: float) -> None:
        """The geometric mean of what was thought and what was measured, which is at most 4 times more or less.

        One turn that was disturbed does not decide, and little work that took long says nothing of much work.
        """
        if seconds < WORTH_LEARNING or self.predict(operations) < NOT_NOTHING:
            return
        change = sqrt(operations / (self.rate * seconds))
        rate = self.rate * min(max(change, 1.0 / MOST_CHANGE), MOST_CHANGE)
        self.rate = min(max(rate, self.guess / MOST_DRIFT), self.guess * MOST_DRIFT)
        if self.kind is not None:
            self.kind.learn(operations, seconds)

    def doubt(self) -> None:
        """Work was not begun, so that nothing was learnt: half way back to the first guess, if that was quicker.

        Otherwise a pace that was measured on a busy machine would be believed for ever.
        """
        self.rate = max(self.rate, sqrt(self.rate * self.guess))

    def require(self, operations: float) -> float:
        """The time now; or `OutOfTime` where so much work would take longer than is left."""
        try:
            deadline().require(self.predict(operations))
        except OutOfTime:
            self.doubt()
            raise
        return now()

    def work(self, operations: float) -> Work:
        """`with pace.work(operations):` begins only what fits into the time that is left, and learns from it."""
        return Work(self, operations)


class Work:
    """One piece of work of a known number of operations."""

    __slots__ = ("_begun", "_operations", "_pace")

    def __init__(self, pace: Pace, operations: float) -> None:
        self._pace, self._operations = pace, operations

    def __enter__(self) -> None:
        self._begun = self._pace.require(self._operations)

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if fault is None:
            self._pace.learn(self._operations, now() - self._begun)


def watched(matrix: Any) -> Any:
    """A matrix for iterations that are not ours (SciPy's LSMR): every product looks at the clock."""
    held = deadline()
    if not held.is_limited:
        return matrix
    transposed = matrix.T

    def product(v: Any) -> Any:
        held.require()
        return matrix @ v

    def back(v: Any) -> Any:
        held.require()
        return transposed @ v

    return LinearOperator(matrix.shape, matvec=product, rmatvec=back, dtype=float)
