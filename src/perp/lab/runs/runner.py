"""The loop of every experiment: a task is data, an executor makes its row, and a reporter is told of both.

`perp lab run` gives each task a process of its own (`driver`); the demo, the survey and the benchmarks solve in this
one (`Here`). Tasks may come one by one from a generator, which has seen the rows of all earlier ones where one task
runs at a time: a measurement can depend on those before it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from math import nan
from typing import Any, Generic, Protocol, TypeVar

from perp.lab.runs.task import Task

Row = TypeVar("Row")
AnyRow = TypeVar("AnyRow", contravariant=True)

ATTEMPTS = 3
"""That a task gets, if what started it ended before the task did."""


class TaskLost(RuntimeError):
    """Nobody knows how the task ended: it may have a row or none."""


class ProcessesLost(TaskLost):
    """What starts and watches processes has itself ended; it will start no other task."""


class Reporter(Generic[AnyRow]):
    """Told what happens while tasks run; this one says nothing."""

    def planned(self, to_run: int, taken: int) -> None:
        """Before the first task; `taken` rows are there already."""

    def started(self, task: Task) -> None: ...

    def finished(self, task: Task, row: AnyRow, seconds_left: float) -> None:
        """`seconds_left` is nan where nobody can tell."""

    def passed(self, group: str) -> None:
        """All tasks of this group have rows; only a survey, which counts problems, says so."""


class Executor(Protocol[Row]):
    """Where tasks are carried out."""

    width: int
    """Tasks at a time."""

    def start(self, task: Task) -> Future[Row]:
        """The future raises `TaskLost` where nobody knows how the task ended; after `ProcessesLost` no other starts."""

    def close(self) -> None: ...


class Here(Generic[Row]):
    """In this process, one task after the other; what `perform` raises ends the run."""

    width: int = 1

    def __init__(self, perform: Callable[[Any], Row]) -> None:
        self.perform = perform

    def start(self, task: Task) -> Future[Row]:
        future: Future[Row] = Future()
        future.set_result(self.perform(task))
        return future

    def close(self) -> None:
        pass


class Runner(Generic[Row]):
    """Tasks on their way. A subclass says which rows there are already, and keeps the new ones."""

    executor: Executor[Row]

    def __init__(self, open_executor: Callable[[], Executor[Row]], reporter: Reporter[Row] | None = None) -> None:
        self.open_executor = open_executor
        self.reporter: Reporter[Row] = reporter or Reporter()
        self.attempts: Counter[int] = Counter()
        self.executor = open_executor()

    def find(self, task: Task) -> Row | None:
        """A former row that spares the task."""
        return None

    def keep(self, task: Task, row: Row) -> None:
        """Called before the reporter hears of the row."""

    def give_up(self, task: Task, reason: TaskLost) -> Row:
        """The row of a task that was lost `ATTEMPTS` times."""
        raise reason

    def seconds_left(self) -> float:
        return nan

    def run(self, tasks: Iterable[Task], width: int | None = None) -> Iterator[Row]:
        """The rows of the tasks, former ones among them, as they are ready; at most `width` tasks at a time."""
        fresh, again = iter(tasks), deque[Task]()
        running: dict[Future[Row], Task] = {}
        most, is_lost = width or self.executor.width, False
        while True:
            while len(running) < most and not (is_lost and running):
                task = next(fresh, None) or (again.popleft() if again else None)
                if task is None:
                    break
                former = self.find(task)
                if former is not None:
                    yield former
                    continue
                if is_lost:
                    self.executor.close()
                    self.executor, is_lost = self.open_executor(), False
                self.reporter.started(task)
                self.attempts[id(task)] += 1
                running[self.executor.start(task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                try:
                    row = future.result()
                except TaskLost as reason:
                    is_lost = is_lost or isinstance(reason, ProcessesLost)
                    if self.attempts[id(task)] < ATTEMPTS:
                        again.append(task)
                        continue
                    row = self.give_up(task, reason)
                del self.attempts[id(task)]
                self.keep(task, row)
                self.reporter.finished(task, row, self.seconds_left())
                yield row
