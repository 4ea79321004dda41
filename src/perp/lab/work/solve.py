"""Solve one problem by one method: how it ended, what it cost, and how it converged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.campaign import WARM_ITERATIONS
from perp.lab.rows import thinned
from perp.lab.runs.measurement import Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import chosen_method, fingerprint, make_instance
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.results import History, Result


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `start` is "zero" (the default) or "warm", where the instance has something to start from;
    `repeats` solves so often and keeps the fastest."""
    instance = make_instance(task.instance, folder)
    method, stop = chosen_method(task.method, task.options), task.stopping
    x0 = instance.x0 if task.arguments.get("start", "zero") == "warm" else None
    solve(instance.problem, method, x0=x0, stop=replace(stop, max_iterations=WARM_ITERATIONS, max_seconds=None))
    results = [solve(instance.problem, method, x0=x0, stop=stop) for _ in range(task.arguments.get("repeats", 1))]
    return measure_result(min(results, key=lambda result: result.setup_seconds + result.seconds))


def solve_task(instance: Mapping[str, Any], method: str, stop: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work; `others` are further fields of `Task`, above all `options`, `group` and `label`."""
    return Task("solve", instance, method, stop=stop, **others)


def measure_result(result: Result) -> Measurement:
    """The numbers and the history of a result."""
    judged = result.verify()
    numbers = {
        "residual": result.residual,
        "iterations": float(result.iterations),
        "seconds": result.seconds,
        "setup_seconds": result.setup_seconds,
        "active": free_share(result.problem, result.x),
        "natural": judged.natural_inf,
    }
    if judged.energy_mean is not None and judged.energy_max is not None:
        numbers |= {"energy_mean": judged.energy_mean, "energy_max": judged.energy_max}
    return Measurement(
        status=result.status.name,
        message=result.message,
        n=result.problem.n,
        problem=fingerprint(result.problem),
        numbers=numbers,
        series=history_columns(result.history),
    )


def free_share(problem: Problem, x: Any) -> float:
    """The share of rows whose x lies strictly between its bounds: what a method had to find."""
    lower, upper = problem.bounds(x)
    return float(np.mean((x > lower) & (x < upper))) if problem.n else 0.0


def history_columns(history: History) -> dict[str, Column]:
    """iteration, seconds, residual, merit, active, and what the method counted; some 400 checks at most."""
    short = thinned(history)
    columns = {"iteration": short.iteration, "seconds": short.seconds, "residual": short.residual}
    columns |= {"merit": short.merit, "active": short.active, **short.counters}
    return {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
