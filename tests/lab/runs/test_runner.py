"""The loop of every experiment, with tasks that only make words."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from perp.lab.runs.runner import ATTEMPTS, Here, ProcessesLost, Reporter, Runner, TaskLost
from perp.lab.runs.task import Task


def task(name):
    return Task("word", {"name": name}, label=name)


class Keeper(Runner):
    """Keeps words in a list; "old" is there already."""

    def __init__(self, open_executor, reporter=None):
        super().__init__(open_executor, reporter)
        self.kept = []

    def find(self, task):
        return "OLD" if task.name == "old" else None

    def keep(self, task, row):
        self.kept.append(row)

    def give_up(self, task, reason):
        return f"{task.name}: {reason}"


def upper(task):
    return task.name.upper()


def test_former_rows_come_in_their_place_and_are_not_made_again():
    runner = Keeper(lambda: Here(upper))
    assert list(runner.run(map(task, ("a", "old", "b")))) == ["A", "OLD", "B"]
    assert runner.kept == ["A", "B"]


def test_a_task_may_depend_on_the_rows_before_it():
    runner = Keeper(lambda: Here(upper))

    def tasks():
        for _ in range(3):
            yield task(f"{len(runner.kept)}")

    assert list(runner.run(tasks())) == ["0", "1", "2"]


def test_the_reporter_hears_of_a_row_after_it_was_kept():
    heard = []

    class Listener(Reporter):
        def finished(self, task, row, seconds_left):
            heard.append((task.name, row, list(runner.kept)))

    runner = Keeper(lambda: Here(upper), Listener())
    list(runner.run([task("a"), task("b")]))
    assert heard == [("a", "A", ["A"]), ("b", "B", ["A", "B"])]


def test_what_the_work_raises_ends_the_run():
    with pytest.raises(ZeroDivisionError):
        list(Keeper(lambda: Here(lambda task: 1 / 0)).run([task("a")]))


class Losing(Here):
    """Loses every task but "kept", and with `error` itself."""

    def __init__(self, error, opened):
        super().__init__(upper)
        self.error, self.started = error, []
        opened.append(self)

    def start(self, task):
        self.started.append(task.name)
        if task.name == "kept":
            return super().start(task)
        future = Future()
        future.set_exception(self.error("lost"))
        return future


@pytest.mark.parametrize(("error", "executors"), [(TaskLost, 1), (ProcessesLost, ATTEMPTS)])
def test_lost_tasks_are_started_again_after_the_others(error, executors):
    opened = []
    runner = Keeper(lambda: Losing(error, opened))
    assert list(runner.run([task("a"), task("kept")])) == ["KEPT", "a: lost"]
    assert len(opened) == executors
    assert sum(one.started.count("a") for one in opened) == ATTEMPTS
