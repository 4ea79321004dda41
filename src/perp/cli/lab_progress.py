"""What a run of the lab shows while it runs: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TaskID, TextColumn
from rich.progress import Task as Bar
from rich.text import Text

if TYPE_CHECKING:
    from perp.lab.runs.driver import Reporter
    from perp.lab.runs.process import Ended
    from perp.lab.runs.task import Task

BETWEEN = 10.0
"""Seconds between two lines where there is no terminal."""

REFRESH = 2.0
"""Changes of the bar a second: drawing must not disturb what is measured."""


LOADING = "loading the kernels (a first run on a machine compiles them: some minutes)"


class TimeLeft(ProgressColumn):
    """What the driver expects, not the mean pace: tasks whose time matters come last, one by one."""

    def render(self, task: Bar) -> Text:
        left = task.fields["left"]
        if left is None:
            return Text(LOADING, style="dim")
        return Text(f"{duration(left)} left", style="cyan")


@contextmanager
def following() -> Iterator[Reporter]:
    """The reporter that suits where the output goes."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainReporter()
        return
    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeLeft(), TextColumn("{task.description}", style="dim"))
    with Progress(*columns, console=console, transient=True, refresh_per_second=REFRESH) as bar:
        yield TerminalReporter(bar)


class PlainReporter:
    """A line at the start, one every few seconds, and one for each row that measured nothing."""

    total: int
    done: int

    def __init__(self) -> None:
        self.total = self.done = 0
        self.due: float = 0.0

    def planned(self, to_run: int, taken: int) -> None:
        self.total = to_run
        self.due = monotonic() + BETWEEN
        typer.echo(f"{to_run:,} tasks to run, {taken:,} rows are there already", err=True)
        if to_run:
            typer.echo(LOADING, err=True)

    def started(self, task: Task) -> None:
        pass

    def finished(self, task: Task, ended: Ended, seconds_left: float) -> None:
        self.done += 1
        if is_trouble(ended):
            typer.echo(trouble(task, ended), err=True)
        if monotonic() >= self.due or self.done == self.total:
            self.due = monotonic() + BETWEEN
            typer.echo(f"{self.done:,} of {self.total:,} tasks, {duration(seconds_left)} left", err=True)


class TerminalReporter:
    """Moves the bar; rows that measured nothing stay above it."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.place: TaskID | None = None

    def planned(self, to_run: int, taken: int) -> None:
        self.place = self.bar.add_task("", total=to_run, left=None)

    def started(self, task: Task) -> None:
        if self.place is not None:
            self.bar.update(self.place, description=f"{task.work} {task.name}")

    def finished(self, task: Task, ended: Ended, seconds_left: float) -> None:
        if is_trouble(ended):
            self.bar.console.print(Text(trouble(task, ended), style="yellow"))
        if self.place is not None:
            self.bar.update(self.place, advance=1, left=seconds_left)


def is_trouble(ended: Ended) -> bool:
    from perp.lab.runs.measurement import TROUBLE

    return ended.status in TROUBLE


def trouble(task: Task, ended: Ended) -> str:
    """A row that measured nothing, in one line."""
    told = f": {ended.message}" if ended.message else ""
    return f"{ended.status} {task.work} {task.name} after {ended.wall_seconds:.1f} s{told} (row {task.key})"


def duration(seconds: float) -> str:
    """0:00:07 in the way of clocks."""
    return str(timedelta(seconds=round(seconds)))
