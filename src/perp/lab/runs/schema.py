"""The columns of a row in Parquet, and rows to and from them.

Every shard has exactly these columns in this order. `instance`, `options`, `stop` and `arguments` are JSON with sorted
keys; `residual`, `iterations`, `seconds`, `setup_seconds` and `active` are those of `numbers`, as columns of their own
because most questions ask for them (NULL where the work measured none). NaN and infinities are kept as such.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.measurement import Column, Measurement
from perp.lab.runs.row import LabRow
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
