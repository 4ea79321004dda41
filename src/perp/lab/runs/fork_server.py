"""The process that starts tasks: perp and its kernels are loaded once, then each task is a fork.

A fresh interpreter takes two seconds to import perp and half a second to load the kernels of a method; a fork of one
that has them takes some 20 ms. The server has one thread, no event loop and no state but its children: it may be
forked at any time.

It reads tasks from stdin, a line of JSON each, `{"number": 7, "task": "..."}`, and answers with a line for each end,
`{"number": 7, "status": ...}`. When stdin is closed it ends all its children, and itself: a driver that is killed
leaves nothing behind. A child is ended by the system should the server be killed.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from perp import lazy
from perp.extras import duckdb
from perp.lab import work as works
from perp.lab.runs.circumstances import observe
from perp.lab.runs.limits import die_with_parent
from perp.lab.runs.process import carry_out, judge_end, last_line_of
from perp.lab.runs.task import Task
from perp.solvers.warm_up import warm_up as warm_up_solvers
from perp.worlds.warm_up import warm_up as warm_up_worlds

TAIL = 4096
"""Bytes of a child's stderr that are looked at."""

CHUNK = 2**16


@dataclass(eq=False)
class Child:
    """A task under way."""

    number: int
    task: Task
    pid: int
    report: int
    """The end of a pipe that its status comes through."""
    errors: int
    """A file in memory that has its stderr."""
    begun: float
    deadline: float
    """On the monotonic clock."""
    was_overdue: bool = False


class ForkServer:
    """`serve` runs until stdin is closed."""

    folder: Path
    commands: int
    answers: int
    waking: int
    woken: int

    def __init__(self, folder: Path, commands: int, answers: int) -> None:
        self.folder, self.commands, self.answers = folder, commands, answers
        self.children: dict[int, Child] = {}
        self.pending: bytes = b""
        self.waking, self.woken = os.pipe()
        for end in (self.waking, self.woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)  # its arrival wakes `select`

    def serve(self) -> None:
        is_open = True
        while is_open:
            ready, _, _ = select.select([self.commands, self.waking], [], [], self._patience())
            if self.waking in ready:
                with suppress(BlockingIOError):
                    os.read(self.waking, CHUNK)
            if self.commands in ready:
                is_open = self._take_commands()
            self._reap()
            self._end_overdue()
        for child in self.children.values():
            _end(child)
            os.waitpid(child.pid, 0)

    def _patience(self) -> float | None:
        """Seconds until the next child is overdue."""
        waiting = [child.deadline for child in self.children.values() if not child.was_overdue]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _take_commands(self) -> bool:
        read = os.read(self.commands, CHUNK)
        *lines, self.pending = (self.pending + read).split(b"\n")
        for line in lines:
            command = json.loads(line)
            self._start(command["number"], Task.from_json(command["task"]))
        return bool(read)

    def _start(self, number: int, task: Task) -> None:
        errors = os.memfd_create("errors")
        report, told = os.pipe()
        os.set_blocking(report, False)
        begun, deadline = time.time(), time.monotonic() + task.wall_seconds
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._be_child(task, server, errors, told)
        os.close(told)
        self.children[pid] = Child(number, task, pid, report, errors, begun, deadline)

    def _be_child(self, task: Task, server: int, errors: int, told: int) -> None:
        """Carry out a task, and never return."""
        code = 1
        try:
            os.setsid()  # what the task starts is ended along with it
            die_with_parent(server)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDWR)
            for target, source in ((0, nothing), (1, nothing), (2, errors)):
                os.dup2(source, target)
            os.close(self.answers)
            os.write(told, carry_out(task, self.folder).encode())
            code = 0
        finally:
            if code:
                traceback.print_exc()
                sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        for pid, child in list(self.children.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self.children[pid]
                self._answer(child, os.waitstatus_to_exitcode(status))

    def _answer(self, child: Child, code: int) -> None:
        try:
            report = os.read(child.report, CHUNK).decode()
        except BlockingIOError:  # something that the task started holds the other end
            report = ""
        os.close(child.report)
        start = max(0, os.fstat(child.errors).st_size - TAIL)
        last_line = last_line_of(os.pread(child.errors, TAIL, start))
        os.close(child.errors)
        ended = judge_end(report, code, child.was_overdue, last_line, child.task, child.begun)
        self.tell({"number": child.number, "ended": asdict(ended)})

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for child in self.children.values():
            if now >= child.deadline and not child.was_overdue:
                child.was_overdue = True
                _end(child)

    def tell(self, answer: dict[str, object]) -> None:
        line = json.dumps(answer).encode() + b"\n"
        while line:
            line = line[os.write(self.answers, line) :]


def _end(child: Child) -> None:
    """Kill a child and what it has started; before it has a session of its own, the child alone."""
    with suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def load_all(*, warm: bool) -> None:
    """Import what tasks need, and with `warm` load every compiled kernel: forks have them from their first moment."""
    duckdb.require()
    for module in pkgutil.iter_modules(works.__path__, f"{works.__name__}."):
        with suppress(ImportError):  # tasks of this work will say what is missing
            lazy.execute(importlib.import_module(module.name))
    if warm:
        warm_up_solvers()
        warm_up_worlds()
    observe()  # its parts that never change are kept
    gc.collect()
    gc.freeze()  # a collection in a fork would touch, and so copy, every page


def main(folder: str, warm: str) -> None:
    """The entry point of the process; stdout is for answers only."""
    answers = os.dup(1)
    os.dup2(2, 1)
    server = ForkServer(Path(folder), 0, answers)
    load_all(warm=warm == "warm")
    server.tell({"ready": os.getpid()})
    server.serve()
    os._exit(0)  # what was frozen for the forks is not taken apart, of which some libraries would complain
