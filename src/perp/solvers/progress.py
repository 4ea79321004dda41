"""What a solve says meanwhile: to a callback, and through `logging`.

What perp tells through `logging`; it prints nothing.

All of it goes to the logger "perp": at INFO a line a solve, at DEBUG a line a check. Nobody hears it until a program
asks: `logging.basicConfig(level=logging.INFO)`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar, Protocol, cast

from perp.problems.inputs import Vector
from perp.solvers.results import NamedAccess, Result, Row

SCIPY_NAME = "intermediate_result"
"""A callback whose one parameter has this name gets it by name, as from `scipy.optimize.minimize`."""

logger: logging.Logger = logging.getLogger("perp")


@dataclass(frozen=True, eq=False)
class Progress(NamedAccess):
    """What a callback sees at a check. Raise StopIteration in it to stop the solve.

    There is no `fun`, as most problems have no objective: `residual` is what a solve is judged by, and `merit` half the
    sum of squares of the Fischer-Burmeister function.
    """

    other_names: ClassVar[tuple[str, ...]] = ("nit",)

    iteration: int
    seconds: float
    residual: float
    merit: float
    active: int
    x: Vector
    """A copy of the iterate: changing it changes nothing."""

    @property
    def nit(self) -> int:
        """`iteration`, by the name that SciPy has for it."""
        return self.iteration


class NamedCallback(Protocol):
    """A callback that takes its argument by SciPy's name for it."""

    def __call__(self, *, intermediate_result: Progress) -> object: ...


Callback = Callable[[Progress], object]
AnyCallback = Callback | NamedCallback


def by_position(callback: AnyCallback | None) -> Callback | None:
    """The callback as a function of one positional argument, whichever way it wants its argument."""
    if callback is None or not _wants_name(callback):
        return cast("Callback | None", callback)
    by_name = cast(NamedCallback, callback)
    return lambda progress: by_name(intermediate_result=progress)


def _wants_name(callback: Callable[..., Any]) -> bool:
    try:
        parameters = signature(callback).parameters.values()
    except (TypeError, ValueError):  # a function of C that does not tell: call it as ever
        return False
    by_name = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return [(one.name, one.kind in by_name) for one in parameters] == [(SCIPY_NAME, True)]


logger.addHandler(logging.NullHandler())


def log_solve(result: Result) -> None:
    """A line for a solve that has ended."""
    if logger.isEnabledFor(logging.INFO):
        logger.info(
            "%s on %r: %s, residual %.3e after %d iterations, %.3g s and %.3g s of preparation",
            result.method,
            result.problem,
            result.status.name,
            result.residual,
            result.iterations,
            result.seconds,
            result.setup_seconds,
        )


def logs_checks() -> bool:
    """Whether somebody wants a line a check: asked once a solve, as a loop may check every few microseconds."""
    return logger.isEnabledFor(logging.DEBUG)


def log_check(method: str, row: Row) -> None:
    """A line for a check."""
    iteration, seconds, residual, merit, active = row
    logger.debug(
        "%s: iteration %d, %.3g s, residual %.3e, merit %.3e, active %d",
        method,
        iteration,
        seconds,
        residual,
        merit,
        active,
    )
