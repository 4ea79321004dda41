"""`perp lab report`: the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perp.cli.errors import CommandError, refusing
from perp.cli.lab_run import name_skipped
from perp.errors import MissingExtra

INCOMPLETE = 1


def report(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder to write to; by default 'report' in the run's folder.", show_default=False
        ),
    ] = None,
    run: Annotated[Path, typer.Option("--from", metavar="DIR", help="The folder of the run.")] = Path("perp-lab"),
) -> None:
    """Write the report of a run: one self-contained HTML page, figures as PNG and SVG, rows and verdicts as CSV.

    Experiments that have rows of the full size are shown with those, others with the rows of the quick run, and say so.

    Exit codes: 0 done, 1 written but some part could not be made (it is named), 2 bad usage or no rows.
    """
    from rich.console import Console

    from perp.lab.publication.report import write_report

    if not run.is_dir():
        raise CommandError(f"{run}: there is no such folder; 'perp lab run' makes one")
    console = Console(stderr=True)
    with refusing(MissingExtra, OSError, ValueError), console.status("reading rows") as line:
        made = write_report(run, out or run / "report", told=lambda identity: line.update(f"drawing {identity}"))
    typer.echo(f"wrote {made.page}, and beside it figures and the CSV files of rows and verdicts")
    name_skipped(made.skipped)
    if made.troubles:
        for trouble in made.troubles:
            typer.echo(f"perp: {trouble}", err=True)
        raise typer.Exit(INCOMPLETE)
