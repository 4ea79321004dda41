"""Thousands of random problems through plain `perp.solve(problem)`: `python -m benchmarks campaign [--count 10000]`.

Every sample is drawn from its number (`campaign_samples`), solved in a process of its own kind (a hang or a crash is a
row, not the end), and judged by a residual that is computed apart from perp (`campaign_judge`). The file of rows grows
by a line a sample; a run that was broken off goes on where it stood. Delete the file to measure anew. A whole campaign
writes what it came to into `docs/campaign.csv`.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from rich.table import Table

from benchmarks.campaign_child import TOLERANCE, failed_row
from benchmarks.campaign_digest import Row, digest, write_digest
from benchmarks.campaign_samples import structure_of
from benchmarks.tables import say
from perp.lab.runs.row_file import FileRunner, RowFile
from perp.lab.runs.runner import Reporter
from perp.lab.runs.task import Task

FILE = Path("build/campaign_rows.csv")
DIGEST = Path("docs/campaign.csv")
"""What a whole campaign came to; parts of one do not touch it."""
WHOLE = 10_000
REPEATED = 50
"""Every so many samples one is solved twice, for the sake of its bits: 200 of 10,000."""
START_SECONDS = 300.0
"""What loading, and in a fresh checkout compiling, all kernels may take."""
QUICK_COUNT = 250


def add_campaign_options(parser: ArgumentParser) -> None:
    """Beside `--only`, which choosing has as well: structures whose names begin so, separated by commas."""
    group = parser.add_argument_group("campaign")
    group.add_argument("--count", type=int, help="how many samples (default 10,000; --quick 250)")
    group.add_argument("--start", type=int, default=0, help="number of the first sample")
    group.add_argument("--workers", type=int, default=2, help="processes")
    group.add_argument("--tol", type=float, help=f"on the scaled residual (default {TOLERANCE:g})")
    group.add_argument("--max-seconds", type=float, default=20.0, help="a sample that takes longer counts as hung")
    group.add_argument("--file", type=Path, default=FILE, help=f"where the rows go (default {FILE})")


def run_campaign(options: Namespace) -> Iterator[Table | str]:
    tol: float = TOLERANCE if options.tol is None else options.tol
    count = options.count or (QUICK_COUNT if options.quick else WHOLE)
    wanted = tuple((options.only or "").split(","))
    numbers = range(options.start, options.start + count)
    chosen = [number for number in numbers if structure_of(number).startswith(wanted)]
    path: Path = options.file
    file = RowFile(path, Row)
    begun = perf_counter()
    missing = [Task("campaign", {"number": number}) for number in chosen if number not in file.rows]
    if missing:
        runner = FileRunner(lambda: Children(options.workers, tol, options.max_seconds), file, Counting())
        runner.reporter.planned(len(missing), len(chosen) - len(missing))
        try:
            list(runner.run(missing))
        finally:
            runner.executor.close()
    file.write(sorted(file.rows.values(), key=lambda row: row.number))
    found = [file.rows[number] for number in chosen]
    if chosen == list(range(WHOLE)):
        write_digest(DIGEST, found, tol)
    yield from digest(found, tol)
    yield f"campaign: {len(chosen):,} samples in {path}, {perf_counter() - begun:.0f} s spent now"


class Counting(Reporter[Row]):
    """A line every so many samples."""

    def planned(self, to_run: int, taken: int) -> None:
        self.total, self.done = to_run, 0

    def finished(self, task: Task, row: Row, seconds_left: float) -> None:
        self.done += 1
        if self.done % 500 == 0:
            say(f"campaign: {self.done} of {self.total}")


class Children:
    """Processes that measure samples, each one at a time."""

    def __init__(self, width: int, tol: float, max_seconds: float) -> None:
        self.width, self.tol, self.max_seconds = width, tol, max_seconds
        self.pool = ThreadPoolExecutor(width)
        self.stack = ExitStack()
        self.idle = [self.stack.enter_context(Child()) for _ in range(width)]

    def start(self, task: Task) -> Future[Row]:
        return self.pool.submit(self._measure, task.instance["number"])

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
        self.stack.close()

    def _measure(self, number: int) -> Row:
        child = self.idle.pop()
        try:
            return child.measure(number, self.tol, self.max_seconds)
        finally:
            self.idle.append(child)


class Child:
    """A process that measures samples; a new one takes its place when it hangs or dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def measure(self, number: int, tol: float, max_seconds: float) -> Row:
        process = self._running()
        assert process.stdin is not None
        begun = perf_counter()
        request = json.dumps([number, tol, number % REPEATED == 0])
        process.stdin.write(f"{request}\n".encode())
        process.stdin.flush()
        limit = max_seconds * (2.0 if number % REPEATED == 0 else 1.0)
        answer = self._read_line(limit)
        if answer:
            return Row.make(json.loads(answer))
        seconds = perf_counter() - begun
        self._end()
        status, words = ("HANG", f"no answer in {limit:g} s") if answer is None else ("CRASH", "the process died")
        return failed_row(number, tol, status, seconds, words)

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **one_thread},
            )
            if not self._read_line(START_SECONDS):
                raise SystemExit("the processes of the campaign do not start")
        return self.process

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "benchmarks.campaign_child"]

    def _read_line(self, seconds: float) -> bytes | None:
        """A line; None where none came in time, an empty one where the process has ended."""
        assert self.process is not None
        assert self.process.stdout is not None
        found, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if found else None

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
