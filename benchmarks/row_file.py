"""Rows of a measurement as a CSV file that grows by a line a row; what is read back is not measured again."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from perp.lab.runs.runner import Executor, Reporter, Runner
from perp.lab.runs.task import Task


class Record:
    """What a dataclass of words and numbers needs to be a row."""

    DIGITS: ClassVar[int] = 3
    """Of a number in the file."""

    @property
    def key(self) -> Hashable:
        """Of rows with the same key the file keeps the last one."""
        raise NotImplementedError

    @classmethod
    def headings(cls) -> tuple[str, ...]:
        return tuple(field.name for field in _fields(cls))

    @classmethod
    def make(cls, values: dict[str, Any]) -> Self:
        """From words or numbers by name."""
        types = {"int": int, "float": float, "str": str}
        return cls(**{field.name: types[str(field.type)](values[field.name]) for field in _fields(cls)})

    def cells(self) -> Iterator[str]:
        for name in self.headings():
            cell = getattr(self, name)
            yield f"{cell:.{self.DIGITS}g}" if isinstance(cell, float) else str(cell)


Row = TypeVar("Row", bound=Record)


class RowFile(Generic[Row]):
    """A file of rows, and which are there."""

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self.path, self.kind = path, kind
        self.rows: dict[Any, Row] = {row.key: row for row in read_rows(path, kind)}
        self.write(self.rows.values())  # without a torn last line

    def add(self, row: Row) -> None:
        self.rows[row.key] = row
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(row.cells())

    def write(self, rows: Iterable[Row]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.kind.headings())
            writer.writerows(row.cells() for row in rows)


def read_rows(path: Path, kind: type[Row]) -> list[Row]:
    """What the file holds; a last line that was cut off is left out."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [row for cells in csv.DictReader(file) if (row := _read(cells, kind)) is not None]


class FileRunner(Runner[Row]):
    """Runs tasks and adds their rows to a file."""

    def __init__(
        self, open_executor: Callable[[], Executor[Row]], file: RowFile[Row], reporter: Reporter[Row] | None = None
    ) -> None:
        super().__init__(open_executor, reporter)
        self.file = file

    def keep(self, task: Task, row: Row) -> None:
        self.file.add(row)


def _read(cells: dict[str, Any], kind: type[Row]) -> Row | None:
    if any(cells.get(heading) is None for heading in kind.headings()):
        return None
    try:
        return kind.make(cells)
    except ValueError:
        return None


def _fields(kind: Any) -> tuple[Any, ...]:
    return fields(kind)
