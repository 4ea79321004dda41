"""The one list of experiments: each id, the file that owns it, and how much several of them ask for together."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass

from perp.errors import suggest
from perp.lab.experiments.experiment import Experiment

FILES = {
    "notes-fig1": "notes.fig1",
    "notes-fig2": "notes.fig2",
    "notes-fig3": "notes.fig3",
    "notes-fig4": "notes.fig4",
    "notes-fig5": "notes.fig5",
    "notes-fig6": "notes.fig6",
    "notes-table1": "notes.table1",
    "notes-table2": "notes.table2",
    "notes-psd": "notes.psd",
    "notes-table3": "notes.table3",
    "pgssm-fig3": "pgssm.fig3",
    "pgssm-5.1": "pgssm.variants",
    "pgssm-blowup": "pgssm.blowup",
    "amgs-fig3": "amgs.hundredth_step:FIG3",
    "amgs-fig4": "amgs.hundredth_step:FIG4",
    "amgs-fig5": "amgs.hundredth_step:FIG5",
    "amgs-table1": "amgs.table1",
    "amgs-fig6": "amgs.whole_simulation:FIG6",
    "amgs-fig7": "amgs.whole_simulation:FIG7",
    "amgs-fig8": "amgs.whole_simulation:FIG8",
    "amgs-table2": "amgs.table2",
    "amgs-adaptive": "amgs.adaptive",
    "amgs-friction": "amgs.friction",
    "slides-basic": "slides.basic",
    "slides-intermediate": "slides.intermediate",
    "slides-advanced": "slides.advanced",
    "thesis-table6.1": "thesis.table6_1",
    "thesis-table6.2": "thesis.table6_2",
    "thesis-table6.3": "thesis.table6_3",
    "thesis-table6.4": "thesis.table6_4",
    "thesis-table6.5": "thesis.table6_5",
    "thesis-fig6.1": "thesis.fig6_1",
    "thesis-fig6.2": "thesis.fig6_2",
    "thesis-fig6.3": "thesis.fig6_3",
    "thesis-fig6.4": "thesis.fig6_4",
    "thesis-fig6.6": "thesis.fig6_6",
}
"""Ids in the order of a report. The file of `notes.fig1` is `notes/fig1.py`; a name in the file follows a colon."""


def find_experiment(identity: str) -> Experiment:
    """The experiment of this id; ValueError, with the nearest ids, where there is none."""
    if identity not in FILES:
        raise ValueError(f"experiment {identity!r} is unknown{suggest(identity, FILES)}")
    file, _, name = FILES[identity].partition(":")
    experiment: Experiment = getattr(importlib.import_module(f"perp.lab.experiments.{file}"), name or "EXPERIMENT")
    return experiment


def all_experiments() -> list[Experiment]:
    """Every experiment, in the order of a report."""
    return [find_experiment(identity) for identity in FILES]


@dataclass(frozen=True)
class Effort:
    """How much full runs ask for, one after the other; rows that several experiments share are run once."""

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
