"""Measurements as rows of a CSV file, read back so that what is finished is not measured again."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from math import isfinite
from pathlib import Path

Key = tuple[str, int, int, str]

SOLVED = "CONVERGED"
NOT_RUN = "NOT_RUN"
"""Of a method that was too slow at the size before, or not among the few that are asked on large problems."""
FALSE = "FALSE"
"""Of an answer that claims success and has, computed anew, a residual beyond the tolerance."""


@dataclass(frozen=True)
class Row:
    """One method on one problem. `n` is the size asked for, `rows` what the family made of it."""

    family: str
    n: int
    rows: int
    seed: int
    method: str
    status: str
    residual: float
    seconds: float
    """Processor time of the whole call on a problem never seen before; the median of several where it is short."""

    @property
    def key(self) -> Key:
        return self.family, self.n, self.seed, self.method

    @property
    def solved(self) -> bool:
        return self.status == SOLVED

    def cells(self) -> Iterator[str]:
        for cell in astuple(self):
            yield f"{cell:.3g}" if isinstance(cell, float) else str(cell)


HEADINGS = tuple(field.name for field in fields(Row))


def read_rows(path: Path) -> list[Row]:
    """What the file holds; a last line that was cut off is left out."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [row for cells in csv.DictReader(file) if (row := _read(cells)) is not None]


def _read(cells: dict[str, str | None]) -> Row | None:
    words = [cells.get(heading) for heading in HEADINGS]
    if any(word is None for word in words):
        return None
    family, n, rows, seed, method, status, residual, seconds = (str(word) for word in words)
    try:
        row = Row(family, int(n), int(rows), int(seed), method, status, float(residual), float(seconds))
    except ValueError:
        return None
    return row if isfinite(row.seconds) else None


class RowFile:
    """A file of rows that grows by a line a measurement, and knows which are there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Key, Row] = {row.key: row for row in read_rows(path)}
        write_rows(path, self.rows.values())  # without a torn last line

    def add(self, row: Row) -> None:
        self.rows[row.key] = row
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(row.cells())


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADINGS)
        writer.writerows(list(row.cells()) for row in rows)
