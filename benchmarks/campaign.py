"""Thousands of random problems through plain `perp.solve(problem)`: `python -m benchmarks campaign [--count 10000]`.

Every sample is drawn from its number (`campaign_samples`), solved in a process of its own kind (a hang or a crash is a
row, not the end), and judged by a residual that is computed apart from perp (`campaign_judge`). The file of rows grows
by a line a sample; a run that was broken off goes on where it stood. Delete the file to measure anew. A whole campaign
writes what it came to into `docs/campaign.csv`.
"""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from rich.table import Table

from benchmarks.campaign_child import TOLERANCE, failed_row
from benchmarks.campaign_digest import digest, write_digest
from benchmarks.campaign_rows import Row, add_row, make_row, read_rows, write_rows
from benchmarks.campaign_samples import structure_of
from benchmarks.progress import say

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
    rows = read_rows(path)
    write_rows(path, rows.values())  # without a torn last line
    begun = perf_counter()
    missing = [number for number in chosen if number not in rows]
    for row in measure(missing, options.workers, tol, options.max_seconds):
        rows[row.number] = row
        add_row(path, row)
    write_rows(path, rows.values())
    found = [rows[number] for number in chosen]
    if chosen == list(range(WHOLE)):
        write_digest(DIGEST, found, tol)
    yield from digest(found, tol)
    yield f"campaign: {len(chosen):,} samples in {path}, {perf_counter() - begun:.0f} s spent now"


def measure(numbers: Sequence[int], workers: int, tol: float, max_seconds: float) -> Iterator[Row]:
    """Rows as they are ready, in no order."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in numbers:
        waiting.put(number)
    ready: queue.SimpleQueue[Row] = queue.SimpleQueue()

    def work() -> None:
        with Child() as child:
            while True:
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                ready.put(child.measure(number, tol, max_seconds))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(numbers)))]
    for thread in threads:
        thread.start()
    for done in range(1, len(numbers) + 1):
        yield ready.get()
        if done % 500 == 0:
            say(f"campaign: {done} of {len(numbers)}")


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
            return make_row(json.loads(answer))
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
