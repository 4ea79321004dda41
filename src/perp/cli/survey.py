"""`perp survey`: every applicable method on every problem file of a folder, and the table of it as text.

Problems go down, methods across; a cell is a word for a run, and the words are explained below.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perp.cli import progress
from perp.cli.errors import INTERRUPTED, NOT_CONVERGED, CommandError, refusing
from perp.cli.solve import LAWS
from perp.errors import FileFormatError, MissingExtra, suggest
from perp.extras import matplotlib
from perp.lab import results
from perp.lab import survey as surveys
from perp.lab.runs import row_file
from perp.solvers import method as method_base
from perp.solvers import roster, stopping
from perp.solvers import warm_up as kernel_warm_up

if TYPE_CHECKING:
    from perp.lab.survey import SurveyRow
    from perp.solvers.method import Method

WIDTH = 160
"""Columns of the table, where no terminal says how wide it is."""

WORDS = {
    "RELATIVE": ("slow", "the merit function hardly changes any more"),
    "ACTIVE_SET_UNCHANGED": ("same", "the active set stays the same"),
    "STAGNATED": ("still", "the iterate no longer changes"),
    "CYCLING": ("cycle", "it came back to an earlier iterate"),
    "LOCAL_MINIMUM": ("local", "a local minimum of the merit function"),
    "NON_DESCENT": ("flat", "no direction of descent"),
    "ITERATION_LIMIT": ("limit", "the limit of iterations"),
    "TIME_LIMIT": ("time", "the limit of time"),
    "REDUCED_ACCURACY": ("round", "done, and rounding keeps the residual above the tolerance"),
    "RAY": ("ray", "it ended on a ray"),
    "INFEASIBLE": ("none", "proved to have no solution"),
    "BREAKDOWN": ("broke", "it broke down"),
    "NON_FINITE": ("inf", "the slack at the start is not finite"),
    "FAILED": ("FAIL", "it raised an error"),
}
"""What a run that did not converge shows in place of the exponent of its residual."""

NOT_APPLICABLE = "."

CELL = 6
"""Columns of a cell, with the blank before it."""


def survey(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with problem files, at any depth.", show_default=False)
    ],
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Only these methods; default all that fit. FILE.py:NAME: a method of your own; auto: perp.solve.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="The time limit of each run.")] = 10.0,
    tol: Annotated[
        float, typer.Option(help="Residual at which a run has converged, times the size of the problem (at most 1).")
    ] = 1e-8,
    model: Annotated[
        str | None,
        typer.Option(
            help="Give contacts this law of friction: box, cone or convex (fixed discs keep theirs).",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the rows as machine-readable JSON.")] = False,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rows to this CSV file as well.", show_default=False)
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the performance profiles of the methods (Dolan and Moré 2002) as .svg, .png or .pdf.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the rows that --csv FILE has already.")] = False,
) -> None:
    """Run every applicable method on every problem file of a folder and print the table of methods and problems.

    Files are .npz, .mtx, .hdf5 and Siconos' .dat; others are listed with the reason why they are not read.

    `tol` is absolute in x. So that no problem counts as solved just because all its numbers are tiny, it is multiplied
    by the size of the problem: what the first point misses, in slack or in impulse, if that is less than 1.

    Exit codes: 0 every problem was solved (or proved to have no solution) by some method, 1 some were not, 2 bad usage
    or no problem at all, 130 interrupted. Ctrl-C ends the survey; what is finished is printed and written.
    """
    names = chosen_methods(methods)
    if model is not None and model not in LAWS:
        raise CommandError(f"--model {model!r} is unknown{suggest(model, LAWS)}")
    with refusing(ValueError):
        stopping.Stopping(tol=tol, max_seconds=seconds)
    if not folder.is_dir():
        raise CommandError(f"{folder}: there is no such folder")
    require_target(csv, resume)
    if profile is not None:
        require_picture(profile)
    former: list[SurveyRow] = []
    if resume and csv is not None and csv.exists():
        with refusing(FileFormatError, OSError):
            former = row_file.read_rows(csv, surveys.SurveyRow)
    plan = surveys.Survey(tol, seconds, names, model)
    candidates = surveys.find_candidates(folder)
    finished = {row.key: row for row in former}
    rows: list[SurveyRow] = []
    was_interrupted = False
    try:
        with progress.following_problems() as reporter:
            reporter.planned(len(candidates), 0)
            if any(candidate.has_known_suffix for candidate in candidates):
                kernel_warm_up.warm_up()
            for candidate in candidates:
                for row in plan.run(candidate, finished, reporter):
                    rows.append(row)
                if csv is not None:
                    with refusing(OSError):
                        row_file.write_rows(csv, surveys.SurveyRow, rows)
                reporter.passed(candidate.name)
    except KeyboardInterrupt:
        was_interrupted = True
        if csv is not None:
            with refusing(OSError):
                row_file.write_rows(csv, surveys.SurveyRow, rows)
    show_rows(rows, json)
    if profile is not None and any(row.status not in (surveys.NOT_READ, surveys.NO_METHOD) for row in rows):
        with refusing(OSError):
            surveys.write_profile(profile, rows)
    if was_interrupted:
        raise typer.Exit(INTERRUPTED)
    if all(row.status in (surveys.NOT_READ, surveys.NO_METHOD) for row in rows):
        raise CommandError(f"{folder}: no file of this folder holds a problem that one of the methods fits")
    if surveys.undecided(rows):
        raise typer.Exit(NOT_CONVERGED)


def chosen_methods(text: str | None) -> tuple[str | Method, ...] | None:
    """`pgs,auto,mine.py:BB` as names, each of which must be known, and methods that are loaded from files."""
    if text is None:
        return None
    words = [word for word in (word.strip() for word in text.split(",")) if word]
    for word in words:
        if ":" not in word and word not in (surveys.AUTO, *roster.BY_NAME):
            raise CommandError(f"--methods: method {word!r} is unknown{suggest(word, [surveys.AUTO, *roster.BY_NAME])}")
    if not words:
        raise CommandError("--methods: no method is named")
    return tuple(load_method(word) if ":" in word else word for word in words)


def load_method(word: str) -> method_base.Method:
    """`FILE.py:NAME`: a subclass of `Method` that needs no options, or an instance of one."""
    place, _, name = word.rpartition(":")
    own_name = f"perp_survey_{Path(place).stem}"  # which hides no other module
    spec = spec_from_file_location(own_name, place) if Path(place).is_file() else None
    if spec is None or spec.loader is None:
        raise CommandError(f"--methods {word}: there is no Python file {place}")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    try:
        spec.loader.exec_module(module)
        found = getattr(module, name, None)
        method = found() if isinstance(found, type) else found
    except Exception as trouble:
        raise CommandError(f"--methods {word}: {type(trouble).__name__}: {trouble}") from trouble
    if not isinstance(method, method_base.Method):
        known = [key for key, value in vars(module).items() if _is_method(value, module.__name__)]
        raise CommandError(f"--methods {word}: {name} is no method there{suggest(name, known)}")
    return method


def _is_method(value: object, module: str) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return issubclass(kind, method_base.Method) and kind.__module__ == module


def require_target(csv: Path | None, resume: bool) -> None:
    """Find out before the work, not after it, that the table has no place to go."""
    if csv is None:
        if resume:
            raise CommandError("--resume keeps the rows of a file: name it with --csv FILE")
        return
    require_place("--csv", csv)


def require_picture(profile: Path) -> None:
    if profile.suffix.lower() not in surveys.PICTURES:
        raise CommandError(f"--profile {profile}: the name must end in {', '.join(surveys.PICTURES)}")
    require_place("--profile", profile)
    with refusing(MissingExtra):
        matplotlib.require()


def require_place(option: str, path: Path) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{option} {path}: there is no such folder, or it is not a place for a file")


def show_rows(rows: list[SurveyRow], as_json: bool) -> None:
    if as_json:
        typer.echo(results.to_json([asdict(row) for row in rows]))
        return

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    typer.echo(show_table(rows, list(roster.BY_NAME), width))


def show_table(rows: Sequence[SurveyRow], order: Sequence[str], width: int) -> str:
    """One table, or several below one another where the methods do not fit the width; then the words."""
    runs = [row for row in rows if row.status not in (surveys.NOT_READ, surveys.NO_METHOD)]
    lines: list[str] = []
    if runs:
        methods = sorted({row.method for row in runs}, key=lambda name: (_place(name, order), name))
        lines += _tables(runs, methods, width)
        lines += ["", *_legend(runs, methods, width)]
    for status, title in (
        (surveys.NO_METHOD, "problems found no method"),
        (surveys.NOT_READ, "files hold no problem"),
    ):
        others = [row for row in rows if row.status == status]
        if others:
            lines += ["", f"{len(others)} {title}:", *(f"  {row.problem}: {row.message}" for row in others)]
    return "\n".join(lines)


def cell(row: SurveyRow | None) -> str:
    """The decimal exponent of the residual of a run that converged, or a word."""
    if row is None:
        return NOT_APPLICABLE
    if row.status == "CONVERGED":
        return "exact" if row.residual == 0.0 else f"{floor(log10(row.residual))}"
    return WORDS[row.status][0] if row.status in WORDS else row.status[: CELL - 1].lower()


def _place(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)


def _tables(runs: Sequence[SurveyRow], methods: Sequence[str], width: int) -> list[str]:
    by_place = {(row.problem, row.method): row for row in runs}
    problems = {row.problem: row.n for row in runs}
    name_width = max(map(len, problems))
    head = name_width + 8
    across = max(1, (width - head) // CELL)
    lines: list[str] = []
    for first in range(0, len(methods), across):
        part = methods[first : first + across]
        numbers = "".join(f"{first + k + 1:>{CELL}}" for k in range(len(part)))
        lines += [""] * bool(lines) + [f"{'problem':<{name_width}} {'n':>7}{numbers}"]
        for problem, n in problems.items():
            cells = "".join(f"{cell(by_place.get((problem, method))):>{CELL}}" for method in part)
            lines.append(f"{problem:<{name_width}} {n:>7}{cells}")
    return lines


def _legend(runs: Sequence[SurveyRow], methods: Sequence[str], width: int) -> list[str]:
    solved = {method: sum(row.method == method and row.is_decided for row in runs) for method in methods}
    tried = {method: sum(row.method == method for row in runs) for method in methods}
    entries = [f"{k} {method} ({solved[method]} of {tried[method]})" for k, method in enumerate(methods, start=1)]
    lines = _wrapped("methods, and how many problems each has solved: ", entries, width)
    statuses = {row.status for row in runs}
    words = ["a number: converged, the decimal exponent of the residual", "exact: a residual of zero"]
    words += [f"{word}: {meaning}" for status, (word, meaning) in WORDS.items() if status in statuses]
    words += [f"{NOT_APPLICABLE}: does not apply"]
    return lines + _wrapped("", words, width)


def _wrapped(start: str, entries: Sequence[str], width: int) -> list[str]:
    """Entries with semicolons between them, none of them broken."""
    lines, line = [], start
    for k, entry in enumerate(entries):
        piece = entry + ("; " if k + 1 < len(entries) else "")
        if line.strip() and len(line) + len(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = "  "
        line += piece
    return [*lines, line.rstrip()]
