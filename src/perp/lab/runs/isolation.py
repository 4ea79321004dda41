"""Processes for tasks, as whoever has tasks sees them: start one, and wait for its end.

On Linux a task is a fork of a server that has everything loaded (`fork_server`); elsewhere, where forks of a process
with such libraries are not safe, it is a fresh interpreter (`process`). In both its threads are pinned to one by the
environment that it starts with; that of the caller stays as it is. No `multiprocessing`: it would import the caller's
main module in every process, and refuses to start any from the workers of Dask.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from perp.lab.runs.limits import pinned_environment
from perp.lab.runs.process import Ended, judge_end, last_line_of
from perp.lab.runs.runner import Executor, ProcessesLost
from perp.lab.runs.task import Task

END_SECONDS = 10.0
"""That the server may take to end its children."""

WORTH_WARMING = 6
"""Tasks from which on it pays to load every kernel first: 2 s once against 0.5 s for each task."""


FORKS: bool = sys.platform == "linux"
"""Whether a process that has loaded such libraries may be forked."""


class CannotStart(RuntimeError):
    """The server ended before its first task: it would do so again. What it said is on stderr."""


class ForkedProcesses:
    """Tasks as forks of one server."""

    is_ready: bool
    is_lost: bool

    def __init__(self, folder: Path, width: int = 1, *, warm: bool = False) -> None:
        self.width = width
        words = f"from perp.lab.runs.fork_server import main; main({str(folder)!r}, {'warm' if warm else ''!r})"
        self.server: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-c", words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=pinned_environment(),
            start_new_session=True,  # Ctrl-C on the terminal is for the driver, which ends what it has started
        )
        self.waiting: dict[int, Future[Ended]] = {}
        self.numbers: count[int] = count()
        self.lock: threading.Lock = threading.Lock()
        self.is_ready = self.is_lost = False
        self.reader: threading.Thread = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def start(self, task: Task) -> Future[Ended]:
        future: Future[Ended] = Future()
        number = next(self.numbers)
        line = json.dumps({"number": number, "task": task.to_json()}).encode() + b"\n"
        commands = _pipe(self.server.stdin)
        with self.lock:
            if self.is_lost:
                future.set_exception(self._reason())
                return future
            self.waiting[number] = future
            with suppress(OSError):  # it has just ended: the reader will say so
                commands.write(line)
                commands.flush()
        return future

    def close(self) -> None:
        """End all processes that were started, and no others."""
        with suppress(OSError):
            _pipe(self.server.stdin).close()
        try:
            self.server.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        self.reader.join()
        _pipe(self.server.stdout).close()

    def _read(self) -> None:
        for line in _pipe(self.server.stdout):
            answer: dict[str, Any] = json.loads(line)
            if "ready" in answer:
                self.is_ready = True
            else:
                with self.lock:
                    future = self.waiting.pop(answer["number"])
                future.set_result(Ended(**answer["ended"]))
        with self.lock:
            self.is_lost = True
            left = list(self.waiting.values())
            self.waiting.clear()
        for future in left:
            future.set_exception(self._reason())

    def _reason(self) -> RuntimeError:
        if self.is_ready:
            return ProcessesLost("the server that starts processes has ended")
        return CannotStart("the server that starts processes ended before its first task")


class FreshProcesses:
    """Tasks in interpreters of their own, a thread each that waits for its end."""

    def __init__(self, folder: Path, width: int = 1) -> None:
        self.folder, self.width = folder, width
        self.running: set[subprocess.Popen[bytes]] = set()
        self.lock: threading.Lock = threading.Lock()
        self.closed: threading.Event = threading.Event()

    def start(self, task: Task) -> Future[Ended]:
        future: Future[Ended] = Future()
        threading.Thread(target=self._run, args=(task, future), daemon=True).start()
        return future

    def close(self) -> None:
        with self.lock:
            self.closed.set()
            for process in self.running:
                process.kill()

    def _run(self, task: Task, future: Future[Ended]) -> None:
        begun = time.time()
        with tempfile.TemporaryFile() as errors:
            with self.lock:
                if self.closed.is_set():
                    future.set_exception(ProcessesLost("no more processes are started"))
                    return
                process = self._open(errors)
                self.running.add(process)
            with process:
                was_overdue = _await(process, task)
                report = _pipe(process.stdout).read().decode()
            with self.lock:
                self.running.discard(process)
            errors.seek(0)
            last_line = last_line_of(errors.read())
        if self.closed.is_set() and not report:
            future.set_exception(ProcessesLost("the process was ended"))
            return
        future.set_result(judge_end(report, process.returncode, was_overdue, last_line, task, begun))

    def _open(self, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "perp.lab.runs.process", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=pinned_environment(),
            start_new_session=True,
        )


def open_processes(folder: Path, tasks: int, width: int = 1) -> Executor[Ended]:
    """Processes that suit this system, for about so many tasks; any thread may start one."""
    if FORKS:
        return ForkedProcesses(folder, width, warm=tasks >= WORTH_WARMING)
    return FreshProcesses(folder, width)


def _await(process: subprocess.Popen[bytes], task: Task) -> bool:
    """Hand over the task and wait for the end; True where the process had to be ended.

    Its stdin stays open: a process whose stdin is closed has lost its parent.
    """
    commands = _pipe(process.stdin)
    with suppress(OSError):
        commands.write(task.to_json().encode() + b"\n")
        commands.flush()
    _pipe(process.stdout).readline()  # nothing, where it ends before it begins
    try:
        process.wait(task.wall_seconds)
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        return True


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None  # every Popen here asks for it
    return end
