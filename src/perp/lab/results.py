"""Results on disk: a solver's answer as an .npz archive, and rows as JSON, which any program can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import LabRow
from perp.problems.files import DEFAULT_MAX_BYTES
from perp.problems.files.archive import open_archive, write_archive
from perp.problems.files.guard import Budget, FileGuard, replacing
from perp.problems.inputs import Vector
from perp.solvers.results import Result
from perp.solvers.stopping import Stopping
from perp.version import __version__

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


def save_answer(result: Result, path: Path) -> None:
    """Write x, y, the scalars of a result and, if there is one, the u of its certificate; nothing is pickled."""
    arrays = {
        "x": result.x,
        "y": result.y,
        "status": np.array(result.status.name),
        "method": np.array(result.method),
        "residual": np.array(result.residual),
        "iterations": np.array(result.iterations, dtype=np.int64),
        "seconds": np.array(result.seconds),
        "setup_seconds": np.array(result.setup_seconds),
        "perp_version": np.array(__version__),
    }
    if result.certificate is not None:
        arrays["u"] = result.certificate.u
    with replacing(path) as temporary:
        write_archive(temporary, arrays)


def load_answer(path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Vector:
    """The x of such a file, or of any .npz archive that has one; raises FileFormatError if it does not."""
    guard = FileGuard(path, Budget(max_bytes))
    with open_archive(guard) as archive:
        if "x" not in archive:
            raise guard.fault("x.npy", "the archive holds no x")
        return archive.numbers("x")


def distance(x: Vector, known: Vector) -> float:
    """The largest difference of two entries."""
    return float(np.abs(x - known).max(initial=0.0))
