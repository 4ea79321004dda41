"""`perp solve`: load, solve, print, and save the answer."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perp.cli import cards, progress
from perp.cli.errors import INTERRUPTED, NOT_CONVERGED, CommandError, refusing
from perp.cli.options import ComplianceUnits, ContactCompliance, read_compliance, split_assignments, with_compliance
from perp.errors import FileFormatError, InvalidProblem, MethodRefused, MissingAbility, MissingExtra, suggest
from perp.lab import results
from perp.problems import files
from perp.solvers import api, loop, roster, stopping
from perp.solvers import options as option_words
from perp.solvers.auto import explain as reasons
from perp.solvers.islands import islands as island_solver
from perp.solvers.islands import results as island_results

LAWS = ("box", "cone", "convex")
"""Those that need nothing but the coefficients of friction."""

if TYPE_CHECKING:
    from perp.problems.inputs import Vector
    from perp.problems.problem import Problem
    from perp.solvers.method import Method
    from perp.solvers.results import Result


def solve(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The problem: .npz, .mtx, .hdf5 or Siconos' .dat.", show_default=False),
    ],
    method: Annotated[str, typer.Option("--method", "-m", help="A method; 'perp methods' lists them.")] = "auto",
    tol: Annotated[
        float | None,
        typer.Option(
            help="Residual (auto: scaled residual) at which the solve has succeeded; default 1e-8.", show_default=False
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            help="Limit; default the method's own (1000 for the splitting methods), or none with --max-seconds. "
            "With auto for all methods together.",
            show_default=False,
        ),
    ] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Limit; default none.", show_default=False)] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the method; may be repeated.", show_default=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Give the contacts this law of friction: box, cone or convex.", show_default=False),
    ] = None,
    contact_compliance: ContactCompliance = None,
    compliance_units: ComplianceUnits = None,
    islands: Annotated[
        bool,
        typer.Option("--islands", help="Solve parts that have nothing to do with one another one by one."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print why these methods were asked, in which order, and how each ended."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write x, y and how it went to this .npz file.", show_default=False)
    ] = None,
) -> None:
    """Solve a problem from a file and print how it went, with every residual of the answer.

    Exit codes: 0 converged, 1 ended otherwise, 2 bad usage or a bad file, 130 interrupted.

    Ctrl-C stops the solve; the best point so far is printed, and saved if --out is given.
    """
    if explain and json:
        raise CommandError("--explain is for people; --json has the same under 'methods'")
    chosen = choose(method, split_assignments(option or []))
    compliance = read_compliance(contact_compliance, compliance_units)
    if out is not None:
        require_target(out)
    with refusing(ValueError):
        stop = stopping.Stopping().with_changes(tol=tol, max_iterations=max_iterations, max_seconds=max_seconds)
    with refusing(FileFormatError, InvalidProblem, MissingExtra, OSError, MemoryError):
        problem = files.load(file)
        known = files.load_solution(file)
        if model is not None:
            problem, known = change_law(problem, known, model)
    if compliance is not None:
        softened = with_compliance(problem, compliance)
        problem, known = softened, known if softened is problem else None
    try:
        with (
            refusing(MethodRefused, InvalidProblem, MissingAbility, MissingExtra, MemoryError),
            progress.watching(quiet=json) as callback,
        ):
            if explain:
                tell_choice(problem, chosen, stop.tol)
            run = island_solver.solve_islands if islands else api.solve
            result = run(problem, chosen, stop=stop, callback=callback)
    except loop.SolveInterrupted as interrupt:
        finish(file, interrupt.partial_result, known, json, out, explain=explain)
        raise typer.Exit(INTERRUPTED) from None
    finish(file, result, known, json, out, explain=explain)
    if not result.success:
        raise typer.Exit(NOT_CONVERGED)


def choose(name: str, words: dict[str, str]) -> Method | str:
    """The method with the options that the command line gives it."""
    if name == "auto":
        if words:
            raise CommandError(f"--option {next(iter(words))}: 'auto' chooses for itself; name a --method")
        return name
    with refusing(ValueError):
        found = roster.find_method(name, "auto")
    try:
        options = option_words.read_words(found, words)
    except ValueError as error:
        raise CommandError(f"--option {error}") from error
    with refusing(ValueError, TypeError):
        return roster.make_method(name, options)


def change_law(problem: Problem, known: Vector | None, model: str) -> tuple[Problem, Vector | None]:
    """The contacts under that law; a solution that was stored with them belongs to their own."""
    if model not in LAWS:
        raise CommandError(f"--model {model!r} is unknown{suggest(model, LAWS)}")
    contacts = problem.frictional
    if contacts is None:
        raise CommandError(f"--model {model}: the file holds no contacts, but a {problem.kind} problem")
    return (contacts, known) if contacts.model == model else (contacts.with_model(model), None)


def require_target(out: Path) -> None:
    """Find out before the work, not after it, that the answer has no place to go."""
    if out.suffix.lower() != ".npz":
        raise CommandError(f"--out {out}: answers are written as .npz")
    if out.is_dir() or not out.parent.is_dir():
        raise CommandError(f"--out {out}: there is no such folder, or it is not a place for a file")


def tell_choice(problem: Problem, chosen: Method | str, tol: float) -> None:
    """What "auto" sees and asks; a method that was named needs no reason."""
    reason = reasons.explain(problem, tol=tol) if isinstance(chosen, str) else f"{chosen.label} was asked for by name"
    typer.echo(f"{reason}\n")


def tell_attempts(result: Result) -> None:
    """One line a method or step: how it ended, residual, iterations, seconds, and why it was taken."""
    rows = [("step", "ended", "residual", "iterations", "seconds", "why")]
    for attempt in result.methods:
        ended = "-" if attempt.status is None else attempt.status.name
        residual = f"{attempt.residual:.1e}" if isfinite(attempt.residual) else "-"
        rows.append(
            (attempt.method, ended, residual, f"{attempt.iterations}", f"{attempt.seconds:.2g}", attempt.why or "-")
        )
    cards.show_lines(rows)
    typer.echo("")


def finish(
    file: Path, result: Result, known: Vector | None, as_json: bool, out: Path | None, *, explain: bool = False
) -> None:
    """Save first, then print: what was reached should survive a closed terminal."""
    if out is not None:
        with refusing(OSError):
            results.save_answer(result, out)
    apart = None if known is None else results.distance(result.x, known)
    if as_json:
        typer.echo(results.to_json(describe_result(file, result, apart, out)))
    else:
        if explain:
            tell_attempts(result)
        show_result(file, result, apart, out)


def describe_result(file: Path, result: Result, apart: float | None, out: Path | None) -> dict[str, Any]:
    return {
        "file": str(file),
        "kind": result.problem.kind,
        "n": result.problem.n,
        "method": result.method,
        "islands": describe_islands(result),
        "status": result.status.name,
        "success": result.success,
        "message": result.message,
        "residual": result.residual,
        "scaled_residual": result.scaled_residual,
        "iterations": result.iterations,
        "best_iteration": result.best_iteration,
        "seconds": result.seconds,
        "setup_seconds": result.setup_seconds,
        "distance_to_known_solution": apart,
        "residuals": asdict(result.verify()),
        "certificate": describe_certificate(result),
        "counters": last_counts(result),
        "methods": [
            {**asdict(attempt), "status": None if attempt.status is None else attempt.status.name}
            for attempt in result.methods
        ],
        "notes": result.notes,
        "out": None if out is None else str(out),
    }


def describe_islands(result: Result) -> dict[str, int] | None:
    """How many, with how many rows at most, and how many failed; None for a problem that was solved as a whole."""
    if not isinstance(result, island_results.IslandsResult):
        return None
    largest = max(island.rows.size for island in result.islands)
    failed = sum(not part.success for part in result.parts)
    return {"count": len(result.islands), "largest": largest, "failed": failed}


def describe_certificate(result: Result) -> dict[str, Any] | None:
    if result.certificate is None:
        return None
    proof = result.certificate
    return {
        "kind": proof.kind,
        "reason": proof.reason,
        "rows": list(proof.rows),
        "margin": proof.margin,
        "u": proof.u.tolist(),
    }


def last_counts(result: Result) -> dict[str, float]:
    """What the method had counted in the end: whole numbers as such, others with four digits."""
    ends = {name: float(column[-1]) for name, column in result.history.counters.items() if column.size}
    return {name: int(value) if value.is_integer() else float(f"{value:.4g}") for name, value in ends.items()}


def show_result(file: Path, result: Result, apart: float | None, out: Path | None) -> None:
    lines = {
        "problem": f"{file}: {repr(result.problem).strip('<>')}",
        "method": result.method,
        "status": f"{result.status.name}: {result.message}",
        "residual": f"{result.residual:.3e}, scaled {result.scaled_residual:.3e}",
        "iterations": f"{result.iterations}",
        "time": f"{result.seconds:.3g} s, and {result.setup_seconds:.3g} s of preparation",
    }
    counts = last_counts(result)
    if counts:
        lines["counted"] = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counts.items())
    if result.certificate is not None:
        proof = result.certificate
        lines["certificate"] = f"{proof.kind}: {proof.reason}; --json shows u, --out saves it"
    if apart is not None:
        lines["stored x"] = f"{apart:.3e} away, at most, from the x stored in the file"
    for number, note in enumerate(result.notes, start=1):
        lines[f"note {number}"] = note
    width = max(map(len, lines))
    for name, value in lines.items():
        typer.echo(f"{name:>{width}}  {value}")
    typer.echo(f"\nresiduals of x, recomputed from the problem:\n{result.verify()}")
    if out is not None:
        typer.echo(f"\nwrote x, y and how it went to {out}")
