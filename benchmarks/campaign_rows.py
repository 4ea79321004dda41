"""Rows of the campaign as a CSV file, read back so that a run which was broken off goes on where it stood."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One sample."""

    number: int
    structure: str
    kind: str
    n: int
    solvable: str
    """yes; no; gamble: a solution was planted, but no theory says how to find it; unknown: rounding leaves it open."""
    status: str
    """The name of the status; ERROR, HANG or CRASH where there is none."""
    success: int
    residual: float
    """Recomputed, as the next."""
    scaled: float
    seconds: float
    methods: str
    proved: int
    """Whether a certificate that holds shows that there is no solution."""
    flaws: str
    """What must not happen, in words, separated by semicolons; empty where nothing did."""
    why: str

    def cells(self) -> list[str]:
        return [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in asdict(self).values()]

    @property
    def is_certified(self) -> bool:
        return bool(self.success) and not self.flaws

    @property
    def is_missed(self) -> bool:
        return self.solvable == "yes" and not self.is_certified


HEADINGS = tuple(field.name for field in fields(Row))


def read_rows(path: Path) -> dict[int, Row]:
    """What the file holds, by number; a last line that was cut off is left out."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = [_read(cells) for cells in csv.DictReader(file)]
    return {row.number: row for row in rows if row is not None}


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADINGS)
        writer.writerows(row.cells() for row in sorted(rows, key=lambda row: row.number))


def add_row(path: Path, row: Row) -> None:
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow(row.cells())


def make_row(values: dict[str, Any]) -> Row:
    types = {"int": int, "float": float, "str": str}
    return Row(**{field.name: types[str(field.type)](values[field.name]) for field in fields(Row)})


def _read(cells: dict[str, Any]) -> Row | None:
    if any(cells.get(heading) is None for heading in HEADINGS):
        return None
    try:
        return make_row(cells)
    except ValueError:
        return None
