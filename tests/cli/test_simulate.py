"""`perp simulate` runs scenes, says how it went, and leaves readable files however it ends."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from small_worlds import Pucks, pucks

import perp
from perp.cli import progress
from perp.problems.files import load, load_solution
from perp.recording import Recording
from perp.scenes import catalogue
from perp.viewer.replay import read_recipe

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def pucks_scene(monkeypatch):
    """A small scene in the catalogue, for as long as a test runs."""
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    catalogue.scene("a test", dt=0.01, method="pgs", iterations=40)(pucks)


def test_a_summary_tells_how_it_went(perp_command):
    answer = perp_command("simulate", "pucks", "--steps", 20, "--size", "count=3", "--seed", 2)
    assert answer.code == 0
    assert answer.err == ""
    for part in (
        "pucks, count=3, boost=1.0, limits=0, seed=2",
        "DONE: every step was taken (20 of 20 steps of 0.01 s)",
        "residual",
        "energy error",
        "iterations",
        "penetration",
        "change",
        "steps/s",
    ):
        assert part in answer.out


def test_json_is_one_object_and_nothing_else(perp_command, tmp_path):
    files = ("--dump-problems", tmp_path / "steps")
    answer = perp_command("simulate", "pucks", "--steps", 12, "--json", *files)
    assert answer.code == 0
    told = json.loads(answer.out)
    assert (told["scene"], told["steps"], told["ended"], told["success"]) == ("pucks", 12, "DONE", True)
    assert (told["options"], told["seed"]) == ({"count": 2, "boost": 1.0, "limits": 0}, 0)
    assert (told["method"], told["run"]["model"], told["dt"], told["bodies"]) == ("pgs", "box", 0.01, 2)
    assert 0.0 <= told["residual_mean"] <= told["residual_max"] <= 1e-8
    assert told["dump_problems"] == str(tmp_path / "steps")
    assert told["record"] is None
    world = Pucks(2)
    for _ in range(12):
        world.step(0.01, lambda problem, x0: perp.solve(problem, "pgs", x0=x0, max_iterations=40))
    assert told["fingerprint"] == world.fingerprint()


def test_the_options_of_the_run_reach_the_solver(perp_command):
    def run(*words):
        return json.loads(perp_command("simulate", "pucks", "--steps", 15, "--json", *words).out)

    relaxed = run("--method", "psor", "--method-option", "relaxation=1.2")
    assert (relaxed["method"], relaxed["run"]["method_options"]) == ("psor", {"relaxation": "1.2"})
    assert relaxed["iterations_mean"] > run("--method", "psor", "--method-option", "relaxation=1.0")["iterations_mean"]
    assert run("--tol", 0, "--max-iterations", 7)["iterations_max"] == 7
    assert run("--tol", 0)["iterations_max"] <= 40
    assert run("--cold")["warm"] == 0 < run()["warm"]
    assert run("--model", "convex", "--method", "block_gauss_seidel")["run"]["model"] == "convex"
    assert run("--dt", 0.02)["dt"] == 0.02
    assert run("--islands", "--method", "auto")["converged"] == 15


def test_what_is_recorded_dumped_and_drawn_lies_where_it_was_asked_for(perp_command, tmp_path):
    pytest.importorskip("h5py")
    pytest.importorskip("matplotlib")
    record, folder, picture = tmp_path / "run.hdf5", tmp_path / "steps", tmp_path / "end.png"
    files = ("--record", record, "--dump-problems", folder, "--plot", picture)
    answer = perp_command("simulate", "pucks", "--steps", 8, "--cold", *files)
    assert answer.code == 0, answer.err
    assert f"wrote {record} (9 frames)" in answer.out
    assert f"wrote {folder}" in answer.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    with Recording(record) as recording:
        assert (recording.scene, recording.method, len(recording)) == ("pucks", "pgs", 9)
        own = {"count": 2, "boost": 1.0, "limits": 0}
        assert {name: recording.options[name] for name in own} == own
        assert recording.options["run"] == {
            "model": "box",
            "warm_start": False,
            "contact_compliance": 0.0,
            "compliance_units": "by_inertia",
            "islands": False,
            "tol": None,
            "max_iterations": 40,
            "method_options": {},
        }
        for step in range(1, 9):
            problem = load(folder / f"step_{step:06d}.npz")
            x = load_solution(folder / f"step_{step:06d}.npz")
            assert perp.verify(problem, x).residual == recording.statistics["residual"][step]
            assert perp.solve(problem, "pgs", max_iterations=40).residual == recording.statistics["residual"][step]


def test_perp_simulate_in_python_has_the_same_numbers_and_records_the_same_file(perp_command, tmp_path):
    pytest.importorskip("h5py")
    words = ("--steps", 15, "--size", "count=3", "--seed", 2, "--tol", 1e-6, "--method-option", "relaxation=1.2")
    told = perp_command("simulate", "pucks", "--method", "psor", *words, "--record", tmp_path / "line.hdf5", "--json")
    assert told.code == 0, told.err
    made = perp.scenes.make("pucks", count=3, seed=2)
    result = perp.simulate(made, 15, method=perp.PSOR(relaxation=1.2), tol=1e-6, record=tmp_path / "call.hdf5")
    row = json.loads(told.out)
    clocked = ("second", "share")
    own = {name: value for name, value in result.summary().as_row().items() if not any(c in name for c in clocked)}
    assert {name: row[name] for name in own} == own
    assert row["run"] == result.settings.tell()
    with Recording(tmp_path / "line.hdf5") as line, Recording(tmp_path / "call.hdf5") as call:
        assert line.description == call.description
        assert read_recipe(call.description).method.options == {"relaxation": 1.2}
        assert len(line) == len(call) == 16
        assert line.statistics.keys() == call.statistics.keys() == result.statistics.keys()
        for name in line.statistics.keys() - {name for name in result.statistics if "seconds" in name}:
            np.testing.assert_array_equal(call.statistics[name], line.statistics[name])
        for one, other in zip(line, call, strict=True):
            np.testing.assert_array_equal(one.position, other.position)
            np.testing.assert_array_equal(one.contacts.impulse, other.contacts.impulse)


def test_a_state_that_becomes_infinite_exits_with_1_names_the_step_and_keeps_the_last_frame(perp_command, tmp_path):
    pytest.importorskip("h5py")
    record = tmp_path / "run.hdf5"
    answer = perp_command("simulate", "pucks", "--size", "boost=1e60", "--record", record)
    assert answer.code == 1
    assert "NOT_FINITE: the state is not finite after step 6" in answer.out
    assert answer.err.startswith("perp: the state is not finite after step 6")
    with Recording(record) as recording:
        assert len(recording) == 6
        assert np.isfinite(recording[-1].velocity).all()
    told = json.loads(perp_command("simulate", "pucks", "--size", "boost=1e60", "--json").out)
    assert (told["ended"], told["failed_step"], told["steps"], told["success"]) == ("NOT_FINITE", 6, 5, False)


INTERRUPTED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from perp.cli.main import app
from perp.scenes import catalogue
from perp.viewer.replay import read_recipe
from small_worlds import Pucks, pucks

catalogue.scene("a test", dt=0.01, method="pgs")(pucks)
step = Pucks.step

def press(self, *words):
    if self.steps == 20:
        os.kill(os.getpid(), signal.SIGINT)
    return step(self, *words)

Pucks.step = press
signal.signal(signal.SIGINT, signal.default_int_handler)
app(sys.argv[2:])
"""


def test_a_real_interrupt_exits_with_130_and_leaves_a_readable_recording(tmp_path):
    pytest.importorskip("h5py")
    record = tmp_path / "run.hdf5"
    words = ("simulate", "pucks", "--steps", 10**9, "--record", record)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(TESTS), *map(str, words)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr == ""
    assert "INTERRUPTED: the run was interrupted from the keyboard after step 20" in done.stdout
    with Recording(record) as recording:
        assert len(recording) == 21


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("puks",), "did you mean 'pucks'"),
        (("pucks", "--size", "cont=3"), "did you mean 'count'"),
        (("pucks", "--size", "count=0"), "count is 0"),
        (("pucks", "--size", "count=many"), "count is 'many'"),
        (("pucks", "--size", "count"), "--size 'count': name=value is needed"),
        (("pucks", "--method", "pgss"), "did you mean 'pgs'"),
        (("pucks", "--method-option", "relaxation=9", "--method", "psor"), "relaxation"),
        (("pucks", "--method-option", "relaxation=much", "--method", "psor"), "--method-option relaxation: 'much'"),
        (("pucks", "--method-option", "relaxation=1", "--method", "auto"), "--method-option relaxation: 'auto'"),
        (("pucks", "--model", "cube"), "--model 'cube' is unknown"),
        (("pucks", "--steps", "-1"), "steps is -1"),
        (("pucks", "--dt", "0"), "dt is 0"),
        (("pucks", "--tol", "-1"), "tol is -1"),
        (("pucks", "--seed", "-1"), "seed is -1"),
        (("pucks", "--record", "run.npz"), "must end in .hdf5 or .h5"),
        (("pucks", "--record", "nowhere/run.hdf5"), "there is no such folder"),
        (("pucks", "--plot", "end.txt"), "must end in .png"),
        (("pucks", "--plot", "nowhere/end.png"), "there is no such folder"),
        (("pucks", "--dump-format", "mtx", "--dump-problems", "steps"), "--dump-format 'mtx' is unknown"),
        (("pucks", "--dump-format", "fclib", "--dump-problems", "steps"), "this world has model='box'"),
        (("pucks", "--method", "lemke", "--model", "cone"), "lemke"),
    ],
)
def test_bad_requests_are_one_line_and_exit_code_2_and_write_nothing(perp_command, tmp_path, monkeypatch, words, part):
    pytest.importorskip("h5py")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    answer = perp_command("simulate", *words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err
    assert list(tmp_path.iterdir()) == []


def test_rows_that_fclib_cannot_hold_are_refused_at_their_step(perp_command, tmp_path):
    pytest.importorskip("h5py")
    words = ("--size", "limits=1", "--model", "cone", "--method", "auto")
    answer = perp_command("simulate", "pucks", *words, "--dump-problems", tmp_path / "steps", "--dump-format", "fclib")
    assert answer.code == 2
    assert "step_000001.hdf5: FCLIB holds contacts only" in answer.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_locked_folder_is_found_out_before_the_run(perp_command, tmp_path):
    tmp_path.chmod(0o500)
    answer = perp_command("simulate", "pucks", "--record", tmp_path / "run.hdf5")
    assert (answer.code, "cannot be written" in answer.err) == (2, True)


@pytest.mark.parametrize(("package", "words"), [("h5py", ("--record", "r.hdf5")), ("matplotlib", ("--plot", "p.png"))])
def test_a_missing_package_is_named_before_the_run(perp_command, monkeypatch, tmp_path, package, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    answer = perp_command("simulate", "pucks", *words)
    assert answer.code == 2
    assert f"pip install {package}" in answer.err


@pytest.fixture
def terminal(monkeypatch):
    """A console that believes in its terminal, and the text that it shows."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=160)
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    return text


def test_on_a_terminal_a_bar_shows_rate_contacts_and_residual_on_stderr(perp_command, terminal):
    answer = perp_command("simulate", "pucks", "--steps", 30)
    assert answer.code == 0
    shown = terminal.getvalue()
    assert "30/30" in shown
    assert "steps/s" in shown
    assert "contacts" in shown
    assert "residual" in shown
    assert "steps/s" in answer.out
    assert "30/30" not in answer.out


@pytest.mark.parametrize("words", [("--quiet",), ("--json",)])
def test_nobody_is_shown_a_bar_who_does_not_want_one(perp_command, terminal, words):
    assert perp_command("simulate", "pucks", "--steps", 3, *words).code == 0
    assert terminal.getvalue() == ""


def test_a_first_step_that_takes_long_is_explained(terminal, monkeypatch):
    monkeypatch.setattr(progress, "COMPILING", 0.0)
    with progress.following_steps(10, quiet=False):
        pass
    assert "compiling kernels" in terminal.getvalue()
