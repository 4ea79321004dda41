"""Run tasks, each in its own process, and keep their rows.

The driver only hands out tasks and looks at ends. Whoever carries a task out writes its row before it returns, so the
folder knows all that was finished: a driver that is killed is started again and goes on where it was. Tasks that may
share the machine run first, as many at a time as there are workers; then those whose time is part of a claim, alone.

    run_tasks -> make_plan (store: what is there?) -> executor.start(task) -> process -> row in the store
                                                      |-> no row: the driver writes why (TIME_OUT, CRASHED)
                                                      |-> executor lost: the task is started again, ATTEMPTS times
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Protocol

from perp.lab.runs.cluster import ClusterExecutor
from perp.lab.runs.forecast import Forecast
from perp.lab.runs.isolation import Processes, ProcessesLost, TaskLost, open_processes
from perp.lab.runs.lock import locked
from perp.lab.runs.measurement import CRASHED, TROUBLE
from perp.lab.runs.plan import Plan, Policy, make_plan
from perp.lab.runs.process import Ended, row_of_end
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task
from perp.problems.inputs import require_count

ATTEMPTS = 3
"""That a task gets, if what started it ended before the task did."""


class Reporter(Protocol):
    """Told what happens while tasks run."""

    def planned(self, to_run: int, taken: int) -> None: ...

    def started(self, task: Task) -> None: ...

    def finished(self, task: Task, ended: Ended, seconds_left: float) -> None: ...


class Silence:
    """The reporter that says nothing."""

    def planned(self, to_run: int, taken: int) -> None:
        pass

    def started(self, task: Task) -> None:
        pass

    def finished(self, task: Task, ended: Ended, seconds_left: float) -> None:
        pass


class Executor(Protocol):
    """Where tasks are carried out."""

    width: int
    """Tasks at a time."""

    def start(self, task: Task) -> Future[Ended]:
        """The future raises `TaskLost` where nobody knows how the task ended; after `ProcessesLost` no other starts."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    run: int
    taken: int
    """Rows that were there already."""
    troubles: Counter[str] = field(default_factory=Counter)
    """Statuses of rows, run or taken, that measured nothing."""
    skipped: tuple[Path, ...] = ()
    """Files among the rows that are damaged or foreign: what they held was run again."""

    @property
    def failed(self) -> int:
        return self.troubles.total()


def run_tasks(
    tasks: Iterable[Task],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    resume: bool = False,
    retry: bool = False,
    reporter: Reporter | None = None,
    cluster: str | None = None,
) -> Outcome:
    """Make sure that every task has a row in `folder`; finished ones are not run again (`Policy`).

    `workers` tasks run at a time, by default one a processor; with `cluster`, the address of a Dask scheduler, as many
    as its workers have threads. Ctrl-C ends every process that was started and leaves all rows; it comes out as a
    KeyboardInterrupt.
    """
    if workers is not None:
        require_count(workers, "workers", least=1)
    if workers is not None and cluster is not None:
        raise ValueError("workers are those of the cluster; the number cannot be chosen here")
    place = Path(folder).absolute()
    (place / "rows").mkdir(parents=True, exist_ok=True)
    store = RowStore(place)
    told = reporter or Silence()
    with locked(place):
        plan = make_plan(tasks, store, Policy(resume, retry))
        skipped = store.skipped
        told.planned(plan.to_run, len(plan.taken))
        troubles = Counter(plan.former[task.key]["status"] for task in plan.taken)
        if plan.to_run:
            run = _Run(store, plan, told, _executor_maker(place, plan, workers, cluster))
            troubles += run.go()
        store.compact()
    failed = Counter({name: troubles[name] for name in TROUBLE if troubles[name]})
    return Outcome(plan.to_run, len(plan.taken), failed, skipped)


class LocalExecutor:
    """Processes on this machine."""

    def __init__(self, folder: Path, tasks: int, width: int) -> None:
        self.width = width
        self.processes: Processes = open_processes(folder, tasks)

    def start(self, task: Task) -> Future[Ended]:
        return self.processes.start(task)

    def close(self) -> None:
        self.processes.close()


def _executor_maker(place: Path, plan: Plan, workers: int | None, cluster: str | None) -> Callable[[], Executor]:
    if cluster is None:
        return lambda: LocalExecutor(place, plan.to_run, workers or os.cpu_count() or 1)

    return lambda: ClusterExecutor(cluster, place, plan)


class _Run:
    """The tasks of a plan on their way."""

    def __init__(self, store: RowStore, plan: Plan, told: Reporter, open_executor: Callable[[], Executor]) -> None:
        self.store, self.plan, self.told, self.open_executor = store, plan, told, open_executor
        self.statuses: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()

    def go(self) -> Counter[str]:
        self.executor = self.open_executor()
        try:
            self.forecast = Forecast(self.plan.former, self.executor.width)
            self._run_all(deque(self.plan.together), self.executor.width, self.plan.alone)
            self._run_all(deque(self.plan.alone), 1, ())
        finally:
            self.executor.close()
        return self.statuses

    def _run_all(self, waiting: deque[Task], width: int, afterwards: tuple[Task, ...]) -> None:
        running: dict[Future[Ended], Task] = {}
        is_lost = False
        while waiting or running:
            if is_lost and not running:
                self.executor.close()
                self.executor, is_lost = self.open_executor(), False
            while waiting and len(running) < width and not is_lost:
                task = waiting.popleft()
                self.told.started(task)
                self.attempts[task.key] += 1
                running[self.executor.start(task)] = task
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                try:
                    ended = future.result()
                except TaskLost as reason:
                    is_lost = is_lost or isinstance(reason, ProcessesLost)
                    if self.attempts[task.key] < ATTEMPTS:
                        waiting.append(task)
                        continue
                    ended = Ended(CRASHED, False, f"started {ATTEMPTS} times, and each time {reason}", time.time(), nan)
                self._keep(task, ended)
                left = [*waiting, *running.values()]
                beside, apart = (left, afterwards) if not task.timed else ((), left)
                self.told.finished(task, ended, self.forecast.seconds_left(beside, apart))

    def _keep(self, task: Task, ended: Ended) -> None:
        if not ended.wrote:
            self.store.write(row_of_end(task, ended))
        self.statuses[ended.status] += 1
        if isfinite(ended.wall_seconds):
            self.forecast.learn(ended.wall_seconds)
