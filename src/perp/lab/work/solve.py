"""Solve one problem by one method: how it ended, what it cost, and how it converged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import chosen_method, fingerprint, make_instance
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.method import Method
from perp.solvers.results import History, Result
from perp.solvers.stopping import Stopping

WARM_ITERATIONS = 3
"""Iterations of the run before the timed one: they load the compiled kernels and fill what the problem keeps."""


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `start` is "zero" (the default) or "warm", where the instance has something to start from;
    `repeats` solves so often and keeps the fastest."""
    instance = make_instance(task.instance, folder)
    method, stop = chosen_method(task.method, task.options), task.stopping
    x0 = instance.x0 if task.arguments.get("start", "zero") == "warm" else None
    return timed_solve(instance.problem, method, stop, x0, task.arguments.get("repeats", 1))


@dataclass(frozen=True, eq=False)
class Trial(Task):
    """A task whose problem and method this process has at hand: its recipe only names them."""

    problem: Any = None
    solver: Any = None
    """A method, "auto", or whatever else the executor knows how to ask."""

    def measure(self, folder: Path | None) -> Measurement:
        return timed_solve(self.problem, self.solver, self.stopping)


def timed_solve(
    problem: Problem, method: str | Method, stop: Stopping, x0: Vector | None = None, repeats: int = 1
) -> Measurement:
    """Warm up, then solve and time."""
    solve(problem, method, x0=x0, stop=replace(stop, max_iterations=WARM_ITERATIONS, max_seconds=None))
    results = [solve(problem, method, x0=x0, stop=stop) for _ in range(repeats)]
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


def thinned(history: History, most: int = 400) -> History:
    """At most about `most` entries, spaced geometrically as a logarithmic axis shows them; both ends are kept."""
    if len(history) <= most:
        return history
    chosen = np.unique(np.rint(np.geomspace(1, len(history), most)).astype(np.intp)) - 1
    return History(
        history.iteration[chosen],
        history.seconds[chosen],
        history.residual[chosen],
        history.merit[chosen],
        history.active[chosen],
        {name: column[chosen] for name, column in history.counters.items()},
    )
