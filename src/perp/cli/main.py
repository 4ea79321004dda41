"""`perp`: the commands, each from its own file. Modules that they import wait until they are used."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from perp.cli.classify import classify
from perp.cli.demo import demo
from perp.cli.doctor import doctor
from perp.cli.errors import Commands
from perp.cli.generate import generate
from perp.cli.lab import lab
from perp.cli.methods import methods
from perp.cli.options import SceneCommand
from perp.cli.scenes import scenes
from perp.cli.simulate import simulate
from perp.cli.solve import solve
from perp.cli.survey import survey
from perp.cli.verify import verify
from perp.cli.view import view
from perp.version import __version__

app: typer.Typer = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"perp {__version__}")
        raise typer.Exit


@app.callback()
def perp(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Complementarity problems, 0 <= x  ⊥  A x + b >= 0: solve them, and prove the answer.

    Exit codes: 0 done, 1 the solve ended without converging, 2 bad usage or a bad file, 130 interrupted.
    """


app.command()(solve)
app.command()(verify)
app.command()(classify)
app.command()(survey)
app.command()(generate)
app.command()(methods)
app.command()(scenes)
app.command(cls=SceneCommand)(simulate)
app.command(cls=SceneCommand)(view)
app.command()(demo)
app.command()(doctor)
app.add_typer(lab, name="lab")


def main() -> None:
    """The entry point of the `perp` script and of `python -m perp`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no sign for ⊥ shows a question mark
    app(prog_name="perp")
