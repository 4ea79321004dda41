"""What happened on the way, one row per check; and the history of a whole from those of its parts."""

from __future__ import annotations

from collections.abc import Sequence
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


def join_histories(histories: Sequence[History]) -> History:
    """Of islands, as if they were solved one after the other.

    At each check, islands before the one at work stand at their last check, those after it at their first.

    The residual of the whole is the largest of all islands', merit and active rows are sums. Where an island begins,
    the whole stands where the last one ended, which is not listed twice.
    """
    filled = [history for history in histories if len(history)]
    if not filled:
        return History.from_rows([])
    lengths = np.array([len(history) for history in filled])
    island = np.repeat(np.arange(lengths.size), lengths)
    begins = np.cumsum(lengths) - lengths
    ends = begins + lengths - 1
    keep = np.ones(island.size, dtype=bool)
    keep[begins[1:]] = False

    def together(name: str, join: np.ufunc) -> NDArray[Any]:
        here = np.concatenate([getattr(history, name) for history in filled])
        before, after = _earlier(here[ends], join), _earlier(here[begins][::-1], join)[::-1]
        return np.asarray(join(join(here, before[island]), after[island])[keep])

    return History(
        together("iteration", np.add),  # first ones are 0
        together("seconds", np.add),
        together("residual", np.maximum),
        together("merit", np.add),
        together("active", np.add),
    )


def _earlier(values: NDArray[Any], join: np.ufunc) -> NDArray[Any]:
    """All values before each, joined; 0 for none."""
    return np.concatenate([np.zeros(1, values.dtype), join.accumulate(values)[:-1]])


def join_turns(histories: Sequence[History]) -> History:
    """The histories of methods that took turns as one: iterations and seconds count on. Counters belong to methods."""
    filled = [history for history in histories if len(history)]
    if len(filled) <= 1:
        return filled[0] if filled else History.from_rows([])
    iterations = np.cumsum([0, *(history.iteration[-1] for history in filled[:-1])])
    seconds = np.cumsum([0.0, *(history.seconds[-1] for history in filled[:-1])])
    return History(
        np.concatenate([history.iteration + done for history, done in zip(filled, iterations, strict=True)]),
        np.concatenate([history.seconds + spent for history, spent in zip(filled, seconds, strict=True)]),
        np.concatenate([history.residual for history in filled]),
        np.concatenate([history.merit for history in filled]),
        np.concatenate([history.active for history in filled]),
    )
