"""Solve one problem by one method, and measure every iterate with each of the merit functions of NOTES."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.merits_of_notes import MERITS, cut_at_gradient_step, measure_merits
from perp.lab.work.recipes import chosen_method, make_instance
from perp.lab.work.solve import measure_result
from perp.solvers.api import solve
from perp.solvers.loop import Progress


def perform(task: Task, folder: Path | None) -> Measurement:
    """The series have, beside `iteration` and `residual`, the three merits of NOTES for every iterate
    (`merits_of_notes`), and the numbers have the last of each as `final_...`. With `gradient_steps` False among the
    `arguments` a run ends as NON_DESCENT where it would fall back on the gradient, which num4lcp does not.
    """
    problem = make_instance(task.instance, folder).problem
    iterations: list[int] = []
    merits: list[dict[str, float]] = []

    def note(progress: Progress) -> None:
        iterations.append(progress.iteration)
        merits.append(measure_merits(problem, progress.x))

    result = solve(problem, chosen_method(task.method, task.options), stop=task.stopping, callback=note)
    columns = {name: np.array([each[name] for each in merits]) for name in MERITS}
    columns |= {"iteration": np.array(iterations, dtype=np.float64), "residual": result.history.residual}
    found = replace(measure_result(result), series=columns)
    if not task.arguments.get("gradient_steps", True):
        found = cut_at_gradient_step(found, result.history.counters.get("gradient_steps", np.zeros(0)))
    last = {f"final_{name}": float(found.series[name][-1]) for name in MERITS if found.series[name].size}
    return replace(found, numbers={**found.numbers, **last})


def convergence_task(instance: Mapping[str, Any], method: str, max_iterations: int, **others: Any) -> Task:
    """A task of this work: so many iterations whatever is reached; `others` are further fields of `Task`."""
    stop = {"tol": 0.0, "max_iterations": max_iterations, "check_every": 1}
    return Task("convergence", instance, method, stop=stop, **others)
