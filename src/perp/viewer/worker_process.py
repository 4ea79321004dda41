"""The process that simulates, as the event loop sees it: nothing here makes the loop wait.

One thread starts the process and reads what it says, another hands it commands; both may wait for the process as long
as they like. At most `UNDER_WAY` messages wait for the loop: a page that does not read stops the process in the end,
and no queue grows. Commands wait for a process that is in a long solve, up to `WAITING` characters of them.

The process takes no more than its share of the memory: a scene that is too large ends with a line, not the machine.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import queue
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread

from perp.viewer.messages import Command, Outgoing, Start
from perp.viewer.worker import run_worker

Target = Callable[[Connection, Start], None]
"""What the process runs; a function at the top of a module."""

UNDER_WAY = 2
WAITING = 1 << 20

GRACE = 0.5
"""Seconds in which a process may end by itself once its pipe is closed."""

_CHILDREN = Lock()
"""Starting a process looks after those that ended: not while another thread does."""

SHARE = 0.5
"""Of the memory that there is: as much is left for the browser, for other pages and for everything else."""

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def simulate(connection: Connection, start: Start) -> None:
    """The target: deaf to Ctrl-C, which is for the server, before anything slow is imported."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()

    run_worker(connection, start)


class Overrun(Exception):
    """More commands wait than a person can have given."""


class WorkerProcess:
    """One process and its pipe. Made in a running event loop, whose methods these are, and ended by `end`."""

    def __init__(self, target: Target, start: Start) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe(duplex=True)
        self._ended, self._end = context.Pipe(duplex=False)
        self._process = context.Process(target=target, args=(theirs, start), name="perp-view-simulation", daemon=True)
        self._theirs = theirs
        self._begun = Event()
        self._loop = asyncio.get_running_loop()
        self._inbox: asyncio.Queue[Outgoing | None] = asyncio.Queue()
        self._room = Semaphore(UNDER_WAY)
        self._outbox: queue.SimpleQueue[tuple[Command, int] | None] = queue.SimpleQueue()
        self._waiting, self._counting = 0, Lock()
        self.heard = 0
        """Messages so far: a sign of life when it grows."""
        self._writer = Thread(target=self._write, name="perp-view-writer", daemon=True)
        self._reader = Thread(target=self._run, name="perp-view-reader", daemon=True)
        self._reader.start()

    @property
    def is_heard_out(self) -> bool:
        """Whether everything that the process has said was taken by `next`."""
        return self._inbox.empty()

    def post(self, command: Command, size: int = 0) -> None:
        """Hand over a command that had so many characters."""
        with self._counting:
            if self._waiting + size > WAITING:
                raise Overrun
            self._waiting += size
        self._outbox.put((command, size))

    async def next(self) -> Outgoing | None:
        """What the process says next; None, once, when it has ended."""
        message = await self._inbox.get()
        self._room.release()
        return message

    async def end(self) -> int | None:
        """End the process, kindly at first, and return its exit code; None where it never ran."""
        return await asyncio.to_thread(self._finish)

    def _run(self) -> None:
        try:
            try:
                with _CHILDREN, _deaf_to_interrupts():
                    self._process.start()
                self._writer.start()
            finally:
                self._theirs.close()  # so that the end of the process is the end of the pipe
                self._begun.set()
            while self._ended not in wait([self._pipe, self._ended]):
                message = self._pipe.recv()
                self._room.acquire()
                self._tell(message)
        except (EOFError, OSError):
            pass
        finally:
            self._tell(None)

    def _tell(self, message: Outgoing | None) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._receive, message)

    def _receive(self, message: Outgoing | None) -> None:
        self.heard += 1
        self._inbox.put_nowait(message)

    def _write(self) -> None:
        while (entry := self._outbox.get()) is not None:
            command, size = entry
            try:
                self._pipe.send(command)
            except OSError:  # the process has ended, which the reader tells
                return
            with self._counting:
                self._waiting -= size

    def _finish(self) -> int | None:
        self._end.close()
        self._room.release()
        self._outbox.put(None)
        self._begun.wait()
        ran = self._process.pid is not None
        if ran:
            for thread in (self._reader, self._writer):
                thread.join(GRACE)
            if not self._reader.is_alive() and not self._writer.is_alive():
                self._pipe.close()  # which tells the process to end
                self._wait(GRACE)
            self._process.terminate()
            if not self._wait(GRACE):
                self._process.kill()
            with _CHILDREN:
                self._process.join()
            self._writer.join()
        self._reader.join()
        self._pipe.close()
        self._ended.close()
        return self._process.exitcode if ran else None

    def _wait(self, seconds: float) -> bool:
        return bool(wait([self._process.sentinel], seconds))


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that this thread starts do not get a terminal's Ctrl-C, not even while they begin."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def limit_memory(share: float = SHARE) -> None:
    """From now on whatever asks for more gets a MemoryError; there is no limit where the system knows none."""
    size = memory_size()
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    if size is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([int(share * size), *known]), hard))


def memory_size() -> int | None:
    """Bytes of this machine, or of the container that this process is in; None where the system does not say."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(size, int(_CONTAINER.read_text("ascii")))
    except (OSError, ValueError):  # no container, or one that may take all
        return size
