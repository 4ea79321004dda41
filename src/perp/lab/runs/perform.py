"""Carry out a task in this process. A failure is a row, never the end of a run."""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import replace
from pathlib import Path

from perp.lab.campaign import FAILURES
from perp.lab.runs.circumstances import observe
from perp.lab.runs.measurement import FAILED, OUT_OF_MEMORY, Measurement
from perp.lab.runs.row import LabRow
from perp.lab.runs.task import Task


def perform(task: Task, folder: Path | None = None) -> LabRow:
    """The row of a task. `folder` keeps problems that are long in the making, so that other tasks find them there."""
    before = observe()
    clock = time.perf_counter()
    work = importlib.import_module(f"perp.lab.work.{task.work}")
    try:
        found = work.perform(task, folder)
    except MemoryError as failure:
        found = Measurement(OUT_OF_MEMORY, str(failure))
    except FAILURES as failure:
        found = Measurement(FAILED, f"{type(failure).__name__}: {failure}")
    after = replace(
        before,
        wall_seconds=time.perf_counter() - clock,
        peak_megabytes=_peak_megabytes(),
        limit_seconds=task.wall_seconds,
    )
    return LabRow(task, found, after)


def _peak_megabytes() -> float:
    """The most memory that this process ever held."""
    try:
        import resource
    except ImportError:  # not on Windows
        return float("nan")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
