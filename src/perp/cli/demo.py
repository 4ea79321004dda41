"""`perp demo`: every method on a stack of boxes and on a fluid, and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perp.cli import progress
from perp.cli.errors import refusing
from perp.errors import MissingExtra
from perp.lab import demo as demos


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to; it is made if need be.")] = Path("perp-demo"),
) -> None:
    """Solve a stack of boxes and a fluid problem with every method that suits them, and write a report.

    Writes report.html, one file with tables and convergence plots, and results.json, the numbers behind them.
    """
    with refusing(MissingExtra, OSError), progress.following_rows() as reporter:
        made = demos.run_demo(out, reporter=reporter)
    typer.echo("Methods that end at the limit of iterations are slow on that problem, not wrong: the report says why.")
    typer.echo(f"wrote {made.report} and {made.results}")
