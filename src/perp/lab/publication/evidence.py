"""The rows that there are of each experiment, and the verdicts that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from perp.lab.analysis.guard import find_void_groups
from perp.lab.claims.verdict import Outcome, Verdict, judge
from perp.lab.experiments.experiment import Experiment
from perp.lab.publication.attempts import Trouble, attempt
from perp.lab.runs.row import LabRow
from perp.lab.runs.task import Task


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
    return [
        Evidence(experiment, False, 0, (), troubles=(plan,))
        if isinstance(plan, Trouble)
        else examine(experiment, *_choose(*plan, kept))
        for experiment, plan in plans
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
    verdicts = tuple(judge(claim, measured, void=void, quick=quick) for claim in experiment.claims)
    troubles = (found,) if isinstance(found, Trouble) else ()
    return Evidence(experiment, quick, wanted, tuple(rows), verdicts, void, troubles)


def _plan(experiment: Experiment) -> tuple[list[Task], list[Task]]:
    return experiment.make_tasks(False), experiment.make_tasks(True)


def _choose(full: Sequence[Task], quick: Sequence[Task], kept: Mapping[str, LabRow]) -> tuple[list[LabRow], bool, int]:
    """Rows of the full run where there are any of its own, else those of the quick one.

    Small tasks may belong to both runs: a quick run alone must not pass for the beginning of a full one.
    """
    shared = {task.key for task in quick}
    if all(task.key in kept for task in full) or any(task.key in kept and task.key not in shared for task in full):
        return _in_order(full, kept), False, len(full)
    return _in_order(quick, kept), True, len(quick)


def _in_order(tasks: Sequence[Task], kept: Mapping[str, LabRow]) -> list[LabRow]:
    """A row may have been run for another experiment: here it has this one's label and group."""
    return [replace(kept[task.key], task=task) for task in tasks if task.key in kept]
