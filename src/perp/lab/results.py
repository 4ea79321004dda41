"""Rows on disk: results.json, which any program can read and `read_rows` turns back into rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.rows import Row, thinned
from perp.problems.files.guard import replacing
from perp.solvers.results import History
from perp.solvers.stopping import Stopping

DIGITS = 7
"""Significant digits of the numbers in a written history."""


def write_results(path: Path, rows: Sequence[Row], stop: Stopping, machine: Mapping[str, str]) -> None:
    """Histories are thinned to some 400 checks. A number that is not finite is written as null."""
    document = {
        "machine": dict(machine),
        "stop": asdict(stop),
        "rows": [_row_to_json(row) for row in rows],
    }
    with replacing(path) as temporary:
        temporary.write_text(to_json(document) + "\n", encoding="utf-8")


def read_rows(path: Path) -> list[Row]:
    """The rows of a results.json."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [_row_from_json(entry) for entry in document["rows"]]


def to_json(value: object) -> str:
    """Valid JSON of plain data: a number that is not finite, for which JSON has no word, becomes null."""
    return json.dumps(_plain(value), indent=1, allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def _row_to_json(row: Row) -> dict[str, Any]:
    scalars = {f.name: getattr(row, f.name) for f in fields(Row) if f.name != "history"}
    history = thinned(row.history)
    columns = {f.name: _rounded(getattr(history, f.name)) for f in fields(History) if f.name != "counters"}
    counters = {name: _rounded(column) for name, column in history.counters.items()}
    return scalars | {"history": columns | {"counters": counters}}


def _rounded(column: np.ndarray[Any, Any]) -> list[Any]:
    return [float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for value in column.tolist()]


def _row_from_json(entry: Mapping[str, Any]) -> Row:
    def number(value: float | None) -> float:
        return nan if value is None else float(value)

    columns = entry["history"]
    return Row(
        problem=entry["problem"],
        method=entry["method"],
        status=entry["status"],
        message=entry["message"],
        residual=number(entry["residual"]),
        iterations=entry["iterations"],
        seconds=number(entry["seconds"]),
        setup_seconds=number(entry["setup_seconds"]),
        history=History(
            np.array(columns["iteration"], dtype=np.int64),
            np.array([number(value) for value in columns["seconds"]]),
            np.array([number(value) for value in columns["residual"]]),
            np.array([number(value) for value in columns["merit"]]),
            np.array(columns["active"], dtype=np.int64),
            {name: np.array([number(v) for v in column]) for name, column in columns.get("counters", {}).items()},
        ),
    )
