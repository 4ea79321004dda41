"""The guard of comparisons: where too many rows had nothing to do, the comparison is void."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from perp.lab.runs.row import DONE, LabRow

MOST_IDLE = 0.2
"""The share of idle rows up to which a comparison stands."""


def find_void_groups(rows: Iterable[LabRow], most: float = MOST_IDLE) -> dict[str, str]:
    """Each void group (`Task.group`) with the reason in words. The rows are those of one experiment.

    A row is idle where it converged without an iteration, or to a point at which no row of the problem is free. A solve
    that failed at its starting point is not: it had something to do and did not do it.
    Rows that cannot tell are left out of the count: a measurement that is DONE and knows no iterations compares nothing
    by them, and a crash or a time-out must not thin out the idle ones.
    """
    groups: dict[str, list[LabRow]] = {}
    for row in rows:
        if _can_tell(row):
            groups.setdefault(row.group, []).append(row)
    return {group: _reason(members) for group, members in groups.items() if _idle_share(members) > most}


def is_idle(row: LabRow) -> bool:
    """Nothing was asked of the method."""
    return row.success and (row["iterations"] == 0.0 or row["active"] == 0.0)


def _can_tell(row: LabRow) -> bool:
    if isnan(row["iterations"]):
        return row.status != DONE and not isnan(row["active"])
    return True


def _idle_share(rows: list[LabRow]) -> float:
    return sum(map(is_idle, rows)) / len(rows)


def _reason(rows: list[LabRow]) -> str:
    no_iteration = sum(is_idle(row) and row["iterations"] == 0.0 for row in rows)
    nothing_free = sum(is_idle(row) and row["iterations"] != 0.0 for row in rows)
    return (
        f"{_idle_share(rows):.0%} of {len(rows)} rows had nothing to do: {no_iteration} converged without an "
        f"iteration, {nothing_free} more to a point at which nothing is free"
    )
