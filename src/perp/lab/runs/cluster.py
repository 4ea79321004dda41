"""Tasks on an existing Dask scheduler: no queue and no scheduler of our own.

A worker of Dask does what the driver does on one machine: it starts the task in a process of its own, with limits, and
the row is in the folder, which all machines share, before the worker answers. What Dask returns is only a hint; a
worker that is killed loses the results that it holds. After each future the driver looks for the row: one that was not
there before. A task without one is submitted again.

Times can only be compared where they were measured on one machine: tasks that are timed all go to one worker, one at a
time, after all others.
"""

from __future__ import annotations

import atexit
import secrets
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from perp.extras import distributed
from perp.lab.runs.circumstances import code_fingerprint
from perp.lab.runs.isolation import WORTH_WARMING, CannotStart, open_processes
from perp.lab.runs.plan import Plan
from perp.lab.runs.process import Ended, row_of_end
from perp.lab.runs.runner import Executor, ProcessesLost, TaskLost
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task
from perp.version import __version__

CONNECT_SECONDS = 20.0
"""That the scheduler and its first worker may take to answer."""

VISIBLE_SECONDS = 5.0
"""That a shared folder may take to show a file that another machine has written."""

QUEUE = 2
"""Tasks that are submitted for each thread of a worker."""

LONGEST_QUEUE = 200
"""Tasks that are submitted at least, so that a cluster that grows with its queue sees one."""


class ClusterError(ValueError):
    """The cluster cannot be used; the message says what to mend."""


class ClusterExecutor:
    """Tasks as futures of Dask."""

    folder: Path
    store: RowStore

    def __init__(self, address: str, folder: Path, plan: Plan) -> None:
        self.folder, self.store = folder, RowStore(folder)
        self.started: dict[str, Any] = {key: row["started"] for key, row in plan.former.items()}
        self.client: Any = connect(address)
        self.probe: Path = folder / f".probe-{secrets.token_hex(8)}"
        try:
            self.probe.touch()
            self.workers: dict[str, int] = self._check_workers()
            self.timing: str = min(self.workers)
        except BaseException:
            self.close()
            raise
        self.width: int = max(QUEUE * sum(self.workers.values()), LONGEST_QUEUE)

    def start(self, task: Task) -> Future[Ended]:
        future: Future[Ended] = Future()
        one_worker = {"workers": [self._timing_worker()]} if task.timed else {}
        words = (task.to_json(), str(self.folder), self.probe.name, self.started.get(task.key))
        try:
            submitted = self.client.submit(carry_out_here, *words, pure=False, retries=0, **one_worker)
        except (OSError, RuntimeError) as reason:  # the connection is closed
            future.set_exception(ProcessesLost(f"the scheduler does not answer ({reason})"))
            return future
        submitted.add_done_callback(lambda ended: self._settle(task, ended, future))
        return future

    def close(self) -> None:
        """End what this run started on the workers, and leave the cluster as it was."""
        with suppress(OSError, RuntimeError):
            self.client.run(end_processes_here, str(self.folder), on_error="ignore")
        self.client.close()
        for path in self.folder.glob(f"{self.probe.name}*"):
            path.unlink(missing_ok=True)

    def _check_workers(self) -> dict[str, int]:
        """Threads of each worker. Every worker must see the folder, be able to write there, and run this very code."""
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as late:
            raise ClusterError(f"the cluster has no worker (waited {CONNECT_SECONDS:g} s)") from late
        told: Mapping[str, Any] = self.client.run(look_here, str(self.folder), self.probe.name, on_error="return")
        for worker, answer in told.items():
            if isinstance(answer, BaseException):
                raise ClusterError(f"worker {worker} cannot run perp: {type(answer).__name__}: {answer}")
            if answer["trouble"]:
                raise ClusterError(f"worker {worker} cannot use {self.folder}: {answer['trouble']} (is it shared?)")
            if not _appears(self.folder / answer["mark"]):
                raise ClusterError(f"worker {worker} has another folder {self.folder}: what it writes is not seen here")
            if (answer["version"], answer["code"]) != (__version__, code_fingerprint()):
                raise ClusterError(
                    f"worker {worker} has other code than this: perp {answer['version']}, {answer['code']}"
                )
        return dict(self.client.nthreads())

    def _timing_worker(self) -> str:
        """The same one as long as it is there, also where others join: times are compared with one another."""
        there = self.client.scheduler_info(n_workers=-1)["workers"]
        if self.timing not in there:
            self.timing = min(there, default=self.timing)
        return self.timing

    def _settle(self, task: Task, submitted: Any, future: Future[Ended]) -> None:
        """Tell the driver of a task whose future has ended; whatever goes wrong here, it must not wait for ever."""
        try:
            self._look_up(task, submitted, future)
        finally:
            if not future.done():
                future.set_exception(TaskLost("its row could not be read"))

    def _look_up(self, task: Task, submitted: Any, future: Future[Ended]) -> None:
        """What the folder says of a task."""
        is_told = submitted.status == "finished"
        limit = time.monotonic() + (VISIBLE_SECONDS if is_told else 0.0)
        while True:
            ended = find_end(self.store, task, self.started.get(task.key))
            if ended is not None:
                future.set_result(ended)
                return
            if time.monotonic() >= limit:
                break
            time.sleep(0.1)
        if self.client.status != "running":
            future.set_exception(ProcessesLost("the scheduler was lost"))
        elif submitted.status == "error":
            failure = submitted.exception()
            future.set_exception(TaskLost(f"its worker failed ({type(failure).__name__}: {failure})"))
        else:
            future.set_exception(TaskLost("its row did not appear" if is_told else "its worker was lost"))


def connect(address: str) -> Any:
    """A client of the scheduler at this address."""
    try:
        # a client of what is no address at all would take a minute to give up
        distributed.comm.addressing.get_address_host_port(address)
    except (ValueError, NotImplementedError) as reason:
        raise ClusterError(f"{address!r} is no address of a scheduler, such as tcp://host:8786: {reason}") from reason
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as reason:
        raise ClusterError(f"no scheduler answers at {address!r}") from reason


def look_here(folder: str, probe: str) -> dict[str, Any]:
    """On a worker: whether it sees the folder of the run, can write there, and which code it has."""
    place, mark, trouble = Path(folder), f"{probe}-{secrets.token_hex(4)}", ""
    try:
        if not (place / probe).exists():
            trouble = "the folder, or a file that the driver wrote there, is not seen"
        else:
            (place / mark).touch()
            RowStore(place)
    except (OSError, ImportError) as reason:
        trouble = str(reason)
    return {"version": __version__, "code": code_fingerprint(), "trouble": trouble, "mark": mark}


def find_end(store: RowStore, task: Task, former: float | None) -> Ended | None:
    """How a task of this run ended, if it has a row other than the one that was started at `former`."""
    row = store.glance([task], ("status", "started", "wall_seconds")).get(task.key)
    if row is None or row["started"] == former:
        return None
    return Ended(row["status"], True, "", row["started"], row["wall_seconds"])


_PROCESSES: dict[str, Executor[Ended]] = {}
"""Those of this worker of Dask, by folder."""
_LOCK = threading.Lock()


def carry_out_here(text: str, folder: str, probe: str, former: float | None) -> dict[str, Any]:
    """On a worker: start the task in a process of its own, wait for its end, and see to it that there is a row.

    Dask asks again for results that were lost with a worker: where their row is there, nothing is done.
    """
    task, place = Task.from_json(text), Path(folder)
    if not (place / probe).exists():
        raise FileNotFoundError(f"{folder}: the run that asks for this task has ended, or is not seen from here")
    before = find_end(RowStore(place), task, former)
    if before is not None:
        return asdict(before)
    with _LOCK:
        if folder not in _PROCESSES:
            _PROCESSES[folder] = open_processes(place, WORTH_WARMING)
        processes = _PROCESSES[folder]
    try:
        ended = processes.start(task).result()
    except (ProcessesLost, CannotStart):
        end_processes_here(folder, processes)
        raise
    if not ended.wrote:
        RowStore(place).write(row_of_end(task, ended))
    return asdict(ended)


def end_processes_here(folder: str, only: Executor[Ended] | None = None) -> None:
    """On a worker: end the processes of a run."""
    with _LOCK:
        if folder not in _PROCESSES or only not in (None, _PROCESSES[folder]):
            return
        processes = _PROCESSES.pop(folder)
    processes.close()


@atexit.register
def _end_all() -> None:
    for folder in list(_PROCESSES):
        end_processes_here(folder)


def _appears(path: Path) -> bool:
    """Whether a file that another machine has written is seen here, if need be after a while."""
    limit = time.monotonic() + VISIBLE_SECONDS
    while not path.exists():
        if time.monotonic() >= limit:
            return False
        time.sleep(0.1)
    return True
