"""Take a scene through many steps with one method: the summary, and what each step measured."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import make_scene, make_solver
from perp.simulation import SimulationResult, simulate
from perp.solvers.results import Status


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps`, and `dt` where it is not the scene's own."""
    made = make_scene(task.instance)
    solver = make_solver(task.method, task.options, task.stop)
    return measure_run(simulate(made, task.arguments["steps"], dt=task.arguments.get("dt") or None, method=solver))


def simulate_task(
    instance: Mapping[str, Any],
    method: str,
    stop: Mapping[str, Any],
    *,
    steps: int,
    dt: float | None = None,
    **others: Any,
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("simulate", instance, method, stop=stop, arguments={"steps": steps, "dt": dt}, **others)


def measure_run(result: SimulationResult) -> Measurement:
    """The numbers of its summary, and its columns. A run whose every step converged is CONVERGED."""
    summary = result.summary()
    numbers = {name: float(value) for name, value in summary.as_row().items() if isinstance(value, int | float)}
    columns = {name: np.asarray(column, dtype=np.float64) for name, column in result.statistics.items()}
    solve_seconds = columns["solve_seconds"]
    numbers |= {
        "residual": summary.residual_max,
        "iterations": float(np.sum(columns["iterations"])),
        "seconds": float(np.sum(solve_seconds[1:])) if summary.steps > 1 else float(np.sum(solve_seconds)),
        "setup_seconds": 0.0,
        "active": float(np.mean(columns["rows"] > 0)) if summary.steps else nan,
    }
    every = result.success and summary.converged == summary.steps
    return Measurement(
        status=Status.CONVERGED.name if every else summary.ended.name,
        message=summary.message,
        n=summary.rows_max,
        problem=summary.fingerprint,
        numbers=numbers,
        series=columns,
    )
