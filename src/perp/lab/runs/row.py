"""A row: a task, what it found, and under which circumstances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.measurement import TROUBLE, Column, Measurement
from perp.lab.runs.task import Task
from perp.solvers.results.status import Status


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
