"""One task in one process: what the process does, and how its end becomes a row, which a failure is as well.

    python -m perp.lab.runs.process FOLDER

carries out the one task that comes as a line on stdin. On stdout it says when it begins, and then what its row
says. It ends when stdin is closed, which is what happens when its parent dies.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from perp.lab.runs.circumstances import observe
from perp.lab.runs.limits import limited_memory
from perp.lab.runs.row import CRASHED, FAILED, OUT_OF_MEMORY, TIME_OUT, LabRow, Measurement
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task

FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, AssertionError, RuntimeError, MemoryError)
"""What a method in trouble raises. Anything else, Ctrl-C above all, ends a run in this process."""

TROUBLES = (*FAILURES, ImportError, OSError)
"""What a work in trouble raises: beside what methods do, a library or a file that is not there."""

READY = b"ready\n"
"""The first line on stdout: the process has begun, and so does the time of the task."""

LONGEST = 500
"""Characters of a message that are told: a row keeps no more of the last line on stderr."""


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


@dataclass(frozen=True)
class Ended:
    """How the process of a task ended."""

    status: str
    """Of the row that it wrote; else CRASHED or TIME_OUT."""
    wrote: bool
    """Whether it wrote a row."""
    message: str
    started: float
    """Seconds since 1970."""
    wall_seconds: float


def carry_out(task: Task, folder: Path) -> str:
    """In the process of the task: perform it within its memory, keep the row, and return its status and message."""
    with limited_memory(task.memory_megabytes):
        row = perform(task, folder)
    RowStore(folder).write(row)
    return f"{row.status}\n{row.found.message[:LONGEST]}"


def judge_end(report: str, code: int, was_overdue: bool, last_line: str, task: Task, begun: float) -> Ended:
    """What became of a task whose process ended with this code (negative: by a signal) after this `report`."""
    wall = time.time() - begun
    if report:
        status, _, message = report.partition("\n")
        return Ended(status, True, message, begun, wall)
    if was_overdue:
        return Ended(TIME_OUT, False, f"ended after {task.wall_seconds:g} s of wall clock", begun, wall)
    if code < 0:
        return Ended(CRASHED, False, f"the process was ended by {_signal_name(-code)}", begun, wall)
    told = f": {last_line}" if last_line else ""
    return Ended(CRASHED, False, f"the process ended with exit code {code} and without a row{told}", begun, wall)


def row_of_end(task: Task, ended: Ended) -> LabRow:
    """The row of a task whose process wrote none. Its circumstances are those of the process: threads were pinned."""
    circumstances = replace(
        observe(),
        threads=1,
        started=ended.started,
        wall_seconds=ended.wall_seconds,
        limit_seconds=task.wall_seconds,
        limit_megabytes=float(task.memory_megabytes),
        alone=task.timed,
    )
    return LabRow(task, Measurement(ended.status, ended.message), circumstances)


def last_line_of(errors: bytes) -> str:
    """The last line on stderr that says something: of a traceback, the exception."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1][:LONGEST] if lines else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def main() -> None:
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    task = Task.from_json(sys.stdin.readline())
    threading.Thread(target=_end_when_closed, args=(sys.stdin.read,), daemon=True).start()
    os.write(answers, READY)
    os.write(answers, carry_out(task, Path(sys.argv[1])).encode())
    os._exit(0)  # the thread waits for stdin, and would keep the interpreter from ending


def _end_when_closed(wait: Callable[[], object]) -> None:
    wait()
    os._exit(1)


if __name__ == "__main__":
    main()
