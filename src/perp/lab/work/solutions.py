"""Count the solutions of small problems by looking at every index set (SLIDES, 'Guessing a solution')."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import fingerprint, make_instance
from perp.lab.work.sequence import draw
from perp.problems.problem import Problem
from perp.solvers.pivoting.all_solutions import enumerate_solutions


def solutions_task(problems: Sequence[Mapping[str, Any]], **others: Any) -> Task:
    """A task of this work: `problems` are recipes of problems, or of sequences of a single size."""
    return Task("solutions", {"problems": list(problems)}, **others)


def perform(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry a problem: n, index_sets, seconds, isolated solutions, families of them (each infinite).

    The first problem is enumerated once more beforehand, so that its time is not that of loading kernels.
    """
    problems = [_make(recipe, folder) for recipe in task.instance["problems"]]
    enumerate_solutions(problems[0])
    lines = []
    for problem in problems:
        begun = perf_counter()
        found = enumerate_solutions(problem)
        seconds = perf_counter() - begun
        lines.append((problem.n, found.index_sets, seconds, len(found.isolated), len(found.families)))
    names = ("n", "index_sets", "seconds", "isolated", "families")
    columns = {
        name: np.array(column, dtype=np.float64) for name, column in zip(names, zip(*lines, strict=True), strict=True)
    }
    numbers = {"seconds": float(columns["seconds"].sum())}
    last = problems[-1]
    return Measurement(DONE, n=last.n, problem=fingerprint(last), numbers=numbers, series=columns)


def _make(recipe: Mapping[str, Any], folder: Path | None) -> Problem:
    if "sequence" in recipe:
        return draw(recipe, recipe["sizes"][0]).problem
    return make_instance(recipe, folder).problem
