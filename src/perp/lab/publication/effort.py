"""How much a set of experiments asks for, where rows that several of them share are run once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from perp.lab.experiments.experiment import Experiment


@dataclass(frozen=True)
class Effort:
    """Of full runs, one after the other."""

    rows: int
    """Distinct ones."""
    minutes: float
    """On two cores, about: an experiment counts with that part of its rows that no earlier one has."""


def find_effort(experiments: Iterable[Experiment]) -> Effort:
    keys: set[str] = set()
    minutes = 0.0
    for experiment in experiments:
        own = {task.key for task in experiment.make_tasks(False)}
        minutes += experiment.minutes * len(own - keys) / max(len(own), 1)
        keys |= own
    return Effort(len(keys), minutes)
