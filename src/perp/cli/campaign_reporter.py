"""How a campaign shows itself: a progress bar and a table on a terminal, a line a solve elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from perp.lab.campaign import Reporter
from perp.lab.instances import Instance
from perp.lab.rows import Row

HEADINGS = ("problem", "method", "ended", "residual", "iterations", "seconds")


@contextmanager
def reporting() -> Iterator[Reporter]:
    """The reporter that suits where the output goes."""
    console = Console()
    if not console.is_terminal:
        yield PlainReporter()
        return
    bar = Progress(BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), console=console, transient=True)
    reporter = TerminalReporter(bar)
    with bar:
        yield reporter
    console.print(reporter.table())


class PlainReporter:
    """One aligned line a row."""

    def planned(self, solves: int) -> None:
        typer.echo(f"{solves} solves; the first of each kind may have to compile its kernels")
        typer.echo(_aligned(HEADINGS))

    def started(self, instance: Instance, method: str) -> None:
        pass

    def finished(self, row: Row) -> None:
        typer.echo(_aligned(cells(row)))


class TerminalReporter:
    """Moves a bar, and keeps the rows for a table at the end."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.task: TaskID = bar.add_task("", total=None)
        self.rows: list[Row] = []

    def planned(self, solves: int) -> None:
        self.bar.update(self.task, total=solves)

    def started(self, instance: Instance, method: str) -> None:
        self.bar.update(self.task, description=f"{instance.name}: {method}")

    def finished(self, row: Row) -> None:
        self.rows.append(row)
        self.bar.advance(self.task)

    def table(self) -> Table:
        table = Table(*HEADINGS[:3], header_style="bold")
        for heading in HEADINGS[3:]:
            table.add_column(heading, justify="right")
        previous = ""
        for row in self.rows:
            if previous and row.problem != previous:
                table.add_section()
            previous = row.problem
            table.add_row(*cells(row), style=None if row.success else "dim")
        return table


def _aligned(words: tuple[str, ...]) -> str:
    problem, method, ended, *numbers = words
    return f"{problem:<12} {method:<26} {ended:<18} " + " ".join(f"{number:>10}" for number in numbers)


def cells(row: Row) -> tuple[str, ...]:
    return (
        row.problem,
        row.method,
        row.status,
        f"{row.residual:.1e}",
        f"{row.iterations:,}",
        f"{row.total_seconds:.4f}",
    )
