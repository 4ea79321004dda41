"""Rows as a CSV file, which is read back so that nothing is measured twice: surveys, and the long benchmarks."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import fields
from math import isnan, nan
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from perp.errors import FileFormatError
from perp.lab.runs.runner import Executor, Reporter, Runner
from perp.lab.runs.task import Task
from perp.problems.files.guard import replacing


class Record:
    """What a dataclass of words and numbers needs to be a row."""

    WHAT: ClassVar[str] = "these rows"
    """The file, in words."""
    DIGITS: ClassVar[int | None] = None
    """Of a number in the file; None: all of them, and an empty cell for a number that does not exist."""

    @property
    def key(self) -> Hashable:
        """Of rows with the same key a file keeps the last one."""
        raise NotImplementedError

    @classmethod
    def headings(cls) -> tuple[str, ...]:
        columns: Any = cls
        return tuple(field.name for field in fields(columns))

    @classmethod
    def make(cls, values: dict[str, Any]) -> Self:
        """From words or numbers by name."""
        columns: Any = cls
        types: dict[str, Callable[[Any], Any]]
        types = {"int": int, "float": float if cls.DIGITS else lambda word: float(word or nan), "str": str}
        return cls(**{field.name: types[str(field.type)](values[field.name]) for field in fields(columns)})

    def cells(self) -> Iterator[str]:
        for name in self.headings():
            cell = getattr(self, name)
            if not isinstance(cell, float):
                yield str(cell)
            elif self.DIGITS is None:
                yield "" if isnan(cell) else repr(cell)
            else:
                yield f"{cell:.{self.DIGITS}g}"


Row = TypeVar("Row", bound=Record)


def write_rows(path: Path, kind: type[Row], rows: Iterable[Row]) -> None:
    """The file appears whole or not at all."""
    with replacing(path) as temporary, temporary.open("x", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(kind.headings())
        writer.writerows(row.cells() for row in rows)


def read_rows(path: Path, kind: type[Row], *, grows: bool = False) -> list[Row]:
    """What the file holds; FileFormatError with the line where it is none.

    A file that `grows` by a line a row may not be there yet, and may end in a line that was cut off.
    """
    if grows and not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        try:
            if tuple(next(reader, ())) != kind.headings():
                raise FileFormatError(f"{path}: line 1: the columns of {kind.WHAT} are {', '.join(kind.headings())}")
            found = (_read(cells, kind, f"{path}: line {reader.line_num}", grows) for cells in reader)
            return [row for row in found if row is not None]
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path}: the file is no text in UTF-8 ({error.reason})") from error
        except csv.Error as error:
            raise FileFormatError(f"{path}: line {reader.line_num}: {error}") from error


class RowFile(Generic[Row]):
    """A file that grows by a line a row, and which rows are there."""

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self.path, self.kind = path, kind
        self.rows: dict[Any, Row] = {row.key: row for row in read_rows(path, kind, grows=True)}
        self.write(self.rows.values())  # without a torn last line

    def add(self, row: Row) -> None:
        self.rows[row.key] = row
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(row.cells())

    def write(self, rows: Iterable[Row]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(self.path, self.kind, rows)


class FileRunner(Runner[Row]):
    """Runs tasks and adds their rows to a file."""

    def __init__(
        self, open_executor: Callable[[], Executor[Row]], file: RowFile[Row], reporter: Reporter[Row] | None = None
    ) -> None:
        super().__init__(open_executor, reporter)
        self.file = file

    def keep(self, task: Task, row: Row) -> None:
        self.file.add(row)


def _read(cells: list[str], kind: type[Row], where: str, grows: bool) -> Row | None:
    headings = kind.headings()
    try:
        if len(cells) != len(headings):
            raise ValueError(f"{len(headings)} cells must stand here, found {len(cells)}")
        return kind.make(dict(zip(headings, cells, strict=True)))
    except ValueError as error:
        if grows:
            return None
        raise FileFormatError(f"{where}: {error}") from error
