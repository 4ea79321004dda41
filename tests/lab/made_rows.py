"""Rows of the lab as no run ever made them, for tests of what is done with rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.row import LabRow, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task


def made_circumstances(**changes: Any) -> Circumstances:
    values = {
        "version": "9.9",
        "revision": "abcdef012345",
        "code": "0123456789abcdef",
        "python": "3.11.0",
        "numpy": "2.0.0",
        "scipy": "1.14.0",
        "numba": "0.60.0",
        "machine": "Linux x86_64",
        "processors": 2,
        "threads": 1,
        "load": 0.5,
        "started": 1_700_000_000.0,
        "wall_seconds": 1.5,
        "peak_megabytes": 120.0,
        "limit_seconds": 120.0,
    }
    return Circumstances(**(values | changes))


def row_of(task: Task, status: str = "CONVERGED", message: str = "", **numbers: float) -> LabRow:
    """The row of a task that found these numbers; those of a solve are filled in unless they are given."""
    usual = {"residual": 1e-9, "iterations": 10.0, "seconds": 0.01, "setup_seconds": 0.001, "active": 0.4}
    known = {} if status in ("FAILED", "CRASHED", "TIME_OUT", "OUT_OF_MEMORY", "DONE") else usual
    return LabRow(task, Measurement(status, message, 30, "f" * 16, known | numbers), made_circumstances())


def solved_row(method: str = "pgs", seed: int = 0, *, group: str = "", status: str = "CONVERGED", **numbers: float):
    """The row of a solve of problem number `seed`."""
    return row_of(solve_task(gallery("fluid_like", 27, seed), method, {"tol": 1e-8}, group=group), status, **numbers)


def history_row(
    residual: Sequence[float], method: str = "pgs", seed: int = 0, *, setup: float = 0.5, series: Mapping | None = None
) -> LabRow:
    """A solve whose checks had these residuals, an iteration and a second apart, after `setup` seconds."""
    task = solve_task(gallery("fluid_like", 27, seed), method, {})
    steps = np.arange(len(residual), dtype=np.float64)
    columns = {"iteration": steps, "seconds": steps, "residual": np.array(residual)} if series is None else series
    numbers = {"residual": residual[-1], "iterations": steps[-1], "seconds": steps[-1], "setup_seconds": setup}
    return LabRow(task, Measurement("CONVERGED", "", 27, "f" * 16, numbers, columns), made_circumstances())
