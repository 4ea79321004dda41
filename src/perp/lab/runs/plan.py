"""Which of the tasks that are asked for have to be run, and how long that will take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from statistics import fmean
from typing import Any

from perp.errors import suggest
from perp.lab.runs.circumstances import code_fingerprint
from perp.lab.runs.row import FAILED, OUT_OF_MEMORY, TIME_OUT, TROUBLE
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task
from perp.solvers.options import read_words
from perp.solvers.roster import BY_NAME, make_method

GLANCE = ("status", "message", "code", "started", "wall_seconds", "limit_seconds", "limit_megabytes", "alone")
"""What decides whether a row is taken."""

NOT_THERE = re.compile(r"^(ImportError|ModuleNotFoundError): |: pip install ")
"""In the message of a task that failed for want of a library, which may have been installed since."""

UNKNOWN_SECONDS = 1.0
"""Of a task, while none is done."""


@dataclass(frozen=True)
class Policy:
    """Which rows count as finished.

    Those of the same code do, in any case; with `resume` also those that other code of the same version measured
    (keys contain the version). With `retry` those that measured nothing are run again; those for want of a library are
    in any case. A row that met a limit counts only for a task whose limit is no larger; a task whose time is part of a
    claim takes only rows that ran alone.
    """

    resume: bool = False
    retry: bool = False

    def takes(self, row: Mapping[str, Any], task: Task) -> bool:
        """Whether this row (its `GLANCE`) spares the task."""
        status = row["status"]
        if not self.resume and row["code"] != code_fingerprint():
            return False
        if self.retry and status in TROUBLE:
            return False
        if status == FAILED and NOT_THERE.search(row["message"] or ""):
            return False
        if status == TIME_OUT and not row["limit_seconds"] >= task.wall_seconds:
            return False
        if status == OUT_OF_MEMORY and not row["limit_megabytes"] >= task.memory_megabytes:
            return False
        return bool(row["alone"]) or not task.timed


@dataclass(frozen=True)
class Plan:
    """What is to be run, what is there already, and what is known of all of it from former rows."""

    together: tuple[Task, ...]
    """Run beside one another, first; those that are known to take long in front."""
    alone: tuple[Task, ...]
    """Run one at a time, afterwards."""
    taken: tuple[Task, ...]
    former: Mapping[str, Mapping[str, Any]]
    """The `GLANCE` of rows that there are, also of those that are not taken."""

    @property
    def to_run(self) -> int:
        return len(self.together) + len(self.alone)


def make_plan(tasks: Iterable[Task], store: RowStore, policy: Policy) -> Plan:
    """Each key once."""
    wanted = merge_equal(tasks)
    former = store.glance(wanted, GLANCE)
    taken = tuple(task for task in wanted if task.key in former and policy.takes(former[task.key], task))
    keys = {task.key for task in taken}
    missing = [task for task in wanted if task.key not in keys]
    known = {key: row["wall_seconds"] or 0.0 for key, row in former.items()}
    together = sorted((task for task in missing if not task.timed), key=lambda task: -known.get(task.key, float("inf")))
    return Plan(tuple(together), tuple(task for task in missing if task.timed), taken, former)


def merge_equal(tasks: Iterable[Task]) -> list[Task]:
    """Tasks with equal keys are one: timed if any of them is, with the largest limits."""
    merged: dict[str, Task] = {}
    for task in tasks:
        key = task.key
        other = merged.get(key, task)
        merged[key] = replace(
            other,
            wall_seconds=max(task.wall_seconds, other.wall_seconds),
            memory_megabytes=max(task.memory_megabytes, other.memory_megabytes),
            timed=task.timed or other.timed,
        )
    return list(merged.values())


def with_options(tasks: Iterable[Task], words: Mapping[str, str]) -> list[Task]:
    """The tasks with other options, in words, of all methods that have them; labels stay what they were.

    ValueError for an option that no method of the tasks has, or that one of them refuses.
    """
    changed: list[Task] = []
    known = set[str]()
    for task in tasks:
        method = BY_NAME.get(task.method)
        names = set() if method is None else {each.name for each in fields(method)}
        known |= names
        own = {name: word for name, word in words.items() if name in names}
        if method is not None and own:
            options = {**task.options, **read_words(method, own)}
            make_method(task.method, options)
            task = replace(task, options=options, label=task.name)
        changed.append(task)
    for name in words:
        if name not in known:
            raise ValueError(f"no method of these experiments has an option {name!r}{suggest(name, sorted(known))}")
    return changed


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
