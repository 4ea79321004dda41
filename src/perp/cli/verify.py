"""`perp verify`: every residual of a given x."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from perp.cli.errors import NOT_CONVERGED, CommandError, refusing
from perp.cli.options import ComplianceUnits, ContactCompliance, read_compliance, with_compliance
from perp.errors import FileFormatError, InvalidProblem, MissingExtra
from perp.lab import results
from perp.problems import files, proofs, residuals


def verify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The problem: .npz, .mtx, .hdf5 or Siconos' .dat.", show_default=False),
    ],
    answer: Annotated[
        Path | None,
        typer.Argument(
            metavar="X",
            help="An .npz file with x; default: the solution stored with the problem.",
            show_default=False,
        ),
    ] = None,
    tol: Annotated[float, typer.Option(help="Exit with 0 when the residual is at most this, else with 1.")] = 1e-8,
    contact_compliance: ContactCompliance = None,
    compliance_units: ComplianceUnits = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Also prove that a solution lies near x, rounding included; without a proof exit with 1."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """Measure how well a given x solves a problem, apart from any solver.

    Where contacts have a compliance, the residual is that of the compliant law; that of the rigid one is shown, too.
    """
    compliance = read_compliance(contact_compliance, compliance_units)
    with refusing(FileFormatError, InvalidProblem, MissingExtra, OSError, MemoryError):
        problem = files.load(file)
        x = files.load_solution(file) if answer is None else results.load_answer(answer)
    if x is None:
        raise CommandError(f"{file}: no solution is stored with this problem; give a file that has one")
    if compliance is not None:
        problem = with_compliance(problem, compliance)
    with refusing(InvalidProblem):
        measured = residuals.verify(problem, x)
        proof = proofs.prove(problem, x) if prove else None
        bounds = proofs.error_bounds(problem, x) if prove else ()
    if json:
        document = asdict(measured)
        if proof is not None:
            document |= {"proof": _as_data(proof), "error_bounds": [_as_data(bound) for bound in bounds]}
        typer.echo(results.to_json(document))
    else:
        verdict = "within" if measured.residual <= tol else "NOT within"
        typer.echo(f"{measured}\n\nthe residual is {verdict} the tolerance {tol:g}")
        if proof is not None:
            typer.echo("\n".join(["", str(proof), *map(str, bounds)]))
    if not measured.residual <= tol or (proof is not None and not proof.exists):
        raise typer.Exit(NOT_CONVERGED)


def _as_data(item: Any) -> dict[str, Any]:
    """The fields of a proof or a bound as plain data: arrays as lists, fractions as text."""
    plain: dict[str, Any] = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if isinstance(value, tuple):
            value = [str(entry) for entry in value]
        plain[field.name] = value.tolist() if hasattr(value, "tolist") else value
    return plain
