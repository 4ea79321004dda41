"""Tasks in processes of their own: whatever becomes of one, the others have their rows, and no row is made twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from lab_deeds import HERE, deed, is_alive, log_lines, times_begun, wait_until

from perp.lab.runs import driver, isolation, runner
from perp.lab.runs.driver import run_tasks
from perp.lab.runs.isolation import CannotStart, FreshProcesses
from perp.lab.runs.limits import FolderInUse, locked
from perp.lab.runs.row import CRASHED, DONE, FAILED, OUT_OF_MEMORY, TIME_OUT
from perp.lab.runs.runner import Reporter
from perp.lab.runs.store import RowStore

pytest.importorskip("duckdb")

pytestmark = pytest.mark.usefixtures("own_works")

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="forks, and limits of memory, are those of Linux")

DRIVER = """
import sys
from pathlib import Path
from lab_deeds import deed
from perp.lab.runs import isolation
from perp.lab.runs.driver import run_tasks
isolation.WORTH_WARMING = 10**6
folder = Path(sys.argv[1])
tasks = [deed("work", number) for number in range(3)] + [deed("wait", number) for number in range(2)]
try:
    run_tasks(tasks, folder, workers=2)
except KeyboardInterrupt:
    sys.exit(130)
"""
"""A run of which three tasks finish, and two wait for a file."""


class Listener(Reporter):
    def __init__(self):
        self.told = []

    def planned(self, to_run, taken):
        self.told.append((to_run, taken))

    def finished(self, task, ended, seconds_left):
        self.told.append((task.name, ended.status, seconds_left >= 0.0))


def rows_by_name(folder, tasks):
    return {row.name: row for row in RowStore(folder).read(tasks).values()}


@linux_only
def test_every_end_of_a_process_is_a_row(tmp_path):
    tasks = [
        deed("work", 1),
        deed("die"),
        deed("exit_early"),
        deed("fail"),
        deed("miss"),
        deed("interrupt"),
        deed("allocate", memory_megabytes=1000),
        deed("sleep", wall_seconds=0.5),
        deed("work", 2),
        deed("work", 3, timed=True),
    ]
    before = dict(os.environ)
    listener = Listener()
    outcome = run_tasks(tasks, tmp_path, workers=2, reporter=listener)
    assert dict(os.environ) == before
    rows = rows_by_name(tmp_path, tasks)
    assert {name: row.status for name, row in rows.items()} == {
        "work 1": DONE,
        "die 0": CRASHED,
        "exit_early 0": CRASHED,
        "fail 0": FAILED,
        "miss 0": FAILED,
        "interrupt 0": CRASHED,
        "allocate 0": OUT_OF_MEMORY,
        "sleep 0": TIME_OUT,
        "work 2": DONE,
        "work 3": DONE,
    }
    assert "SIGKILL" in rows["die 0"].found.message
    assert "exit code 3" in rows["exit_early 0"].found.message
    assert rows["fail 0"].found.message == "ValueError: this cannot be done"
    assert "elsewhere" in rows["miss 0"].found.message
    assert rows["interrupt 0"].found.message.endswith("KeyboardInterrupt: not from the keyboard")
    assert "0.5 s" in rows["sleep 0"].found.message
    assert rows["sleep 0"].circumstances.limit_seconds == 0.5
    assert rows["allocate 0"].circumstances.limit_megabytes == 1000.0
    assert {row.circumstances.threads for row in rows.values()} == {1}
    assert [name for name, row in rows.items() if row.circumstances.alone] == ["work 3"]
    assert (outcome.run, outcome.taken, outcome.failed) == (10, 0, 7)
    assert outcome.troubles == {FAILED: 2, CRASHED: 3, TIME_OUT: 1, OUT_OF_MEMORY: 1}
    assert listener.told[0] == (10, 0)
    assert listener.told[-1] == ("work 3", DONE, True)
    assert not any(is_alive(int(pid)) for _, _, pid in log_lines(tmp_path))
    _nothing_is_run_twice_unless_asked_for(tmp_path, tasks)


def _nothing_is_run_twice_unless_asked_for(folder, tasks):
    again = run_tasks(tasks, folder, workers=2)
    assert (again.run, again.taken, again.failed) == (1, 9, 7)  # what misses a library may have it by now
    assert {name for name, times in times_begun(folder).items() if times > 1} == {"miss 0"}
    retried = run_tasks(tasks, folder, workers=2, retry=True)
    assert (retried.run, retried.taken, retried.failed) == (7, 3, 7)
    assert {name for name, times in times_begun(folder).items() if times == 1} == {"work 1", "work 2", "work 3"}


def test_fresh_interpreters_do_the_same_where_forks_are_not_safe(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "FORKS", False)
    tasks = [deed("work", 1), deed("fail"), deed("exit_early"), deed("sleep", wall_seconds=0.5)]
    outcome = run_tasks(tasks, tmp_path, workers=4)
    rows = rows_by_name(tmp_path, tasks)
    statuses = {name: row.status for name, row in rows.items()}
    assert statuses == {"work 1": DONE, "fail 0": FAILED, "exit_early 0": CRASHED, "sleep 0": TIME_OUT}
    assert rows["work 1"].circumstances.threads == 1
    assert outcome.failed == 3


def test_fresh_interpreters_end_when_they_are_not_needed_any_more(tmp_path):
    processes = FreshProcesses(tmp_path)
    futures = [processes.start(deed("sleep", number)) for number in range(2)]
    wait_until(lambda: len(log_lines(tmp_path)) == 2)
    processes.close()
    for future in futures:
        with pytest.raises(isolation.ProcessesLost):
            future.result(60)
    wait_until(lambda: not any(is_alive(int(pid)) for _, _, pid in log_lines(tmp_path)))


@linux_only
def test_a_server_that_is_killed_is_replaced_and_its_tasks_are_begun_again(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ATTEMPTS", 2)
    tasks = [deed("kill_server"), deed("work", 1), deed("work", 2)]
    outcome = run_tasks(tasks, tmp_path, workers=1)
    rows = rows_by_name(tmp_path, tasks)
    assert {name: row.status for name, row in rows.items()} == {
        "kill_server 0": CRASHED,
        "work 1": DONE,
        "work 2": DONE,
    }
    assert "started 2 times" in rows["kill_server 0"].found.message
    assert outcome.failed == 1
    assert times_begun(tmp_path) == {"kill_server 0": 2, "work 1": 1, "work 2": 1}
    assert not any(is_alive(int(pid)) for _, _, pid in log_lines(tmp_path))


@linux_only
def test_a_server_that_cannot_start_ends_the_run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "duckdb.py").write_text("raise RuntimeError('no such luck')")
    with pytest.raises(CannotStart):
        run_tasks([deed("work")], tmp_path / "rows", workers=1)
    assert "no such luck" in capfd.readouterr().err


def start_driver(folder):
    words = [sys.executable, "-c", DRIVER, str(folder)]
    path = os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])
    started = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": path})
    store = RowStore(folder)
    wait_until(lambda: len(store.query("SELECT key FROM rows")) == 3 and len(log_lines(folder)) == 5)
    return started


@linux_only
@pytest.mark.parametrize(("way", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_driver_that_ends_takes_its_tasks_along_and_goes_on_later(tmp_path, way, code):
    started = start_driver(tmp_path)
    started.send_signal(way)
    assert started.wait(60) == code
    wait_until(lambda: not any(is_alive(int(pid)) for _, _, pid in log_lines(tmp_path)))
    (tmp_path / "go").touch()
    tasks = [deed("work", number) for number in range(3)] + [deed("wait", number) for number in range(2)]
    stamps = {key: row.circumstances.started for key, row in RowStore(tmp_path).read(tasks).items()}
    outcome = run_tasks(tasks, tmp_path, workers=2)
    assert (outcome.run, outcome.taken, outcome.failed) == (2, 3, 0)
    assert times_begun(tmp_path) == {"work 0": 1, "work 1": 1, "work 2": 1, "wait 0": 2, "wait 1": 2}
    rows = RowStore(tmp_path).read(tasks)
    assert len(rows) == 5
    assert {key: rows[key].circumstances.started for key in stamps} == stamps


def test_one_run_at_a_time_is_at_work_in_a_folder(tmp_path):
    pytest.importorskip("fcntl")
    with locked(tmp_path), pytest.raises(FolderInUse, match="another run"):
        run_tasks([deed("work")], tmp_path)


def test_nothing_is_started_where_there_is_nothing_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "open_processes", None)
    assert (run_tasks([], tmp_path).run, RowStore(tmp_path).read()) == (0, {})


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_a_senseless_number_of_workers_is_refused(tmp_path, workers):
    with pytest.raises((ValueError, TypeError), match="workers"):
        run_tasks([], tmp_path, workers=workers)


@linux_only
def test_many_threads_may_ask_one_server(tmp_path):
    processes = isolation.ForkedProcesses(tmp_path)
    try:
        with ThreadPoolExecutor(4) as pool:
            ends = list(pool.map(lambda number: processes.start(deed("work", number)).result(), range(12)))
    finally:
        processes.close()
    assert {end.status for end in ends} == {DONE}
    assert sorted(times_begun(tmp_path)) == sorted(f"work {number}" for number in range(12))
