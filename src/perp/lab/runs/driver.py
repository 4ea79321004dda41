"""Run tasks, each in its own process, and keep their rows.

The driver only hands out tasks and looks at ends. Whoever carries a task out writes its row before it returns, so the
folder knows all that was finished: a driver that is killed is started again and goes on where it was. Tasks that may
share the machine run first, as many at a time as there are workers; then those whose time is part of a claim, alone.

    run_tasks -> make_plan (store: what is there?) -> Runner -> executor.start(task) -> process -> row in the store
                                                      |-> no row: the driver writes why (TIME_OUT, CRASHED)
                                                      |-> executor lost: the task is started again, ATTEMPTS times
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path

from perp.lab.runs import runner
from perp.lab.runs.cluster import ClusterExecutor
from perp.lab.runs.isolation import open_processes
from perp.lab.runs.limits import locked
from perp.lab.runs.plan import Forecast, Plan, Policy, make_plan
from perp.lab.runs.process import Ended, row_of_end
from perp.lab.runs.row import CRASHED, TROUBLE
from perp.lab.runs.runner import Executor, Reporter, Runner, TaskLost
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task
from perp.problems.inputs import require_count


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
    reporter: Reporter[Ended] | None = None,
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
    told: Reporter[Ended] = reporter or Reporter()
    with locked(place):
        plan = make_plan(tasks, store, Policy(resume, retry))
        skipped = store.skipped
        told.planned(plan.to_run, len(plan.taken))
        troubles = Counter(plan.former[task.key]["status"] for task in plan.taken)
        if plan.to_run:
            troubles += _run_plan(_LabRunner(store, plan, workers, cluster, told))
        store.compact()
    failed = Counter({name: troubles[name] for name in TROUBLE if troubles[name]})
    return Outcome(plan.to_run, len(plan.taken), failed, skipped)


def _run_plan(lab: _LabRunner) -> Counter[str]:
    """How many rows ended in which status."""
    try:
        together = [ended.status for ended in lab.run(lab.plan.together)]
        return Counter([*together, *(ended.status for ended in lab.run(lab.plan.alone, width=1))])
    finally:
        lab.executor.close()


class _LabRunner(Runner[Ended]):
    """Tasks of a plan: processes write the rows of those that end well, this one the others."""

    def __init__(
        self, store: RowStore, plan: Plan, workers: int | None, cluster: str | None, reporter: Reporter[Ended]
    ) -> None:
        def open_executor() -> Executor[Ended]:
            if cluster is not None:
                return ClusterExecutor(cluster, store.folder, plan)
            return open_processes(store.folder, plan.to_run, workers or os.cpu_count() or 1)

        super().__init__(open_executor, reporter)
        self.store, self.plan = store, plan
        self.left: dict[str, Task] = {task.key: task for task in (*plan.together, *plan.alone)}
        self.forecast: Forecast = Forecast(plan.former, self.executor.width)

    def keep(self, task: Task, row: Ended) -> None:
        if not row.wrote:
            self.store.write(row_of_end(task, row))
        if isfinite(row.wall_seconds):
            self.forecast.learn(row.wall_seconds)
        del self.left[task.key]

    def give_up(self, task: Task, reason: TaskLost) -> Ended:
        told = f"started {runner.ATTEMPTS} times, and each time {reason}"
        return Ended(CRASHED, False, told, time.time(), nan)

    def seconds_left(self) -> float:
        alone = [task for task in self.left.values() if task.timed]
        return self.forecast.seconds_left((task for task in self.left.values() if not task.timed), alone)
