"""How the error of an iterate, its distance to the true solution, falls from iteration to iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import DONE, Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import chosen_method, fingerprint, make_instance
from perp.lab.work.solve import free_share
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.loop import Progress


def error_curve_task(instance: Mapping[str, Any], method: str, stop: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work, on a problem whose solution is known.

    `arguments` may have `tolerances` for `quadratic_program`, whose iterates cannot be seen: it is called once for
    each, and the answers are taken for the iterates at as many iterations as the call took.
    """
    return Task("error_curve", instance, method, stop=stop, **others)


def perform(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry an iteration, the start first: iteration, residual, error = max |x_i - x*_i|, and the
    objective 1/2 x^T A x + b^T x. `rise` is the most by which the objective rose in one iteration, as a share of its
    range: a step that leads nowhere but down has one of the order of rounding errors."""
    instance = make_instance(task.instance, folder)
    if instance.x is None:
        raise ValueError(f"the solution of {task.instance} is not known, so that no error can be measured")
    measure = _ladder if "tolerances" in task.arguments else _curve
    return measure(task, instance.problem, instance.x)


def _curve(task: Task, problem: Problem, truth: Vector) -> Measurement:
    lines: list[tuple[float, ...]] = []

    def note(progress: Progress) -> None:
        error = float(np.abs(progress.x - truth).max())
        lines.append((progress.iteration, progress.residual, error, objective(problem, progress.x)))

    stop = replace(task.stopping, check_every=1)
    result = solve(problem, chosen_method(task.method, task.options), stop=stop, callback=note)
    columns = _columns(lines)
    numbers = {
        "residual": result.residual,
        "error": float(columns["error"][-1]),
        "iterations": float(result.iterations),
        "seconds": result.seconds,
        "setup_seconds": result.setup_seconds,
        "active": free_share(problem, result.x),
        "rise": _rise(columns["objective"]),
    }
    return Measurement(result.status.name, result.message, problem.n, fingerprint(problem), numbers, columns)


def _ladder(task: Task, problem: Problem, truth: Vector) -> Measurement:
    start = problem.project(np.zeros(problem.n))
    lines: list[tuple[float, ...]] = [(0.0, nan, float(np.abs(start - truth).max()), objective(problem, start))]
    for tolerance in task.arguments["tolerances"]:
        method = chosen_method(task.method, {**task.options, "tolerance": tolerance})
        result = solve(problem, method, stop=replace(task.stopping, tol=0.0, max_iterations=1))
        iterations = float(result.history.counters["backend_iterations"][-1])
        if iterations > lines[-1][0]:  # two tolerances may be met by the same iterate
            error = float(np.abs(result.x - truth).max())
            lines.append((iterations, result.residual, error, objective(problem, result.x)))
    columns = _columns(lines)
    numbers = {
        "residual": float(columns["residual"][-1]),
        "error": float(columns["error"][-1]),
        "iterations": float(columns["iteration"][-1]),
        "active": free_share(problem, result.x),
    }
    return Measurement(DONE, "", problem.n, fingerprint(problem), numbers, columns)


def objective(problem: Problem, x: Vector) -> float:
    """f(x) = 1/2 x^T A x + b^T x = 1/2 x^T (y + b) with y = A x + b."""
    return 0.5 * float(x @ (problem.slack(x) + problem.b))


def _columns(lines: list[tuple[float, ...]]) -> dict[str, Column]:
    names = ("iteration", "residual", "error", "objective")
    return dict(zip(names, np.array(lines, dtype=np.float64).T, strict=True))


def _rise(values: Column) -> float:
    spread = float(np.ptp(values))
    return float(np.diff(values).max(initial=0.0)) / spread if spread > 0.0 else 0.0
