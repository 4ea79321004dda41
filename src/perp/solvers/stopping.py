"""When to stop: the criteria of NOTES section 6 and PGS-SM 4.3, in one place for every iterative method."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from perp.errors import suggest
from perp.problems.inputs import require_count, require_number
from perp.vocabulary import explains_arguments

KEEP = ("best", "last")


@explains_arguments()
@dataclass(frozen=True)
class Stopping:
    """Stop presets are data: `perp.solve(problem, stop=Stopping(tol=1e-6, relative=1e-4))`.

    A criterion that is None (or 0) is not used. Criteria are judged at checks, every `check_every` iterations.
    """

    tol: float = 1e-8
    """The residual, the largest entry of the natural map, is at most this (NOTES eq. 107); "auto": the scaled one."""
    relative: float | None = None
    """The merit changed by less than this share of itself since the last check (NOTES eq. 108)."""
    stagnation: float = 0.0
    """No entry of x changed by more than this share of the largest since the last check (NOTES eq. 109, rescaled)."""
    unchanged_checks: int | None = None
    """The active set was the same at this many checks in a row (PGS-SM eq. 26)."""
    max_iterations: int | None = None
    """None means the method's own limit (1000 if it names none), or no limit where there is a limit of time.

    For "auto", which has limits of its own for each method, it is one for all of them together."""
    max_seconds: float | None = None
    """Wall-clock limit for the whole solve, preparations and the loading of kernels included (see `perp.warm_up`).

    It holds within 10 % or 50 ms, whichever is more, once kernels are loaded: a step that is predicted to take longer
    than is left is not begun, so that a solve may also end a little earlier, with TIME_LIMIT."""
    check_every: int | None = None
    """Iterations between two checks; None lets the method choose."""
    extrapolate: bool = False
    """End with ITERATION_LIMIT as soon as the limit will be reached before the tolerance, at the rate at which the
    residual has fallen in the last half of the iterations."""
    keep: str = "best"
    """Which iterate a failed solve returns: the one with the least residual of all that were checked, or the last.

    "auto" returns the best in any case; the criteria above, but for `tol`, end one of its methods, and the next one is
    asked."""

    def __post_init__(self) -> None:
        require_number(self.tol, "tol")
        require_number(self.stagnation, "stagnation")
        if self.max_iterations is not None:
            require_count(self.max_iterations, "max_iterations")
        if self.relative is not None:
            require_number(self.relative, "relative", positive=True)
        if self.max_seconds is not None:
            require_number(self.max_seconds, "max_seconds")
        if self.unchanged_checks is not None:
            require_count(self.unchanged_checks, "unchanged_checks", least=1)
        if self.check_every is not None:
            require_count(self.check_every, "check_every", least=1)
        if self.keep not in KEEP:
            raise ValueError(f"keep is {self.keep!r}{suggest(str(self.keep), KEEP)}")

    def iteration_limit(self, default: int) -> int:
        """The caller's limit, or the method's default; with a limit of time alone there is none."""
        if self.max_iterations is not None:
            return int(self.max_iterations)
        return default if self.max_seconds is None else sys.maxsize

    def with_changes(self, **changes: Any) -> Stopping:
        """A copy in which those values that are not None stand."""
        given = {name: value for name, value in changes.items() if value is not None}
        return Stopping(**(vars(self) | given)) if given else self


DEFAULT_STOPPING = Stopping()
