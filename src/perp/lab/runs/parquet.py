"""Rows as Parquet files, through DuckDB, which writes and reads them without a second library.

Every shard has exactly the columns below in this order. `instance`, `options`, `stop` and `arguments` are JSON with
sorted keys; `residual`, `iterations`, `seconds`, `setup_seconds` and `active` are those of `numbers`, as columns of
their own because most questions ask for them (NULL where the work measured none). NaN and infinities are kept as such.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from perp.extras import duckdb
from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.row import Column, LabRow, Measurement
from perp.lab.runs.task import Task, canonical

COLUMNS = {
    "key": "VARCHAR",
    "work": "VARCHAR",
    "instance": "VARCHAR",
    "method": "VARCHAR",
    "options": "VARCHAR",
    "stop": "VARCHAR",
    "arguments": "VARCHAR",
    "label": "VARCHAR",
    "group": "VARCHAR",
    "seed": "BIGINT",
    "status": "VARCHAR",
    "message": "VARCHAR",
    "n": "BIGINT",
    "problem": "VARCHAR",
    "residual": "DOUBLE",
    "iterations": "DOUBLE",
    "seconds": "DOUBLE",
    "setup_seconds": "DOUBLE",
    "active": "DOUBLE",
    "numbers": "MAP(VARCHAR, DOUBLE)",
    "series": "MAP(VARCHAR, DOUBLE[])",
    "version": "VARCHAR",
    "revision": "VARCHAR",
    "code": "VARCHAR",
    "python": "VARCHAR",
    "numpy": "VARCHAR",
    "scipy": "VARCHAR",
    "numba": "VARCHAR",
    "machine": "VARCHAR",
    "processors": "BIGINT",
    "threads": "BIGINT",
    "load": "DOUBLE",
    "started": "DOUBLE",
    "wall_seconds": "DOUBLE",
    "peak_megabytes": "DOUBLE",
    "limit_seconds": "DOUBLE",
    "limit_megabytes": "DOUBLE",
    "alone": "BOOLEAN",
}
"""Name and type in DuckDB's words; the last ones are the fields of `Circumstances`."""

PLAIN = tuple(name for name in COLUMNS if name not in ("numbers", "series"))
"""Columns of single values."""

JSON_FIELDS = ("instance", "options", "stop", "arguments")
WORD_FIELDS = ("work", "method", "label", "group")
MEASURED = ("residual", "iterations", "seconds", "setup_seconds", "active")
CIRCUMSTANCES = tuple(field.name for field in fields(Circumstances))

MAGIC = b"PAR1"
"""The first and the last four bytes of a Parquet file."""

SETTINGS = {"threads": "1", "autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""One thread: what measures beside it is not to be disturbed. Parquet is part of DuckDB; nothing is fetched."""


def quoted(name: str) -> str:
    """A column's name in SQL, of which `group` is a word."""
    return f'"{name}"'


def plain_values(row: LabRow) -> list[Any]:
    """What stands in the `PLAIN` columns."""
    task, found = row.task, row.found
    values: dict[str, Any] = {name: getattr(task, name) for name in ("key", *WORD_FIELDS, "seed")}
    values |= {name: canonical(getattr(task, name)) for name in JSON_FIELDS}
    values |= {"status": found.status, "message": writable(found.message), "n": int(found.n), "problem": found.problem}
    values |= {name: float(found.numbers[name]) if name in found.numbers else None for name in MEASURED}
    values |= {name: getattr(row.circumstances, name) for name in CIRCUMSTANCES}
    return [values[name] for name in PLAIN]


def row_from(
    plain: Mapping[str, Any], numbers: Mapping[str, float], series: Mapping[str, Column], task: Task | None = None
) -> LabRow:
    """A row again; `task`, where it is given, has the label and the group that are asked for now."""
    found = Measurement(plain["status"], plain["message"], plain["n"], plain["problem"], dict(numbers), dict(series))
    known = {name: plain[name] for name in CIRCUMSTANCES if plain[name] is not None}
    return LabRow(task or _task_from(plain), found, Circumstances(**known))


def _task_from(plain: Mapping[str, Any]) -> Task:
    return Task(
        **{name: plain[name] for name in WORD_FIELDS},
        **{name: json.loads(plain[name]) for name in JSON_FIELDS},
        timed=plain["alone"],
    )


def writable(text: str) -> str:
    """With a question mark for what UTF-8 has no bytes for, as a lone half of a pair in the name of a file."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def connection() -> Iterator[Any]:
    with duckdb.connect(config=SETTINGS) as duck:
        yield duck


def declarations() -> str:
    """The columns of a table of rows."""
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in COLUMNS.items())


def literal(path: Path) -> str:
    """A path as a string of SQL."""
    doubled = str(path).replace("'", "''")
    return f"'{doubled}'"


def scan(files: Sequence[Path]) -> str:
    """All rows of these files, whatever the order of their columns."""
    return f"read_parquet([{', '.join(map(literal, files))}], union_by_name = true)"


def newest_rows(files: Sequence[Path], condition: str = "true") -> str:
    """A SELECT of the rows of these files, the one of each key that was started last.

    It has all columns, also where there are no files, or where files of a former version lack some.
    """
    if not files:
        return (
            "SELECT " + ", ".join(f"NULL::{kind} AS {quoted(name)}" for name, kind in COLUMNS.items()) + " WHERE false"
        )
    newest = "QUALIFY row_number() OVER (PARTITION BY key ORDER BY started DESC) = 1"
    return f"SELECT {_typed_columns()} FROM {scan(files)} WHERE key IS NOT NULL AND {condition} {newest}"


def ends_are_whole(path: Path) -> bool:
    """Whether a file begins and ends as Parquet does: one that was cut off does not."""
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            file.seek(-len(MAGIC), os.SEEK_END)
            return start == MAGIC == file.read(len(MAGIC))
    except OSError:
        return False


def sound_files(duck: Any, files: Sequence[Path]) -> list[Path]:
    """Those whose every value can be read as that of a row: all are tried at once, where that fails each half."""
    if not files:
        return []
    try:
        duck.execute(f"CREATE OR REPLACE TEMP TABLE probe AS SELECT {_typed_columns()} FROM {scan(files)}")
        duck.execute("DROP TABLE probe")
        return list(files)
    except duckdb.Error:
        if len(files) == 1:
            return []
        middle = len(files) // 2
        return sound_files(duck, files[:middle]) + sound_files(duck, files[middle:])


def fetch_numbers(duck: Any, table: str) -> list[dict[str, float]]:
    """The column `numbers` of a table."""
    found = duck.execute(f"SELECT map_keys(numbers), map_values(numbers) FROM {table} ORDER BY rowid").fetchall()
    return [dict(zip(names, values, strict=True)) for names, values in found]


def fetch_series(duck: Any, table: str, rows: int) -> list[dict[str, Column]]:
    """The column `series` of a table; all values come as one array, which is ten times as quick as lists of lists."""
    parts = "SELECT rowid AS place, unnest(map_keys(series)) AS name, unnest(map_values(series)) AS part"
    duck.execute(f"CREATE TEMP TABLE parts AS {parts} FROM {table} ORDER BY rowid")
    lengths = duck.execute("SELECT place, name, len(part) FROM parts ORDER BY rowid").fetchall()
    fetched = duck.execute("SELECT unnest(part) AS value FROM parts").fetchnumpy()["value"]
    values = np.asarray(fetched, dtype=np.float64)
    series: list[dict[str, Column]] = [{} for _ in range(rows)]
    start = 0
    for place, name, length in lengths:
        series[place][name] = values[start : start + length].copy()
        start += length
    return series


def _typed_columns() -> str:
    return ", ".join(f"{quoted(name)}::{kind} AS {quoted(name)}" for name, kind in COLUMNS.items())
