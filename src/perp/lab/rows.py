"""One row: one method on one problem, and how it went."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from perp.solvers.results import History, Result, Status

FAILED = "FAILED"
"""The status of a row whose method raised instead of returning a result."""


@dataclass(frozen=True, eq=False)
class Row:
    """What a table shows and a figure draws. `status` is the name of a `Status`, or FAILED; `message` says more.

    A method that raised has no residual and no times (they are nan), and an empty history.
    """

    problem: str
    method: str
    status: str
    message: str
    residual: float
    iterations: int
    seconds: float
    setup_seconds: float
    history: History

    @property
    def success(self) -> bool:
        return self.status == Status.CONVERGED.name

    @property
    def total_seconds(self) -> float:
        return self.setup_seconds + self.seconds


def row_from_result(problem: str, result: Result) -> Row:
    return Row(
        problem=problem,
        method=result.method,
        status=result.status.name,
        message=result.message,
        residual=result.residual,
        iterations=result.iterations,
        seconds=result.seconds,
        setup_seconds=result.setup_seconds,
        history=result.history,
    )


def row_from_failure(problem: str, method: str, error: Exception) -> Row:
    return Row(
        problem=problem,
        method=method,
        status=FAILED,
        message=f"{type(error).__name__}: {error}",
        residual=nan,
        iterations=0,
        seconds=nan,
        setup_seconds=nan,
        history=History.from_rows([]),
    )


def ranked(rows: list[Row]) -> list[Row]:
    """Best first: those that converged by their time, then the others by their residual, then those that raised."""

    def rank(row: Row) -> tuple[int, float]:
        if row.success:
            return 0, row.total_seconds
        return (2, 0.0) if np.isnan(row.residual) else (1, row.residual)

    return sorted(rows, key=rank)


def thinned(history: History, most: int = 400) -> History:
    """At most about `most` entries, spaced geometrically as a logarithmic axis shows them; both ends are kept."""
    if len(history) <= most:
        return history
    chosen = np.unique(np.rint(np.geomspace(1, len(history), most)).astype(np.intp)) - 1
    return History(
        history.iteration[chosen],
        history.seconds[chosen],
        history.residual[chosen],
        history.merit[chosen],
        history.active[chosen],
        {name: column[chosen] for name, column in history.counters.items()},
    )
