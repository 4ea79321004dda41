"""What the tests of experiments share: run one at quick size in this process, and judge it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from perp.lab.claims import Verdict, judge
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.experiment import Experiment
from perp.lab.runs.process import perform
from perp.lab.runs.row import LabRow

_performed: dict[str, LabRow] = {}


@cache
def quick_rows(identity: str, folder: Path | None = None) -> tuple[LabRow, ...]:
    """The rows of an experiment at quick size, run once a process; rows that experiments share are run once, too."""
    rows = []
    for task in find_experiment(identity).make_tasks(True):
        if task.key not in _performed:
            _performed[task.key] = perform(task, folder)
        rows.append(replace(_performed[task.key], task=task))
    return tuple(rows)


def judge_all(experiment: Experiment, measured: dict[str, float], *, quick: bool = False) -> dict[str, Verdict]:
    return {claim.id: judge(claim, measured, quick=quick) for claim in experiment.claims}
