"""What perp tells through `logging`; it prints nothing.

All of it goes to the logger "perp": at INFO a line a solve, at DEBUG a line a check. Nobody hears it until a program
asks: `logging.basicConfig(level=logging.INFO)`.
"""

from __future__ import annotations

import logging

from perp.solvers.results.history import Row
from perp.solvers.results.result import Result

logger: logging.Logger = logging.getLogger("perp")
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
