"""The rows of a survey as files: a CSV, which `read_survey` turns back into rows, and a picture of profiles."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import fields
from math import inf, isnan, nan
from pathlib import Path

from perp.errors import FileFormatError
from perp.lab.analysis.profiles import draw_profile, find_profile
from perp.lab.plots import new_figure
from perp.lab.survey import NO_METHOD, NOT_READ, SurveyRow
from perp.problems.files.guard import replacing

COLUMNS = tuple(field.name for field in fields(SurveyRow))
COUNTS = ("n", "iterations")
PICTURES = (".svg", ".png", ".pdf")
PROFILE_PANEL = (7.5, 4.2)
NUMBERS = ("residual", "relative", "seconds", "setup_seconds", "tol")


def write_survey(path: Path, rows: Iterable[SurveyRow]) -> None:
    """The file appears whole or not at all; a number that does not exist is an empty cell."""
    with replacing(path) as temporary, temporary.open("x", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_cell(getattr(row, name)) for name in COLUMNS] for row in rows)


def read_survey(path: Path) -> list[SurveyRow]:
    """The rows of such a file; raises FileFormatError with the line where it is none."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        try:
            if tuple(next(reader, ())) != COLUMNS:
                raise FileFormatError(f"{path}: line 1: the columns of a survey are {', '.join(COLUMNS)}")
            return [_row(cells, f"{path}: line {reader.line_num}") for cells in reader]
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path}: the file is no text in UTF-8 ({error.reason})") from error
        except csv.Error as error:
            raise FileFormatError(f"{path}: line {reader.line_num}: {error}") from error


def write_profile(path: Path, rows: Iterable[SurveyRow]) -> None:
    """Draw the performance profiles (Dolan & Moré 2002) of the methods of a survey, fastest at the left.

    A method has not solved the problems that it does not accept. Files without a problem are left out.
    """
    runs = [row for row in rows if row.status not in (NOT_READ, NO_METHOD)]
    profile = find_profile(
        runs, method=lambda row: str(row.method), problem=lambda row: str(row.problem), needs_all=False
    )
    figure, (axes,) = new_figure(panel=PROFILE_PANEL)
    figure.set_facecolor("white")
    lines = draw_profile(axes, profile)
    order = sorted(range(len(lines)), key=lambda k: -profile.share(str(lines[k].get_label()), inf))
    axes.legend(handles=[lines[k] for k in order], loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower())


def _cell(value: str | float) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else repr(value)
    return str(value)


def _row(cells: list[str], where: str) -> SurveyRow:
    if len(cells) != len(COLUMNS):
        raise FileFormatError(f"{where}: {len(COLUMNS)} cells must stand here, found {len(cells)}")
    row: dict[str, str] = dict(zip(COLUMNS, cells, strict=True))
    try:
        counts = {name: int(row.pop(name)) for name in COUNTS}
        numbers = {name: float(row.pop(name) or nan) for name in NUMBERS}
    except ValueError as error:
        raise FileFormatError(f"{where}: {error}") from error
    return SurveyRow(**row, **counts, **numbers)  # type: ignore[arg-type]
