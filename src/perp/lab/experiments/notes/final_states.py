"""The six final states of NOTES section 7, and which of ours each of them is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from perp.lab.runs.row import LabRow

STATES = {
    "CONVERGED": "absolute",
    "RELATIVE": "relative",
    "STAGNATED": "stagnation",
    "LOCAL_MINIMUM": "local minimum",
    "NON_DESCENT": "non-descent",
    "ITERATION_LIMIT": "max iteration",
}
OTHER = "other"
"""What the paper has no word for: a singular equation that was noticed (BREAKDOWN), a cycle, a failure."""

NAMES = (*STATES.values(), OTHER)


def final_state(row: LabRow) -> str:
    return STATES.get(row.status, OTHER)


def count_states(rows: Iterable[LabRow]) -> dict[str, int]:
    """How many rows ended in which state, all of them named."""
    counted = Counter(map(final_state, rows))
    return {name: counted[name] for name in NAMES}


def percentage(rows: Iterable[LabRow], *states: str) -> float:
    """Of the rows that measured something, those that ended in one of the states; nan for no rows."""
    ends = [final_state(row) in states for row in rows if row.measured]
    return 100.0 * sum(ends) / len(ends) if ends else float("nan")
