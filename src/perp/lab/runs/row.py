"""A row: a task, what it found, and under which circumstances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.task import Task
from perp.solvers.results import Status

FAILED = "FAILED"
"""The work raised; the message says what."""
CRASHED = "CRASHED"
"""The process ended without a row: a signal, or an exit from within a library."""
TIME_OUT = "TIME_OUT"
"""The process was ended after the wall seconds of its task."""
OUT_OF_MEMORY = "OUT_OF_MEMORY"
"""The work asked for more memory than its task allows."""
DONE = "DONE"
"""Measured; there was nothing to converge."""

TROUBLE = (FAILED, CRASHED, TIME_OUT, OUT_OF_MEMORY)
"""The statuses of rows that measured nothing."""

Column = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """`status` is the name of a `Status`, of an `Ending`, or one of the words above.

    `numbers` and `series` have what the work measured by name. Every work that solves has `residual`, `iterations`,
    `seconds`, `setup_seconds` and `active` (the share of rows that are free at the end) among its numbers; missing
    numbers are missing, not zero.
    """

    status: str
    message: str = ""
    n: int = 0
    """Rows of the problem, or the most of any step."""
    problem: str = ""
    """The hash of the data that were solved, or of the final state: equal ones were the same, bit by bit."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LabRow:
    """`row["residual"]` is a number (nan where there is none), `row.series["residual"]` a column."""

    task: Task
    found: Measurement
    circumstances: Circumstances
    ran_with: Mapping[str, Any] | None = None
    """Options of the method that it was run with, where they are not those of the task that it stands for."""

    @property
    def options(self) -> Mapping[str, Any]:
        return self.task.options if self.ran_with is None else self.ran_with

    def __getitem__(self, name: str) -> float:
        return float(self.found.numbers.get(name, nan))

    @property
    def key(self) -> str:
        return self.task.key

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def group(self) -> str:
        return self.task.group

    @property
    def status(self) -> str:
        return self.found.status

    @property
    def residual(self) -> float:
        return self["residual"]

    @property
    def iterations(self) -> int:
        """Zero where none is known."""
        return int(self.found.numbers.get("iterations", 0))

    @property
    def success(self) -> bool:
        return self.found.status == Status.CONVERGED.name

    @property
    def measured(self) -> bool:
        """Something was found, if only that the method fails: the process did not come to grief."""
        return self.found.status not in TROUBLE

    @property
    def series(self) -> dict[str, Column]:
        return dict(self.found.series)

    @property
    def total_seconds(self) -> float:
        return self["setup_seconds"] + self["seconds"]


def select(rows: Iterable[LabRow], where: Callable[[LabRow], bool] | None = None, **wanted: Any) -> list[LabRow]:
    """Rows whose task has these values: fields of the task, or else entries of its instance, options or arguments."""
    return [
        row for row in rows if (where is None or where(row)) and all(_has(row.task, *pair) for pair in wanted.items())
    ]


def _has(task: Task, name: str, value: object) -> bool:
    if hasattr(task, name):
        return bool(getattr(task, name) == value)
    return any(name in entries and entries[name] == value for entries in (task.instance, task.options, task.arguments))
