"""`perp lab compare`: two runs side by side."""

from __future__ import annotations

import shutil
import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perp.cli.errors import CommandError, refusing
from perp.errors import MissingExtra

if TYPE_CHECKING:
    from rich.table import Table

    from perp.lab.publication.comparison import Comparison

WIDTH = 160
"""Columns, where no terminal says how many there are."""

MOST_CHANGES = 40
"""Rows whose status changed are named up to so many; --json has all."""


def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR1", help="The folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="DIR2", help="The folder of another.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """Compare two runs: verdicts with their figures, how rows ended, and ratios of time and iterations.

    Rows are the same where problem, method, options and stop preset are, also across versions of perp. Ratios are
    DIR2 over DIR1, medians over the rows that both runs solved. What changed is marked with an asterisk.

    Exit codes: 0 compared, whatever has changed; 2 bad usage, or a folder without rows.
    """
    from perp.lab.publication.comparison import compare_folders

    for folder in (first, second):
        if not folder.is_dir():
            raise CommandError(f"{folder}: there is no such folder")
    with refusing(MissingExtra, OSError, ValueError):
        comparison = compare_folders(first, second)
    if json:
        from perp.lab.results import to_json

        typer.echo(to_json(comparison.as_plain()))
        return
    show_comparison(comparison)


def show_comparison(comparison: Comparison) -> None:
    from rich.console import Console

    console = Console(width=shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH)
    for table in (_claims(comparison), _methods(comparison), _statuses(comparison), _experiments(comparison)):
        if table.row_count:
            console.print(table)
    changed = sum(claim.changed for claim in comparison.claims)
    typer.echo(
        f"{changed} of {len(comparison.claims)} verdicts and the status of {len(comparison.statuses)} of "
        f"{sum(each.both for each in comparison.experiments):,} common rows changed."
    )


def _claims(comparison: Comparison) -> Table:
    table = _table("Claims", "", "experiment", "claim", "measured 1", "measured 2", "verdict 1", "verdict 2")
    for claim in comparison.claims:
        outcomes = (outcome or "not run" for outcome in claim.outcomes)
        table.add_row(
            "*" if claim.changed else "",
            claim.experiment,
            claim.claim,
            *map(_number, claim.measured),
            *outcomes,
            style="bold" if claim.changed else None,
        )
    return table


def _methods(comparison: Comparison) -> Table:
    table = _table(
        "Rows that both have", "experiment", "method", "rows", "both solved", "time ratio", "iteration ratio"
    )
    for each in comparison.methods:
        ratios = map(_number, (each.seconds_ratio, each.iterations_ratio))
        table.add_row(each.experiment, each.method, f"{each.rows:,}", f"{each.solved:,}", *ratios)
    return table


def _statuses(comparison: Comparison) -> Table:
    table = _table("Rows that ended otherwise", "experiment", "method", "comparison", "status 1", "status 2", "key")
    for change in comparison.statuses[:MOST_CHANGES]:
        table.add_row(change.experiment, change.method, change.group, *change.statuses, change.key)
    if len(comparison.statuses) > MOST_CHANGES:
        table.add_row(f"and {len(comparison.statuses) - MOST_CHANGES:,} more")
    return table


def _experiments(comparison: Comparison) -> Table:
    table = _table("Experiments", "experiment", "size 1", "size 2", "rows in both", "only in 1", "only in 2")
    for each in comparison.experiments:
        sizes = (size or "not run" for size in each.sizes)
        table.add_row(each.experiment, *sizes, f"{each.both:,}", *(f"{count:,}" for count in each.only))
    return table


def _table(title: str, *headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for heading in headings:
        is_number = heading.startswith(("measured", "rows", "both", "only")) or heading.endswith("ratio")
        table.add_column(heading, justify="right" if is_number else "left")
    return table


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4g}"
