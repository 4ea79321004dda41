"""Rows as JSON: results.json, which any program can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from perp.lab.runs.row import LabRow
from perp.problems.files.replacement import replacing
from perp.solvers.stopping import Stopping

COLUMNS = ("iteration", "seconds", "residual", "merit", "active")
"""Of a history; other series of a row are what its method counted."""
WHOLE = ("iteration", "active")

DIGITS = 7
"""Significant digits of the numbers in a written history."""


def write_results(path: Path, rows: Sequence[LabRow], stop: Stopping, machine: Mapping[str, str]) -> None:
    """Histories have some 400 checks at most. A number that is not finite is written as null."""
    document = {
        "machine": dict(machine),
        "stop": asdict(stop),
        "rows": [_row_to_json(row) for row in rows],
    }
    with replacing(path) as temporary:
        temporary.write_text(to_json(document) + "\n", encoding="utf-8")


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


def _row_to_json(row: LabRow) -> dict[str, Any]:
    columns = {name: _rounded(row.series.get(name, ()), name in WHOLE) for name in COLUMNS}
    counters = {name: _rounded(column) for name, column in row.series.items() if name not in COLUMNS}
    return {
        "problem": row.group,
        "method": row.name,
        "status": row.status,
        "message": row.found.message,
        "residual": row["residual"],
        "iterations": row.iterations,
        "seconds": row["seconds"],
        "setup_seconds": row["setup_seconds"],
        "history": columns | {"counters": counters},
    }


def _rounded(column: Iterable[float], whole: bool = False) -> list[float]:
    return [int(value) if whole else float(f"{value:.{DIGITS}g}") for value in column]
