"""When to stop: the criteria of NOTES section 6 and PGS-SM 4.3, in one place for every iterative method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any

from perp.errors import suggest

KEEP = ("best", "last")


@dataclass(frozen=True)
class Stopping:
    """Stop presets are data: `perp.solve(problem, stop=Stopping(tol=1e-6, relative=1e-4))`.

    A criterion that is None (or 0) is not used. Criteria are judged at checks, every `check_every` iterations.
    """

    tol: float = 1e-8
    """Absolute: the residual, the largest entry of the natural map, is at most this (NOTES eq. 107)."""
    relative: float | None = None
    """The merit changed by less than this share of itself since the last check (NOTES eq. 108)."""
    stagnation: float = 0.0
    """No entry of x changed by more than this share of the largest since the last check (NOTES eq. 109, rescaled)."""
    unchanged_checks: int | None = None
    """The active set was the same at this many checks in a row (PGS-SM eq. 26)."""
    max_iterations: int = 1000
    max_seconds: float | None = None
    """Wall-clock limit for the whole solve, the method's preparations included."""
    check_every: int | None = None
    """Iterations between two checks; None lets the method choose."""
    keep: str = "best"
    """Which iterate a failed solve returns: the one with the least residual of all that were checked, or the last."""

    def __post_init__(self) -> None:
        _require(self.tol >= 0 and isfinite(self.tol), "tol", self.tol, "a number >= 0")
        _require(
            self.relative is None or (self.relative > 0 and isfinite(self.relative)),
            "relative",
            self.relative,
            "> 0",
        )
        _require(self.stagnation >= 0 and isfinite(self.stagnation), "stagnation", self.stagnation, "a number >= 0")
        _require_count(self.unchanged_checks, "unchanged_checks", least=1, optional=True)
        _require_count(self.max_iterations, "max_iterations", least=0)
        _require_count(self.check_every, "check_every", least=1, optional=True)
        limit = self.max_seconds
        _require(limit is None or (limit >= 0 and not isnan(limit)), "max_seconds", limit, "a number >= 0 or None")
        if self.keep not in KEEP:
            raise ValueError(f"keep is {self.keep!r}{suggest(str(self.keep), KEEP)}")

    def with_changes(self, **changes: Any) -> Stopping:
        """A copy in which those values that are not None stand."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


def _require(condition: bool, name: str, value: object, wanted: str) -> None:
    if not condition:
        raise ValueError(f"{name} is {value}; {wanted} is needed")


def _require_count(value: int | None, name: str, least: int, optional: bool = False) -> None:
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} is {value!r}; a whole number >= {least} is needed")
