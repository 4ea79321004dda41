"""What happened on the way: one line a check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

Row = tuple[int, float, float, float, int]
"""iteration, seconds, residual, merit, active"""


@dataclass(frozen=True)
class History:
    """Columns of equal length, one entry a check, the starting point first.

    `seconds` counts the method's own time only: neither its preparation nor the checks. `counters` holds a column for
    each thing that the method itself counts, such as pivots or factorisations.
    """

    iteration: NDArray[np.int64]
    seconds: NDArray[np.float64]
    residual: NDArray[np.float64]
    merit: NDArray[np.float64]
    active: NDArray[np.int64]
    counters: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @staticmethod
    def from_rows(rows: list[Row], counted: list[dict[str, float]] | None = None) -> History:
        """`counted` has what was counted at each row; nothing had been at rows where a name is missing.

        The lists become the history's own. Its columns are made when somebody first asks for one: a small problem is
        solved in the time that they take, and hardly anybody asks.
        """
        history = object.__new__(History)
        vars(history)["_told"] = rows, counted or []
        return history

    if not TYPE_CHECKING:  # a checker of types should go on telling columns from misspelt ones

        def __getattr__(self, name: str) -> Any:
            """Called for what is not there (yet). Two threads may both make the columns: they make the same ones."""
            told = vars(self).get("_told")
            if told is not None:
                vars(self).update(_as_columns(*told))
                vars(self).pop("_told", None)
            if name in vars(self):
                return vars(self)[name]
            raise AttributeError(f"a history has no column {name!r}")

    def __len__(self) -> int:
        return len(self.iteration)


def _as_columns(rows: list[Row], counted: list[dict[str, float]]) -> dict[str, Any]:
    iteration, seconds, residual, merit, active = zip(*rows, strict=True) if rows else ((),) * 5
    names = dict.fromkeys(name for counters in counted for name in counters)
    return {
        "iteration": np.array(iteration, dtype=np.int64),
        "seconds": np.array(seconds, dtype=np.float64),
        "residual": np.array(residual, dtype=np.float64),
        "merit": np.array(merit, dtype=np.float64),
        "active": np.array(active, dtype=np.int64),
        "counters": {name: np.array([counters.get(name, 0.0) for counters in counted]) for name in names},
    }
