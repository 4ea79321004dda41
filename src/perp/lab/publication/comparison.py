"""Two runs side by side: verdicts, statuses, times and iterations of the rows that both have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite, nan
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from perp.lab.claims import Verdict
from perp.lab.experiments.catalogue import all_experiments
from perp.lab.publication.evidence import Evidence, gather
from perp.lab.runs.row import LabRow
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task, canonical

T = TypeVar("T")


@dataclass(frozen=True)
class ClaimPair:
    """One claim in both runs; a run that did not judge it has no outcome."""

    experiment: str
    claim: str
    says: str
    measured: tuple[float, float]
    outcomes: tuple[str, str]

    @property
    def changed(self) -> bool:
        """Both runs judged it, and not alike."""
        return all(self.outcomes) and self.outcomes[0] != self.outcomes[1]


@dataclass(frozen=True)
class MethodPair:
    """The rows of one label that both runs have; ratios are second over first, medians over rows that both solved."""

    experiment: str
    method: str
    rows: int
    solved: int
    """By both: only these have ratios."""
    seconds_ratio: float
    iterations_ratio: float
    changed: str = ""
    """Options that the rows of the second run have in place of those of the first: "relaxation 1.4 -> 1.2"."""


@dataclass(frozen=True)
class StatusChange:
    experiment: str
    method: str
    group: str
    key: str
    statuses: tuple[str, str]


@dataclass(frozen=True)
class ExperimentPair:
    experiment: str
    sizes: tuple[str, str]
    """"full", "quick", or nothing where it was not run."""
    both: int
    """Rows that both runs have."""
    only: tuple[int, int]


@dataclass(frozen=True)
class Comparison:
    experiments: tuple[ExperimentPair, ...]
    claims: tuple[ClaimPair, ...]
    methods: tuple[MethodPair, ...]
    statuses: tuple[StatusChange, ...]

    def as_plain(self) -> dict[str, Any]:
        """For JSON."""
        plain = asdict(self)
        for entry, claim in zip(plain["claims"], self.claims, strict=True):
            entry["changed"] = claim.changed
        return plain


class AnyVersion:
    """The rows of a folder by what was measured, whichever version of perp measured it; the newest one counts.

    A task without such a row is given the one that differs in options of the method alone (`perp lab run --set`), if
    label, group and all else tell which it is.
    """

    @classmethod
    def of_folder(cls, folder: Path) -> AnyVersion:
        return cls(RowStore(folder).read().values())

    def __init__(self, everything: Iterable[LabRow]) -> None:
        in_order = sorted(everything, key=lambda row: row.circumstances.started)
        self.rows: dict[str, LabRow] = {_content(row.task): row for row in in_order}
        self.by_place = _only_ones((_place(row.task), row) for row in self.rows.values())

    def read(self, tasks: Sequence[Task]) -> Mapping[str, LabRow]:
        exact = {task.key: self.rows.get(_content(task)) for task in tasks}
        for place, key in _only_ones({(_place(task), task.key) for task in tasks}).items():
            exact[key] = exact[key] or self.by_place.get(place)
        return {key: row for key, row in exact.items() if row is not None}


def compare_folders(first: Path, second: Path) -> Comparison:
    """ValueError where a folder has no rows that belong to an experiment."""
    sides = []
    for folder in (first, second):
        evidence = gather(AnyVersion.of_folder(folder), all_experiments())
        if not any(each.rows for each in evidence):
            raise ValueError(f"{folder} has no rows of any experiment")
        sides.append(evidence)
    return compare(*sides)


def compare(first: Iterable[Evidence], second: Iterable[Evidence]) -> Comparison:
    """Both have the same experiments in the same order."""
    experiments: list[ExperimentPair] = []
    claims: list[ClaimPair] = []
    methods: list[MethodPair] = []
    statuses: list[StatusChange] = []
    for one, other in zip(first, second, strict=True):
        if not one.rows and not other.rows:
            continue
        ours, theirs = ({row.key: row for row in each.rows} for each in (one, other))
        both = [(row, theirs[key]) for key, row in ours.items() if key in theirs]
        sides = (len(ours) - len(both), len(theirs) - len(both))
        experiments.append(ExperimentPair(one.id, (one.size, other.size), len(both), sides))
        claims += _pair_claims(one, other)
        methods += _pair_methods(one.id, both)
        statuses += [
            StatusChange(one.id, before.name, before.group, before.key, (before.status, after.status))
            for before, after in both
            if before.status != after.status
        ]
    return Comparison(tuple(experiments), tuple(claims), tuple(methods), tuple(statuses))


def _pair_claims(one: Evidence, other: Evidence) -> list[ClaimPair]:
    judged = [{verdict.claim.id: verdict for verdict in each.verdicts} for each in (one, other)]
    pairs = []
    for claim in one.experiment.claims:
        before, after = (verdicts.get(claim.id) for verdicts in judged)
        pairs.append(
            ClaimPair(
                one.id,
                claim.id,
                claim.says,
                (_measured(before), _measured(after)),
                (_outcome(before), _outcome(after)),
            )
        )
    return pairs


def _pair_methods(experiment: str, both: Sequence[tuple[LabRow, LabRow]]) -> list[MethodPair]:
    by_name: dict[str, list[tuple[LabRow, LabRow]]] = {}
    for before, after in both:
        by_name.setdefault(before.name, []).append((before, after))
    pairs = []
    for name, members in by_name.items():
        solved = [(before, after) for before, after in members if before.success and after.success]
        seconds = _median_ratio((before.total_seconds, after.total_seconds) for before, after in solved)
        iterations = _median_ratio((before["iterations"], after["iterations"]) for before, after in solved)
        changes = dict.fromkeys(_changes(before, after) for before, after in members)
        told = "; ".join(change for change in changes if change)
        pairs.append(MethodPair(experiment, name, len(members), len(solved), seconds, iterations, told))
    return pairs


def _changes(before: LabRow, after: LabRow) -> str:
    old, new = before.options, after.options
    pairs = [(name, old.get(name, "default"), new.get(name, "default")) for name in sorted({*old, *new})]
    return ", ".join(f"{name} {was} -> {now}" for name, was, now in pairs if was != now)


def _median_ratio(pairs: Iterable[tuple[float, float]]) -> float:
    """Of the pairs whose ratio is defined; nan where there are none."""
    ratios = [after / before for before, after in pairs if before > 0.0 and isfinite(before) and isfinite(after)]
    return median(ratios) if ratios else nan


def _measured(verdict: Verdict | None) -> float:
    return nan if verdict is None else verdict.measured


def _outcome(verdict: Verdict | None) -> str:
    return "" if verdict is None else verdict.outcome.value


def _content(task: Task) -> str:
    return canonical({name: value for name, value in task.content.items() if name != "version"})


def _place(task: Task) -> str:
    """Where a row belongs in its experiment, whatever the options of its method are."""
    content = {name: value for name, value in task.content.items() if name not in ("version", "options")}
    return canonical(content | {"label": task.name, "group": task.group})


def _only_ones(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """By name, without the names that two have."""
    found: dict[str, list[T]] = {}
    for name, item in pairs:
        found.setdefault(name, []).append(item)
    return {name: items[0] for name, items in found.items() if len(items) == 1}
