"""What commands show while they work: a line or a bar on a terminal; lines, or nothing, elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.progress import Task as BarTask
from rich.table import Table
from rich.text import Text

from perp.lab.runs import row as rows
from perp.lab.runs.runner import Reporter

if TYPE_CHECKING:
    from perp.lab.runs.process import Ended
    from perp.lab.runs.row import LabRow
    from perp.lab.runs.task import Task
    from perp.lab.survey import SurveyRow
    from perp.simulation.run import OnStep
    from perp.solvers.loop import Progress
    from perp.worlds.world import StepReport

OnCount: TypeAlias = Callable[[int], object]
"""Called with the number of frames that there are so far."""

PATIENCE = 0.5
"""Seconds before the line of a solve appears: a short solve shows nothing."""

COMPILING = 2.0
"""Seconds after which a first step is known to be compiling."""

REFRESH = 0.1
"""Seconds between two changes of a line or of figures beside a bar."""

LAB_REFRESH = 2.0
"""Changes of the lab's bar per second: drawing must not disturb what is measured."""

BETWEEN = 10.0
"""Seconds between two lines of the lab where there is no terminal."""

LOADING = "loading the kernels (a first run on a machine compiles them: some minutes)"

THINGS = {"contacts": "contacts", "liquid_cells": "liquid cells"}
"""What a step deals with: statistics that only some worlds have, as the bar names them."""

BAR = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))

HEADINGS = ("problem", "method", "ended", "residual", "iterations", "seconds")


@contextmanager
def watching(*, quiet: bool) -> Iterator[Callable[[Progress], object] | None]:
    """A callback for `solve`, or None where the line would not be seen."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    line = console.status("")
    begun = perf_counter()
    due = begun + PATIENCE

    def show(progress: Progress) -> None:
        nonlocal due
        now = perf_counter()
        if now < due:
            return
        due = now + REFRESH
        line.start()
        line.update(
            f"iteration {progress.iteration:,}   residual {progress.residual:.2e}   {now - begun:.1f} s   "
            "[dim]Ctrl-C keeps the best point[/dim]"
        )

    try:
        yield show
    finally:
        line.stop()


@contextmanager
def following_steps(steps: int, *, quiet: bool) -> Iterator[OnStep | None]:
    """A function for `simulate(callback=...)`, or None where the bar would not be seen."""

    def figures(task: BarTask) -> str:
        seen = task.fields
        return f"{seen['rate']:.3g} steps/s  {seen['things']}residual {seen['residual']:.1e}"

    with _bar(steps, Pace("step", figures), quiet=quiet) as move:
        if move is None:
            yield None
            return
        begun = due = perf_counter()
        done = 0

        def show(report: StepReport, measured: Mapping[str, float]) -> None:
            nonlocal begun, due, done
            now = perf_counter()
            done += 1
            if done == 1:
                begun, due = now, now  # the rate is that of the steps after the first
            if now < due and done < steps:
                return
            due = now + REFRESH
            rate = (done - 1) / (now - begun) if done > 1 else 1.0 / max(measured["seconds"], 1e-9)
            things = "".join(f"{measured[name]:,.0f} {word}  " for name, word in THINGS.items() if name in measured)
            move(completed=done, rate=rate, things=things, residual=measured["residual"])

        yield show


@contextmanager
def counting_frames(frames: int) -> Iterator[OnCount | None]:
    """A function that takes how many of the frames there are, or None where the bar would not be seen."""
    with _bar(frames, Pace("frame", lambda task: f"{task.speed or 0.0:.3g} frames/s"), quiet=False) as move:
        yield None if move is None else lambda count: move(completed=count)


def following_tasks() -> AbstractContextManager[Reporter[Ended]]:
    """The reporter for a run of the lab that suits where the output goes."""
    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeLeft(), TextColumn("{task.description}", style="dim"))
    return _following(Console(stderr=True), TaskLines(), TaskBar, *columns, refresh_per_second=LAB_REFRESH)


def following_rows() -> AbstractContextManager[Reporter[LabRow]]:
    """The reporter for the demo: a bar and a table at the end, or a line per row."""
    return _following(Console(), RowLines(), RowTable, *BAR)


def following_problems() -> AbstractContextManager[Reporter[SurveyRow]]:
    """The reporter for a survey, which counts problems: a bar, or a line each."""
    return _following(Console(stderr=True), ProblemLines(), ProblemBar, *BAR)


@contextmanager
def _following(
    console: Console, lines: Reporter[Any], kind: type[BarReporter], *columns: ProgressColumn, **look: Any
) -> Iterator[Reporter[Any]]:
    if not console.is_terminal:
        yield lines
        return
    bar = Bar(*columns, console=console, transient=True, **look)
    reporter = kind(bar)
    with bar:
        yield reporter
    reporter.conclude(console)


@contextmanager
def _bar(total: int, pace: Pace, *, quiet: bool) -> Iterator[Callable[..., None] | None]:
    """A function that moves a bar on stderr, or None where the bar would not be seen."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (BarColumn(bar_width=16), MofNCompleteColumn(), pace, TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        yield partial(bar.update, bar.add_task("", total=total))


class Pace(ProgressColumn):
    """Figures of steps or frames; before the first one is done, what takes so long."""

    def __init__(self, unit: str, figures: Callable[[BarTask], str]) -> None:
        super().__init__()
        self.unit, self.figures = unit, figures

    def render(self, task: BarTask) -> Text:
        if task.completed:
            return Text(self.figures(task))
        if (task.elapsed or 0.0) < COMPILING:
            return Text(f"first {self.unit}", style="dim")
        return Text("compiling kernels (first run: a minute or two)", style="yellow")


class TimeLeft(ProgressColumn):
    """What the driver expects, not the mean pace: tasks whose time matters come last, one by one."""

    def render(self, task: BarTask) -> Text:
        left = task.fields["left"]
        if left is None:
            return Text(LOADING, style="dim")
        return Text(f"{duration(left)} left", style="cyan")


class TaskLines(Reporter["Ended"]):
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

    def finished(self, task: Task, row: Ended, seconds_left: float) -> None:
        self.done += 1
        if is_trouble(row):
            typer.echo(trouble(task, row), err=True)
        if monotonic() >= self.due or self.done == self.total:
            self.due = monotonic() + BETWEEN
            typer.echo(f"{self.done:,} of {self.total:,} tasks, {duration(seconds_left)} left", err=True)


class RowLines(Reporter["LabRow"]):
    """One aligned line per row of the demo."""

    def planned(self, to_run: int, taken: int) -> None:
        typer.echo(f"{to_run} solves; the first of each kind may have to compile its kernels")
        typer.echo(_aligned(HEADINGS))

    def finished(self, task: Task, row: LabRow, seconds_left: float) -> None:
        typer.echo(_aligned(cells(row)))


class ProblemLines(Reporter["SurveyRow"]):
    """One line per problem of a survey."""

    total: int
    done: int

    def __init__(self) -> None:
        self.total = self.done = 0

    def planned(self, to_run: int, taken: int) -> None:
        self.total = to_run

    def passed(self, group: str) -> None:
        self.done += 1
        typer.echo(f"{self.done} of {self.total}: {group}", err=True)


class BarReporter(Reporter[Any]):
    """Moves a bar by one for each task."""

    first: str = ""
    """What the bar says before the first task."""

    def __init__(self, bar: Bar) -> None:
        self.bar = bar
        self.place: TaskID = TaskID(0)

    def planned(self, to_run: int, taken: int) -> None:
        self.place = self.bar.add_task(self.first, total=to_run, left=None)

    def started(self, task: Task) -> None:
        self.bar.update(self.place, description=self.describe(task))

    def finished(self, task: Task, row: Any, seconds_left: float) -> None:
        self.bar.update(self.place, advance=1, left=seconds_left)

    def describe(self, task: Task) -> str:
        return f"{task.group}: {task.name}"

    def conclude(self, console: Console) -> None:
        """Called when the bar has gone."""


class TaskBar(BarReporter):
    """Rows that measured nothing stay above the bar."""

    def finished(self, task: Task, row: Ended, seconds_left: float) -> None:
        if is_trouble(row):
            self.bar.console.print(Text(trouble(task, row), style="yellow"))
        super().finished(task, row, seconds_left)

    def describe(self, task: Task) -> str:
        return f"{task.work} {task.name}"


class ProblemBar(BarReporter):
    """Moves by one for each problem of a survey."""

    first = "loading the compiled kernels"

    def finished(self, task: Task, row: SurveyRow, seconds_left: float) -> None:
        pass

    def passed(self, group: str) -> None:
        self.bar.advance(self.place)


class RowTable(BarReporter):
    """Keeps the rows of the demo for a table at the end."""

    def __init__(self, bar: Bar) -> None:
        super().__init__(bar)
        self.rows: list[LabRow] = []

    def finished(self, task: Task, row: LabRow, seconds_left: float) -> None:
        self.rows.append(row)
        super().finished(task, row, seconds_left)

    def conclude(self, console: Console) -> None:
        table = Table(*HEADINGS[:3], header_style="bold")
        for heading in HEADINGS[3:]:
            table.add_column(heading, justify="right")
        previous = ""
        for row in self.rows:
            if previous and row.group != previous:
                table.add_section()
            previous = row.group
            table.add_row(*cells(row), style=None if row.success else "dim")
        console.print(table)


def is_trouble(ended: Ended) -> bool:
    return ended.status in rows.TROUBLE


def trouble(task: Task, ended: Ended) -> str:
    """A row that measured nothing, in one line."""
    message = f": {ended.message}" if ended.message else ""
    return f"{ended.status} {task.work} {task.name} after {ended.wall_seconds:.1f} s{message} (row {task.key})"


def duration(seconds: float) -> str:
    """0:00:07, as clocks show it."""
    return str(timedelta(seconds=round(seconds)))


def cells(row: LabRow) -> tuple[str, ...]:
    numbers = (f"{row.residual:.1e}", f"{row.iterations:,}", f"{row.total_seconds:.4f}")
    return (row.group, row.name, row.status, *numbers)


def _aligned(words: tuple[str, ...]) -> str:
    problem, method, ended, *numbers = words
    return f"{problem:<12} {method:<26} {ended:<18} " + " ".join(f"{number:>10}" for number in numbers)
