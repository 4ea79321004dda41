"""`perp lab`: the tables and figures of the papers, each command from its own file."""

from __future__ import annotations

import typer

from perp.cli.lab_compare import compare
from perp.cli.lab_list import list_experiments
from perp.cli.lab_report import report
from perp.cli.lab_run import run

lab: typer.Typer = typer.Typer(pretty_exceptions_enable=False)


@lab.callback(invoke_without_command=True)
def describe(context: typer.Context) -> None:
    """Run the experiments of the papers again, and see which of their claims hold.

    perp lab list says what there is, perp lab run measures, perp lab report makes a page of it.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


lab.command("list")(list_experiments)
lab.command()(run)
lab.command()(report)
lab.command()(compare)
