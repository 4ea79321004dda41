"""The rows that there are of each experiment, and the verdicts that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from perp.lab.analysis.profiles import find_void_groups
from perp.lab.claims import Claim, Outcome, Verdict, judge
from perp.lab.experiments.experiment import Experiment
from perp.lab.runs.row import TROUBLE, LabRow
from perp.lab.runs.task import Task

Made = TypeVar("Made")


@dataclass(frozen=True)
class Trouble:
    """A part of a report that could not be made, and what was raised."""

    experiment: str
    part: str
    message: str

    def __str__(self) -> str:
        return f"{self.experiment}: {self.part}: {self.message}"


def attempt(experiment: str, part: str, make: Callable[[], Made]) -> Made | Trouble:
    """What `make` returns, or the trouble that it had."""
    try:
        return make()
    except Exception as failure:  # noqa: BLE001 (whatever is raised is shown in the place of what is missing)
        return Trouble(experiment, part, f"{type(failure).__name__}: {failure}")


class Store(Protocol):
    """Rows by the keys of tasks, as `perp.lab.runs.store.RowStore` keeps them."""

    def read(self, tasks: Sequence[Task]) -> Mapping[str, LabRow]: ...


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of one experiment."""

    experiment: Experiment
    quick: bool
    """The rows are those of the quick run."""
    planned: int
    """Tasks of that size."""
    rows: tuple[LabRow, ...]
    verdicts: tuple[Verdict, ...] = ()
    void: Mapping[str, str] = field(default_factory=dict)
    """Comparisons that compare nothing, each with the reason."""
    troubles: tuple[Trouble, ...] = ()

    @property
    def id(self) -> str:
        return self.experiment.id

    @property
    def size(self) -> str:
        return "" if not self.rows else "quick" if self.quick else "full"

    @property
    def is_complete(self) -> bool:
        return len(self.rows) == self.planned

    @property
    def counts(self) -> Counter[Outcome]:
        return Counter(verdict.outcome for verdict in self.verdicts)


def gather(store: Store, experiments: Iterable[Experiment]) -> list[Evidence]:
    """The evidence of every experiment, also of those that have no rows yet."""
    plans = [(each, attempt(each.id, "tasks", partial(_plan, each))) for each in experiments]
    wanted = [task for _, plan in plans if not isinstance(plan, Trouble) for tasks in plan for task in tasks]
    kept = store.read(wanted)
    keys = [set[str]() if isinstance(plan, Trouble) else _keys(*plan) for _, plan in plans]
    owners = Counter(key for each in keys for key in each)
    return [
        Evidence(experiment, False, 0, (), troubles=(plan,))
        if isinstance(plan, Trouble)
        else examine(experiment, *_choose(*plan, kept, {key for key in each if owners[key] == 1}))
        for (experiment, plan), each in zip(plans, keys, strict=True)
    ]


def examine(
    experiment: Experiment, rows: Sequence[LabRow], quick: bool = False, planned: int | None = None
) -> Evidence:
    """Judge the claims of an experiment by these rows; without rows there are no verdicts."""
    wanted = len(rows) if planned is None else planned
    if not rows:
        return Evidence(experiment, quick, wanted, ())
    void = find_void_groups(rows)
    found = attempt(experiment.id, "measure", lambda: experiment.measure(rows))
    measured = {} if isinstance(found, Trouble) else found
    without = wanted - len(rows)
    missing = f"Judged in part: {without:,} of {wanted:,} tasks have no row yet." if without else ""
    verdicts = tuple(_judge_on(rows, missing, claim, measured, void, quick) for claim in experiment.claims)
    troubles = (found,) if isinstance(found, Trouble) else ()
    return Evidence(experiment, quick, wanted, tuple(rows), verdicts, void, troubles)


def _judge_on(
    rows: Sequence[LabRow],
    missing: str,
    claim: Claim,
    measured: Mapping[str, float],
    void: Mapping[str, str],
    quick: bool,
) -> Verdict:
    """A verdict that says which of its rows are missing or lost; where all are lost, no figure means anything.

    Some figures count what a method does not solve: they would take a broken installation for evidence.
    """
    members = [row for row in rows if claim.group in ("", row.group)]
    lost = sum(row.status in TROUBLE for row in members)
    verdict = judge(claim, {} if lost == len(members) else measured, void=void, quick=quick)
    if verdict.outcome in (Outcome.VOID, Outcome.NOT_MEASURED):
        return verdict
    gone = f"{lost:,} of the {len(members):,} rows that it rests on gave no result." if lost else ""
    return replace(verdict, sentence=" ".join(filter(None, (verdict.sentence, missing, gone))))


def _plan(experiment: Experiment) -> tuple[list[Task], list[Task]]:
    return experiment.make_tasks(False), experiment.make_tasks(True)


def _keys(*plan: Sequence[Task]) -> set[str]:
    return {task.key for tasks in plan for task in tasks}


def _choose(
    full: Sequence[Task], quick: Sequence[Task], kept: Mapping[str, LabRow], own: Set[str]
) -> tuple[list[LabRow], bool, int]:
    """Rows of the full run where it was begun, else of the quick one; `own` has the keys that no other experiment has.

    Small tasks may belong to both runs: a quick run alone must not pass for the beginning of a full one. Nor must rows
    that were run for another experiment pass for a run of this one, unless they are all that it asks for.
    """
    for tasks, is_quick in ((full, False), (quick, True)):
        there = [task for task in tasks if _speaks_for(task, kept)]
        unlike = _keys(tasks) - (set() if is_quick else _keys(quick))
        telling = unlike & own or unlike
        if len(there) == len(tasks) or any(task.key in telling for task in there):
            return _in_order(tasks, kept), is_quick, len(tasks)
    return [], True, len(quick)


def _in_order(tasks: Sequence[Task], kept: Mapping[str, LabRow]) -> list[LabRow]:
    """A row may have been run for another experiment: here it has this one's label and group."""
    own = [(task, kept[task.key]) for task in tasks if _speaks_for(task, kept)]
    return [replace(row, task=task, ran_with=None if row.key == task.key else row.options) for task, row in own]


def _speaks_for(task: Task, kept: Mapping[str, LabRow]) -> bool:
    """Whether there is a row; a task whose time counts needs one that ran alone, as in `perp.lab.runs.plan`."""
    return task.key in kept and (kept[task.key].circumstances.alone or not task.timed)
