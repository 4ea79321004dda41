"""How long a run will still take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from statistics import fmean
from typing import Any

from perp.lab.runs.task import Task

UNKNOWN_SECONDS = 1.0
"""Of a task, while none is done."""


class Forecast:
    """A task that has a former row is expected to take as long again; others as long as the mean of those done."""

    def __init__(self, former: Mapping[str, Mapping[str, Any]], width: int) -> None:
        known = {key: row["wall_seconds"] for key, row in former.items()}
        self.known: dict[str, float] = {
            key: seconds for key, seconds in known.items() if seconds is not None and isfinite(seconds)
        }
        self.width: int = max(width, 1)
        self.done: list[float] = []

    def learn(self, seconds: float) -> None:
        self.done.append(seconds)

    def seconds_left(self, together: Iterable[Task], alone: Iterable[Task]) -> float:
        """`together` run so many at a time as there are workers, `alone` one by one."""
        usual = fmean(self.done) if self.done else UNKNOWN_SECONDS
        beside, apart = (sum(self.known.get(task.key, usual) for task in tasks) for tasks in (together, alone))
        return beside / self.width + apart
