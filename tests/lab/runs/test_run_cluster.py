"""Tasks on a Dask scheduler: two workers on this machine, one of which is killed on the way."""

from __future__ import annotations

import logging
import os
import signal
import sys
from dataclasses import replace
from threading import Thread

import pytest
from lab_deeds import deed, is_alive, log_lines, times_begun, wait_until

from perp.errors import MissingExtra
from perp.lab.runs import cluster
from perp.lab.runs.circumstances import observe
from perp.lab.runs.cluster import ClusterError
from perp.lab.runs.driver import run_tasks
from perp.lab.runs.row import CRASHED, DONE, LabRow, Measurement
from perp.lab.runs.store import RowStore

pytest.importorskip("duckdb")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("own_works")


@pytest.fixture
def two_workers(own_works):
    """A scheduler and two workers of one thread each, in processes of their own."""
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
        "host": "127.0.0.1",
        "silence_logs": logging.CRITICAL,
    }
    with distributed.LocalCluster(**settings) as made:
        yield made


def pids_of(made):
    return {name: worker.pid for name, worker in made.workers.items()}


def test_a_worker_that_is_killed_costs_no_row_and_finished_rows_are_not_made_again(tmp_path, two_workers):
    tasks = [deed("work", number) for number in range(6)] + [deed("die"), deed("wait"), deed("work", 9, timed=True)]
    outcomes = []
    run = Thread(target=lambda: outcomes.append(run_tasks(tasks, tmp_path, cluster=two_workers.scheduler_address)))
    run.start()
    wait_until(lambda: "wait 0" in times_begun(tmp_path) and len(RowStore(tmp_path).query("SELECT key FROM rows")) == 7)
    finished = times_begun(tmp_path)
    (waiting,) = [int(pid) for name, _, pid in log_lines(tmp_path) if name == "wait"]
    os.kill(worker_above(waiting, set(pids_of(two_workers).values())), signal.SIGKILL)
    wait_until(lambda: not is_alive(waiting))  # what the worker had started ends with it
    (tmp_path / "go").touch()
    run.join(120)
    assert not run.is_alive()
    ((outcome),) = outcomes
    assert (outcome.run, outcome.taken, outcome.troubles) == (9, 0, {CRASHED: 1})
    rows = {row.name: row for row in RowStore(tmp_path).read(tasks).values()}
    assert {row.status for name, row in rows.items() if name != "die 0"} == {DONE}
    assert "SIGKILL" in rows["die 0"].found.message
    assert {row.circumstances.threads for row in rows.values()} == {1}
    begun = times_begun(tmp_path)
    assert begun["wait 0"] == 2
    assert all(begun[name] == times for name, times in finished.items() if name != "wait 0")
    assert not list(tmp_path.glob(".probe*"))
    again = run_tasks(tasks, tmp_path, cluster=two_workers.scheduler_address)
    assert (again.run, again.taken) == (0, 9)


def worker_above(pid, workers):
    """The worker that a task's process belongs to: the parent of its parent, the server."""
    while pid not in workers:
        with open(f"/proc/{pid}/stat") as status:
            pid = int(status.read().rpartition(")")[2].split()[1])
        assert pid > 1, "the task was not started by a worker"
    return pid


def test_a_result_that_was_lost_is_not_measured_again(tmp_path):
    task = deed("work")
    RowStore(tmp_path).write(LabRow(task, Measurement(DONE), replace(observe(), started=5.0, wall_seconds=1.0)))
    (tmp_path / ".probe").touch()
    told = cluster.carry_out_here(task.to_json(), str(tmp_path), ".probe", 4.0)
    assert (told["status"], told["started"]) == (DONE, 5.0)
    assert log_lines(tmp_path) == []
    assert cluster.find_end(RowStore(tmp_path), task, 5.0) is None
    with pytest.raises(FileNotFoundError, match="has ended"):
        cluster.carry_out_here(task.to_json(), str(tmp_path), ".another-run", None)


def test_a_folder_that_workers_do_not_share_is_refused(tmp_path, two_workers, monkeypatch):
    monkeypatch.setattr(cluster, "VISIBLE_SECONDS", 0.0)
    monkeypatch.setattr(cluster, "_appears", lambda path: False)
    with pytest.raises(ClusterError, match="has another folder"):
        run_tasks([deed("work")], tmp_path, cluster=two_workers.scheduler_address)
    told = two_workers.scheduler_address
    with cluster.connect(told) as client:
        for answer in client.run(cluster.look_here, str(tmp_path / "elsewhere"), ".probe").values():
            assert "not seen" in answer["trouble"]


def test_a_scheduler_that_is_lost_ends_the_run_and_leaves_no_false_rows(tmp_path, two_workers, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    tasks = [deed("work", 1), deed("wait", 1), deed("wait", 2), deed("work", 2)]
    failures = []

    def run_until_it_fails():
        try:
            run_tasks(tasks, tmp_path, cluster=two_workers.scheduler_address)
        except ClusterError as failure:
            failures.append(str(failure))

    run = Thread(target=run_until_it_fails)
    run.start()
    wait_until(lambda: {"work 1", "wait 1", "wait 2"} <= set(times_begun(tmp_path)))
    two_workers.close()
    run.join(60)
    assert len(failures) == 1
    assert "no scheduler answers" in failures[0]
    assert {row.status for row in RowStore(tmp_path).read(tasks).values()} == {DONE}
    wait_until(lambda: not any(is_alive(int(pid)) for _, _, pid in log_lines(tmp_path)))


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"127\.0\.0\.1:1"):
        run_tasks([deed("work")], tmp_path, cluster="tcp://127.0.0.1:1")


@pytest.mark.parametrize("address", ["nonsense", "", "tcp://", "carrier-pigeon://loft:1"])
def test_what_is_no_address_is_refused_at_once(tmp_path, address):
    with pytest.raises(ClusterError, match=r"no address of a scheduler, such as tcp://host:8786"):
        run_tasks([deed("work")], tmp_path, cluster=address)


def test_timed_tasks_stay_with_one_worker_while_others_join():
    class Listed:
        def scheduler_info(self, n_workers):
            return {"workers": dict.fromkeys(self.names)}

    made = object.__new__(cluster.ClusterExecutor)
    made.client, made.timing = Listed(), "tcp://b:1"
    chosen = []
    for names in (["tcp://a:1", "tcp://b:1"], [], ["tcp://d:1", "tcp://c:1"], ["tcp://a:1", "tcp://c:1"]):
        made.client.names = names
        chosen.append(made._timing_worker())
    assert chosen == ["tcp://b:1", "tcp://b:1", "tcp://c:1", "tcp://c:1"]


def test_a_missing_library_is_named_with_its_extra_cluster(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"distributed.*cluster"):
        run_tasks([deed("work")], tmp_path, cluster="tcp://127.0.0.1:1")


def test_workers_are_those_of_the_cluster(tmp_path):
    with pytest.raises(ValueError, match="workers"):
        run_tasks([], tmp_path, workers=2, cluster="tcp://127.0.0.1:1")
