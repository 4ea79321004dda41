"""Solve one problem by one method, and measure every iterate with each of the merit functions of NOTES."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.measurement import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.num4lcp_problems import make_num4lcp
from perp.lab.work.recipes import chosen_method, make_instance
from perp.lab.work.solve import measure_result
from perp.problems.residuals import measure
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.status import Status

MERITS = ("modified", "minimum_map", "fischer")


def perform(task: Task, folder: Path | None) -> Measurement:
    """The series have, beside `iteration` and `residual`, for every iterate

        modified     x^T |A x + b|, which is 0 at x = 0          (NOTES eq. 106)
        minimum_map  1/2 H^T H, H = min(x, y)                    (eq. 68)
        fischer      1/2 F^T F, F = phi(x, y)                    (eq. 103)

    and the numbers have the last of each as `final_...`. With `gradient_steps` False among the `arguments` a run ends
    as NON_DESCENT where it would fall back on the gradient, which num4lcp does not.
    """
    problem = (
        make_num4lcp(task.instance) if "num4lcp" in task.instance else make_instance(task.instance, folder).problem
    )
    iterations: list[int] = []
    merits: list[tuple[float, float, float]] = []

    def note(progress: Progress) -> None:
        found = measure(problem, progress.x)
        iterations.append(progress.iteration)
        merits.append((found.modified_merit, 0.5 * found.natural_2**2, found.fischer))

    result = solve(problem, chosen_method(task.method, task.options), stop=task.stopping, callback=note)
    columns = dict(zip(MERITS, np.array(merits).reshape(-1, len(MERITS)).T, strict=True))
    columns |= {"iteration": np.array(iterations, dtype=np.float64), "residual": result.history.residual}
    found = replace(measure_result(result), series=columns)
    if not task.arguments.get("gradient_steps", True):
        found = _cut(found, result.history.counters.get("gradient_steps", np.zeros(0)))
    last = {f"final_{name}": float(found.series[name][-1]) for name in MERITS if found.series[name].size}
    return replace(found, numbers={**found.numbers, **last})


def convergence_task(instance: Mapping[str, Any], method: str, max_iterations: int, **others: Any) -> Task:
    """A task of this work: so many iterations whatever is reached; `others` are further fields of `Task`."""
    stop = {"tol": 0.0, "max_iterations": max_iterations, "check_every": 1}
    return Task("convergence", instance, method, stop=stop, **others)


def _cut(found: Measurement, gradient_steps: Any) -> Measurement:
    """What came before the first step down the gradient."""
    if not np.any(gradient_steps > 0.0):
        return found
    end = int(np.argmax(gradient_steps > 0.0))
    series = {name: column[:end] for name, column in found.series.items()}
    numbers = {**found.numbers, "iterations": float(series["iteration"][-1])}
    numbers |= dict.fromkeys(("residual", "natural"), float(series["residual"][-1]))
    message = "the next step would have gone down the gradient"
    return replace(found, status=Status.NON_DESCENT.name, message=message, numbers=numbers, series=series)
