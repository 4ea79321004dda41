"""CSV files: rows and verdicts, small enough to be kept with the sources.

What many rows have in common stands once, in a file of its own, and rows have its number: `settings.csv` has versions
and machines, `presets.csv` the options, stop presets and arguments of tasks, `instances.csv` the recipes of what they
were carried out on. What few readers ask for stands apart, by the key of the row: `details.csv` has all other numbers,
messages and circumstances.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

from perp.lab.claims import Limits
from perp.lab.publication.evidence import Evidence
from perp.lab.publication.sections import Setting, count_settings, setting_of
from perp.lab.runs.row import LabRow
from perp.lab.runs.task import Task, canonical
from perp.problems.files.guard import replacing
from perp.solvers.results import Status

USUAL = ("residual", "iterations", "seconds", "setup_seconds", "active")
"""Numbers that have columns in rows.csv; the others stand together in one of details.csv, as JSON."""

DIGITS = 5

SENTENCES = {status.name: status.value for status in Status}
"""What every row of a status says: left out."""

Thing = TypeVar("Thing")


def write_spreadsheets(folder: Path, evidence: Sequence[Evidence]) -> None:
    """rows.csv, details.csv, instances.csv, presets.csv, settings.csv and verdicts.csv."""
    rows = [row for each in evidence for row in each.rows]
    settings = _numbered(sorted(count_settings(rows)))
    presets = _numbered(dict.fromkeys(_preset(row.task) for row in rows))
    instances = _numbered(dict.fromkeys(_plain(row.task.instance) for row in rows))
    _write(folder / "rows.csv", _row_lines(evidence, settings, presets, instances))
    _write(folder / "instances.csv", [{"instance": place, "recipe": recipe} for recipe, place in instances.items()])
    _write(folder / "details.csv", [_detail_cells(row) for row in {row.key: row for row in rows}.values()])
    _write(folder / "presets.csv", [{"preset": place, **vars(preset)} for preset, place in presets.items()])
    _write(folder / "settings.csv", [{"setting": place, **vars(setting)} for setting, place in settings.items()])
    _write(folder / "verdicts.csv", list(_verdict_lines(evidence)))


@dataclass(frozen=True)
class Preset:
    """How a task is carried out, whatever it is carried out on; mappings as JSON."""

    work: str
    method: str
    options: str
    stop: str
    arguments: str


def _preset(task: Task) -> Preset:
    return Preset(task.work, task.method, _plain(task.options), _plain(task.stop), _plain(task.arguments))


def _numbered(things: Iterable[Thing]) -> dict[Thing, int]:
    return {thing: place for place, thing in enumerate(things, start=1)}


def _row_lines(
    evidence: Sequence[Evidence],
    settings: Mapping[Setting, int],
    presets: Mapping[Preset, int],
    instances: Mapping[str, int],
) -> list[dict[str, Any]]:
    """A line for each row, however many experiments share it; label and group are those of the first."""
    owners: dict[str, list[str]] = {}
    distinct: dict[str, tuple[LabRow, str]] = {}
    for each in evidence:
        for row in each.rows:
            owners.setdefault(row.key, []).append(each.id)
            distinct.setdefault(row.key, (row, each.size))
    return [
        {
            "experiments": " ".join(owners[key]),
            "size": size,
            **_row_cells(row),
            "instance": instances[_plain(row.task.instance)],
            "preset": presets[_preset(row.task)],
            "setting": settings[setting_of(row.circumstances)],
            "key": key,
        }
        for key, (row, size) in distinct.items()
    ]


def _row_cells(row: LabRow) -> dict[str, Any]:
    task, found, around = row.task, row.found, row.circumstances
    return {
        "group": task.group,
        "label": task.name,
        "method": task.method,
        "seed": task.seed,
        "status": found.status,
        "n": found.n,
        **{name: _short(row[name]) for name in USUAL},
        "alone": "yes" if around.alone else "no",
        "load": _short(round(around.load, 2)),
    }


def _detail_cells(row: LabRow) -> dict[str, Any]:
    found, around = row.found, row.circumstances
    others = {name: _short(value) for name, value in found.numbers.items() if name not in USUAL}
    return {
        "key": row.key,
        "message": "" if found.message == SENTENCES.get(found.status) else found.message,
        "numbers": _plain({name: value for name, value in others.items() if value != ""}),
        "wall_seconds": _short(around.wall_seconds),
        "peak_megabytes": _short(round(around.peak_megabytes, 0)),
        "started": int(around.started),
        "problem": found.problem,
    }


def _verdict_lines(evidence: Sequence[Evidence]) -> Iterable[dict[str, Any]]:
    for each in evidence:
        revisions = " ".join(sorted({row.circumstances.revision for row in each.rows} - {""}))
        versions = " ".join(sorted({row.circumstances.version for row in each.rows}))
        for verdict in each.verdicts:
            claim = verdict.claim
            yield {
                "experiment": each.id,
                "claim": claim.id,
                "source": each.experiment.source,
                "where": claim.where,
                "says": claim.says,
                "printed": _plain(claim.printed),
                "measure": claim.measure,
                "measured": _short(verdict.measured),
                "unit": claim.unit,
                **_limit_cells("holds", claim.holds),
                **_limit_cells("instead", claim.instead),
                "outcome": verdict.outcome.value,
                "sentence": verdict.sentence,
                "seen": claim.seen,
                "size": each.size,
                "rows": len(each.rows),
                "tasks": each.planned,
                "version": versions,
                "revision": revisions,
            }


def _limit_cells(name: str, limits: Limits | None) -> dict[str, Any]:
    ends = {"least": limits.least, "most": limits.most} if limits is not None else {"least": None, "most": None}
    return {
        f"{name}_{end}": "" if value is None or abs(value) == float("inf") else value for end, value in ends.items()
    }


def _plain(values: Mapping[str, Any]) -> str:
    """JSON, or nothing."""
    return canonical(values) if values else ""


def _short(value: float) -> Any:
    """Five digits; nothing for nan. Infinity is a word, so that JSON can say it too."""
    if isnan(value):
        return ""
    if abs(value) == float("inf"):
        return str(value)
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _write(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]) if lines else ["nothing"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
