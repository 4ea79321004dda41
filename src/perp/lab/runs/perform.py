"""Carry out a task in this process. A failure is a row, never the end of a run."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from perp.lab.runs.circumstances import observe
from perp.lab.runs.measurement import FAILED, OUT_OF_MEMORY, Measurement
from perp.lab.runs.row import LabRow
from perp.lab.runs.task import Task

FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, AssertionError, RuntimeError, MemoryError)
"""What a method in trouble raises. Anything else, Ctrl-C above all, ends a run in this process."""

TROUBLES = (*FAILURES, ImportError, OSError)
"""What a work in trouble raises: beside what methods do, a library or a file that is not there."""


def perform(task: Task, folder: Path | None = None) -> LabRow:
    """The row of a task. `folder` keeps problems that are long in the making, so that other tasks find them there."""
    before = observe()
    clock = time.perf_counter()
    try:
        found = task.measure(folder)
    except MemoryError as failure:
        found = Measurement(OUT_OF_MEMORY, str(failure))
    except TROUBLES as failure:
        found = Measurement(FAILED, f"{type(failure).__name__}: {failure}")
    after = replace(
        before,
        wall_seconds=time.perf_counter() - clock,
        peak_megabytes=_peak_megabytes(),
        limit_seconds=task.wall_seconds,
        limit_megabytes=float(task.memory_megabytes),
        alone=task.timed,
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
