"""`perp classify`: to which classes of complementarity theory the matrix of a problem belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perp.cli.errors import refusing
from perp.errors import FileFormatError, InvalidProblem, MissingExtra
from perp.lab import results
from perp.linalg import classes
from perp.problems import files


def classify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The problem: .npz, .mtx, .hdf5 or Siconos' .dat.", show_default=False),
    ],
    max_seconds: Annotated[
        float, typer.Option(min=0.0, help="Limit for all classes together; what takes longer is undecided.")
    ] = 2.0,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """Tell to which classes the matrix A of a problem belongs: definite, P, P0, Z, M, H+, copositive, sufficient.

    Yes and no are proved for the very numbers in the file; a no comes with a witness.
    """
    with refusing(FileFormatError, InvalidProblem, MissingExtra, OSError, MemoryError):
        problem = files.load(file)
    found = classes.classify(problem, max_seconds=max_seconds)
    if json:
        typer.echo(results.to_json(found.to_dict()))
    else:
        typer.echo(str(found))
