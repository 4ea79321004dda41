"""`perp lab run` as a user runs it, on experiments made up for it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from perp.cli import progress
from perp.cli.errors import CommandError
from perp.cli.lab import chosen_ids
from perp.lab.experiments import catalogue
from perp.lab.experiments.catalogue import FILES
from perp.lab.experiments.experiment import Experiment
from perp.lab.runs import isolation
from perp.lab.runs.process import Ended
from perp.lab.runs.row import CRASHED, DONE
from perp.lab.runs.store import RowStore
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

pytest.importorskip("duckdb")


def make_tasks(quick: bool) -> list[Task]:
    """Two that converge and one whose method does not exist."""
    stop = {"max_iterations": 500}
    n = 8 if quick else 27
    return [solve_task(gallery("fluid_like", n), method, stop) for method in ("pgs", "lemke", "no_such_method")]


@pytest.fixture
def one_experiment(monkeypatch):
    made = Experiment("slides-basic", "SLIDES", "text", "", "", "", 1.0, (), make_tasks, lambda rows: {})
    monkeypatch.setattr(catalogue, "find_experiment", lambda identity: made)
    monkeypatch.setattr(isolation, "WORTH_WARMING", 10**6)


def test_ids_are_named_one_by_one_by_their_source_or_all():
    assert chosen_ids(["thesis-fig6.1", "notes-fig2", "notes-fig2"]) == ["notes-fig2", "thesis-fig6.1"]
    assert chosen_ids(["slides"]) == ["slides-basic", "slides-intermediate", "slides-advanced"]
    assert chosen_ids(["amgs", "all"]) == list(FILES)
    with pytest.raises(CommandError, match="did you mean 'notes-fig2'"):
        chosen_ids(["note-fig2"])


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("run",), "Missing argument"),
        (("run", "slides-bsic"), "did you mean 'slides-basic'"),
        (("run", "all", "--workers", "0"), "--workers"),
        (("run", "all", "--workers", "2", "--cluster", "tcp://127.0.0.1:1"), "--cluster"),
        (("rnu",), "run"),
        (("run", "notes-fig2", "--quick", "--set", "relaxaton=1.2"), "did you mean 'relaxation'"),
        (("run", "notes-fig2", "--quick", "--set", "relaxation"), "--set 'relaxation': name=value is needed"),
        (("run", "notes-fig2", "--quick", "--set", "relaxation=7"), "between 0 and 2"),
    ],
)
def test_bad_usage_of_the_lab_is_one_line_and_exit_code_2(perp_command, words, part):
    answer = perp_command("lab", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("perp: error: ")
    assert part in answer.err


@pytest.mark.parametrize("words", [("lab",), ("lab", "--help"), ("lab", "run", "--help")])
def test_the_lab_explains_itself(perp_command, words):
    answer = perp_command(*words)
    assert answer.code == 0
    assert "Usage: perp lab" in answer.out


@pytest.mark.usefixtures("one_experiment")
def test_a_run_keeps_rows_says_what_failed_and_does_not_repeat_itself(perp_command, tmp_path):
    out = tmp_path / "rows of mine"
    words = ("lab", "run", "slides-basic", "--quick", "--workers", 2, "--out", out)
    answer = perp_command(*words)
    assert answer.code == 0
    assert f"3 rows run, 0 taken from before, 1 failed (1 FAILED); they are in {out}\n" in answer.out
    assert f"next: perp lab report --from {out}\n" in answer.out
    assert answer.err.startswith("3 tasks to run, 0 rows are there already\n")
    assert "FAILED solve no_such_method" in answer.err
    assert "3 of 3 tasks, 0:00:00 left" in answer.err
    rows = RowStore(out).read(make_tasks(True))
    assert {row.task.method: row.success for row in rows.values()} == {
        "pgs": True,
        "lemke": True,
        "no_such_method": False,
    }
    (out / "rows" / "notes.parquet").write_text("no rows")
    again = perp_command(*words)
    assert "perp: 1 damaged or foreign files were left out: notes.parquet\n" in again.err
    assert "0 rows run, 3 taken from before, 1 failed (1 FAILED)" in again.out
    retried = perp_command(*words, "--retry")
    assert "1 rows run, 2 taken from before, 1 failed (1 FAILED)" in retried.out


@pytest.mark.usefixtures("one_experiment")
def test_an_option_is_changed_for_the_methods_that_have_it(perp_command, tmp_path):
    words = ("lab", "run", "slides-basic", "--quick", "--workers", 2, "--out", tmp_path, "--set", "order=backward")
    assert "3 rows run" in perp_command(*words).out
    options = {row.task.method: row.task.options for row in RowStore(tmp_path).read().values()}
    assert options == {"pgs": {"order": "backward"}, "lemke": {}, "no_such_method": {}}


@pytest.mark.usefixtures("one_experiment")
def test_without_its_library_the_lab_says_what_to_install(perp_command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    answer = perp_command("lab", "run", "slides-basic", "--out", tmp_path)
    assert answer.code == 2
    assert "duckdb" in answer.err
    assert "'lab'" in answer.err


INTERRUPTED = """
import sys
from pathlib import Path
from perp.cli.main import app
from perp.lab.experiments import catalogue
from perp.lab.experiments.experiment import Experiment
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task
stop = {"tol": 0.0, "max_iterations": 10**12}
tasks = [solve_task(gallery("fluid_like", 27, seed), "pgs", stop) for seed in range(2)]
made = Experiment("slides-basic", "", "", "", "", "", 1.0, (), lambda quick: tasks, lambda rows: {})
catalogue.find_experiment = lambda identity: made
app(["lab", "run", "slides-basic", "--out", sys.argv[1]])
"""


def children_of(pid: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == pid:
            found.add(int(status.parent.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_ctrl_c_ends_all_processes_of_the_run_and_exits_with_130(tmp_path):
    started = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    family: set[int] = set()
    while len(family) < 3:  # the server and two tasks
        assert time.monotonic() < limit
        time.sleep(0.05)
        servers = children_of(started.pid)
        family = servers.union(*map(children_of, servers))
    os.kill(started.pid, signal.SIGINT)
    _, told = started.communicate(timeout=60)
    assert started.returncode == 130
    assert told.endswith(
        f"perp: interrupted; the rows in {tmp_path} are kept, and the same command goes on from here\n"
    )
    assert "Traceback" not in told
    assert not any(Path(f"/proc/{pid}").exists() for pid in family)


def test_on_a_terminal_a_bar_shows_what_is_left(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(file=shown, force_terminal=True, width=100))
    task = make_tasks(True)[0]
    with progress.following_tasks() as reporter:
        reporter.planned(3, 1)
        reporter.started(task)
        reporter.bar.refresh()
        reporter.finished(task, Ended(DONE, True, "", 0.0, 1.0), 3700.0)
        reporter.bar.refresh()
        reporter.finished(task, Ended(CRASHED, False, "the process was ended by SIGSEGV", 0.0, 1.0), 60.0)
    text = shown.getvalue()
    assert "loading the kernels" in text
    assert "1:01:40 left" in text
    assert "solve pgs" in text
    assert "CRASHED solve pgs after 1.0 s: the process was ended by SIGSEGV" in text
