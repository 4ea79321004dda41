"""The three merit functions of NOTES, where its Fischer-Newton method would have ended, and the works that use them.

`convergence`: one problem by one method, every iterate measured with each of the merit functions. `solve_to_merit`:
solve by the criteria of section 6, where a merit function of the paper decides, not the natural map:

    theta(x) < absolute                              (NOTES eq. 107)  -> CONVERGED
    |theta - theta before| < relative theta before   (NOTES eq. 108)  -> RELATIVE, if theta has changed at all

All other endings are those of the method and of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import chosen_method, make_instance
from perp.lab.work.solve import measure_result
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import measure
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.results import Result, Status
from perp.solvers.stopping import Stopping

MERITS = ("modified", "minimum_map", "fischer")

STARTER = "pgs"
"""What warms up."""

FARTHEST = 10.0
"""Entries of a random start lie between zero and this: ten times the largest of a planted solution."""


def measure_merits(problem: Problem, x: Vector) -> dict[str, float]:
    """
    modified     x^T |A x + b|, which is 0 at x = 0, whatever b is    (NOTES eq. 106)
    minimum_map  1/2 H^T H, H = min(x, y)                             (eq. 65, 68)
    fischer      1/2 F^T F, F = sqrt(x^2 + y^2) - x - y               (eq. 96, 103)
    """
    found = measure(problem, x)
    values = (found.modified_merit, 0.5 * found.natural_2**2, found.fischer)
    return dict(zip(MERITS, values, strict=True))


def cut_at_gradient_step(found: Measurement, gradient_steps: Column) -> Measurement:
    """What came before the first step down the gradient, of which num4lcp takes none: there it is NON_DESCENT.

    `gradient_steps` counts them at each entry of the series.
    """
    if not np.any(gradient_steps > 0.0):
        return found
    end = int(np.argmax(gradient_steps > 0.0))
    series = {name: column[:end] for name, column in found.series.items()}
    numbers = {
        **found.numbers,
        "iterations": float(series["iteration"][-1]),
        **dict.fromkeys(("residual", "natural"), float(series["residual"][-1])),
        "seconds": found.numbers["seconds"] * end / gradient_steps.size,
    }
    if "active" in series:
        numbers["active"] = float(series["active"][-1]) / found.n
    message = "the next step would have gone down the gradient"
    return replace(found, status=Status.NON_DESCENT.name, message=message, numbers=numbers, series=series)


def perform_convergence(task: Task, folder: Path | None) -> Measurement:
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


@dataclass
class Judge:
    """A callback that ends a solve when theta says so."""

    problem: Problem
    merit: str
    absolute: float
    relative: float
    merits: list[float] = field(default_factory=list)
    ending: Status | None = None

    def __call__(self, progress: Progress) -> None:
        theta = measure_merits(self.problem, progress.x)[self.merit]
        before = self.merits[-1] if self.merits else inf
        self.merits.append(theta)
        if self.merit == "modified" and progress.iteration == 0:
            self.merits[-1] = inf  # at x = 0 it says nothing
        elif theta < self.absolute:
            self.ending = Status.CONVERGED
        elif before < inf and 0.0 < abs(theta - before) < self.relative * before:
            self.ending = Status.RELATIVE  # where x has not moved at all, the method or the loop says why
        if self.ending is not None:
            raise StopIteration


def perform_solve_to_merit(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `merit` is "modified", "fischer" or "minimum_map"; `absolute` and `relative` are the tolerances.

    `warm_up` iterations of PGS lead to the start, and take `warm_up_seconds`; `start` is "zero" (the default) or "far":
    anywhere between zero and ten. With `gradient_steps` False a run of Fischer's method counts only up to its first
    step down the gradient, where it ends as NON_DESCENT: num4lcp takes no such steps.
    """
    asked = task.arguments
    problem = make_instance(task.instance, folder).problem
    method, stop = chosen_method(task.method, task.options), task.stopping
    x0, warm_up_seconds = _start(problem, asked, task.seed)
    solve(problem, method, x0=x0, stop=replace(stop, max_iterations=1))  # loads the compiled kernels
    judge = Judge(problem, asked["merit"], asked["absolute"], asked["relative"])
    result = solve(problem, method, x0=x0, stop=stop, callback=judge)
    return measure_ending(result, judge, warm_up_seconds, cut=not asked.get("gradient_steps", True))


def solve_to_merit_task(
    instance: Mapping[str, Any],
    method: str,
    *,
    merit: str,
    absolute: float,
    relative: float,
    max_iterations: int,
    arguments: Mapping[str, Any] | None = None,
    **others: Any,
) -> Task:
    """A task of this work: `arguments` are what `perform` knows beside the criteria, `others` fields of `Task`."""
    stop = {"tol": 0.0, "max_iterations": max_iterations, "check_every": 1, "keep": "last"}
    asked = {"merit": merit, "absolute": absolute, "relative": relative, **(arguments or {})}
    return Task("solve_to_merit", instance, method, stop=stop, arguments=asked, **others)


def measure_ending(result: Result, judge: Judge, warm_up_seconds: float, *, cut: bool) -> Measurement:
    """What `work.solve` measures, and theta; cut off where a gradient step would begin."""
    found = measure_result(result)
    if judge.ending is not None:
        found = replace(found, status=judge.ending.name, message=judge.ending.value)
    theta = np.asarray(judge.merits)
    series = dict(found.series)
    if len(series["iteration"]) == theta.size:  # the history was not thinned
        series["theta"] = theta
    found = replace(found, series=series)
    if cut:
        found = cut_at_gradient_step(found, series.get("gradient_steps", np.zeros(0)))
    last = found.series.get("theta", theta)[-1]
    return replace(found, numbers={**found.numbers, "merit": last, "warm_up_seconds": warm_up_seconds})


def _start(problem: Problem, asked: Mapping[str, Any], seed: int) -> tuple[Vector | None, float]:
    """Where the solve begins, and what it took to get there."""
    x0 = None
    if asked.get("start", "zero") == "far":
        x0 = np.random.default_rng(seed).uniform(0.0, FARTHEST, problem.n)
    iterations = asked.get("warm_up", 0)
    if not iterations:
        return x0, 0.0
    stop = Stopping(tol=0.0, max_iterations=iterations, keep="last")
    solve(problem, STARTER, x0=x0, stop=stop)
    warm = solve(problem, STARTER, x0=x0, stop=stop)
    return warm.x, warm.setup_seconds + warm.seconds
