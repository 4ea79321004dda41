"""`perp view` checks the line before anything starts, shows an address that answers, and ends as it is told to."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from process_groups import living, wait_until_gone
from rich.console import Console
from small_worlds import pucks
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from perp.cli import progress
from perp.scenes import catalogue
from perp.viewer import pages, server, simulation
from perp.viewer.messages import Start
from perp.viewer.simulation import RecordedRun

PAGE = {
    "index.html": '<head><title>perp</title><link href="viewer.css"></head>'
    '<body><script src="viewer.js"></script></body>',
    "viewer.js": "run();",
    "viewer.css": "body {}",
}


@pytest.fixture(autouse=True)
def pucks_scene(monkeypatch):
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    catalogue.scene("a test", dt=0.01, method="pgs", iterations=40)(pucks)


@pytest.fixture(autouse=True)
def page_folder(monkeypatch, tmp_path):
    """A page that needs no build."""
    folder = tmp_path / "page"
    folder.mkdir()
    for name, text in PAGE.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(pages, "PAGE_FOLDER", folder)
    return folder


@pytest.fixture
def served(monkeypatch):
    """What would be served, and a server that ends as soon as it has told its address."""
    seen = {"opened": []}

    def serve(start, page, listener, *, on_ready):
        seen["start"], seen["port"] = start, listener.getsockname()[1]
        on_ready(f"http://127.0.0.1:{seen['port']}/token/")

    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(server, "open_browser", seen["opened"].append)
    return seen


def test_a_scene_is_shown_and_its_address_told(perp_command, served):
    answer = perp_command("view", "pucks")
    assert (answer.code, answer.err) == (0, "")
    address = f"http://127.0.0.1:{served['port']}/token/"
    assert answer.out == f"pucks: {address}\nCtrl-C ends it.\n"
    assert served["opened"] == [address]
    assert served["start"] == Start(scene="pucks", options={"count": 2, "boost": 1.0, "limits": 0})


def test_everything_that_the_line_says_reaches_the_simulation(perp_command, served):
    words = "pucks --count 3 --size boost=1.5 --seed 4 --model convex -m psor --method-option relaxation=1.2"
    more = "--tol 1e-5 --max-iterations 9 --dt 0.02 --contact-compliance 1e-3 --compliance-units by_load --no-browser"
    answer = perp_command("view", *words.split(), *more.split())
    assert (answer.code, served["opened"]) == (0, [])
    assert served["start"] == Start(
        scene="pucks",
        options={"count": 3, "boost": 1.5, "limits": 0},
        seed=4,
        model="convex",
        compliance=(1e-3, "by_load"),
        method="psor",
        method_options={"relaxation": 1.2},
        tol=1e-5,
        max_iterations=9,
        dt=0.02,
    )


def test_without_a_scene_there_is_a_stack(perp_command, served):
    assert perp_command("view").code == 0
    assert served["start"].scene == "stack"


@pytest.fixture
def recording(perp_command, tmp_path):
    path = tmp_path / "run.hdf5"
    assert perp_command("simulate", "pucks", "--steps", 3, "--record", path).code == 0
    return path


def test_a_recording_is_shown_wherever_the_process_stands(perp_command, served, recording, monkeypatch):
    monkeypatch.chdir(recording.parent)
    answer = perp_command("view", "--replay", recording.name)
    assert answer.code == 0
    assert answer.out.startswith("run.hdf5: http://")
    assert served["start"] == Start(replay=str(recording))


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("puks", "did you mean 'pucks'"),
        ("pucks --method pgz", "or 'pgs'"),
        ("pucks --cout 3", "neither 'perp view' nor pucks has such an option; did you mean '--count'"),
        ("pucks --count", "see 'perp view --help'"),
        ("pucks --count 0", "count is 0"),
        ("pucks --size count=many", "count is 'many'"),
        ("pucks --model wet", "--model 'wet' is unknown"),
        ("pucks -m psor --method-option relaxing=1", "relaxing"),
        ("pucks --contact-compliance -1", "--contact-compliance is -1"),
        ("pucks --compliance-units si", "add --contact-compliance VALUE"),
        ("--replay run.hdf5 --contact-compliance 1", "leave --contact-compliance away"),
        ("pucks --tol -1", "tol"),
        ("pucks --dt 0", "dt"),
        ("pucks --seed -3", "seed"),
        ("pucks --port 70000", "--port"),
        ("pucks --steps 3", "without --export nothing is written: leave --steps away"),
        ("pucks --export page.html --port 0", "--export writes a file and starts no server: leave --port away"),
        ("pucks --export page.html --no-browser", "leave --no-browser away"),
        ("pucks --export page.html --steps -1", "steps"),
        ("pucks --export page.txt", "pages are written as .html"),
        ("pucks --export missing/page.html", "there is no such folder"),
        (f"pucks --export {'a' * 300}.html", "File name too long"),
        ("pucks --replay run.hdf5", "--replay shows what was recorded: leave SCENE away"),
        ("--replay run.hdf5 --method pgs --dt 1", "leave --method and --dt away"),
        ("--replay run.hdf5 --count 3", "leave --count away"),
        ("--replay run.hdf5 --export page.html --steps 3", "leave --steps away"),
        ("--replay run.hdf5", "run.hdf5: No such file or directory"),
        ("--replay notes.hdf5", "notes.hdf5"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_starts(perp_command, served, tmp_path, monkeypatch, line, part):
    monkeypatch.chdir(tmp_path)
    Path("notes.hdf5").write_text("no recording")
    answer = perp_command("view", *line.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err
    assert "start" not in served


def test_a_port_that_is_taken_is_one_line(perp_command):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = perp_command("view", "pucks", "--port", port, "--no-browser")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"perp: error: --port {port}: Address already in use: choose another one")
    assert answer.err.count("\n") == 1


def test_a_page_that_is_not_built_is_one_line(perp_command, served, page_folder):
    (page_folder / "viewer.js").unlink()
    answer = perp_command("view", "pucks")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "make viewer" in answer.err


def test_missing_packages_are_one_line_but_a_page_can_be_exported(perp_command, served, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    answer = perp_command("view", "pucks")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert 'pip install "perp[viewer]"' in answer.err
    assert perp_command("view", "pucks", "--export", tmp_path / "run.html", "--steps", 1).code == 0


def read_export(path):
    text = re.search(r'<script id="perp-recording" type="application/json">(.*?)</script>', path.read_text())[1]
    told = json.loads(text)
    return told, gzip.decompress(base64.b64decode(told["frames"]))


def test_a_scene_is_exported(perp_command, tmp_path):
    path = tmp_path / "run.html"
    answer = perp_command("view", "pucks", "--export", path, "--steps", 4)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"wrote {path}: 5 frames, 0.0 MB")
    told, frames = read_export(path)
    assert (told["scene"]["name"], told["state"]["last"]) == ("pucks", 4)
    assert len(frames) % 4 == 0
    assert "<title>perp: pucks</title>" in path.read_text()


def test_a_recording_is_exported(perp_command, tmp_path, recording):
    path = tmp_path / "run.html"
    answer = perp_command("view", "--replay", recording, "--export", path)
    assert (answer.code, answer.err) == (0, "")
    told, _ = read_export(path)
    assert told["welcome"]["mode"] == "replay"
    assert told["state"]["last"] == 3


def test_an_export_that_ends_early_is_written_and_ends_with_1(perp_command, tmp_path, monkeypatch):
    def run_steps(start, steps, on_step):
        return RecordedRun({}, {}, {}, [b"frame"], "", note="the state is not finite after step 7")

    monkeypatch.setattr(simulation, "run_steps", run_steps)
    monkeypatch.setattr("perp.viewer.pages.LARGE", 10)
    path = tmp_path / "run.html"
    answer = perp_command("view", "pucks", "--export", path)
    assert answer.code == 1
    assert path.is_file()
    assert "perp: warning: browsers take long" in answer.err
    assert "perp: the state is not finite after step 7" in answer.err


def test_a_folder_that_is_closed_is_told_before_the_work(perp_command, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    monkeypatch.setattr(simulation, "run_steps", lambda *words: pytest.fail("it began"))
    answer = perp_command("view", "pucks", "--export", tmp_path / "run.html")
    assert (answer.code, answer.out) == (2, "")
    assert "nothing may be written to that folder" in answer.err


def test_an_interrupted_export_leaves_nothing(perp_command, tmp_path, monkeypatch):
    def run_steps(start, steps, on_step):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "run_steps", run_steps)
    path = tmp_path / "run.html"
    assert perp_command("view", "pucks", "--export", path).code == 130
    assert not path.exists()


def test_the_help_tells_the_ways_to_use_it(perp_command):
    told = perp_command("view", "--help").out
    for part in ("--replay", "--export", "--no-browser", "Ctrl-C ends", "Exit codes"):
        assert part in told
    assert "each as --NAME" in perp_command("view", "pucks", "--help").out


def test_a_bar_moves_on_a_terminal_while_a_page_is_exported(perp_command, tmp_path, monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100, _environ={})
    monkeypatch.setattr(progress, "Console", lambda **words: terminal)
    answer = perp_command("view", "pucks", "--export", tmp_path / "run.html", "--steps", 4)
    assert (answer.code, answer.err) == (0, "")
    assert "4/4" in screen.getvalue()
    assert "frames/s" in screen.getvalue()


LIVE = """
import sys
from contextlib import suppress
from pathlib import Path
from perp.viewer import pages
assert pages.PAGE_FOLDER.name == "page"  # a module is executed when a name of it is first read, not when one is set
pages.PAGE_FOLDER = Path(sys.argv.pop(1))
from perp.cli.main import main
main()
"""


def test_ctrl_c_while_a_scene_plays_ends_everything_without_a_word(page_folder):
    words = "view stack --wide 1 --high 3 --no-browser"
    with subprocess.Popen(
        [sys.executable, "-c", LIVE, page_folder, *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as viewer:
        address, hint = viewer.stdout.readline().split(": ", 1)[1].strip(), viewer.stdout.readline()
        origin = address.rsplit("/", 2)[0]
        with connect(f"{address.replace('http', 'ws', 1)}socket", origin=origin) as page:
            while isinstance(page.recv(60), str):
                pass  # welcome, scene and state come before the first frame
            page.send('{"type": "play"}')
            while isinstance(page.recv(60), str):
                pass
            assert len(living(viewer.pid)) >= 2
            os.killpg(viewer.pid, signal.SIGINT)  # as a terminal does
            with suppress(ConnectionClosed):
                while True:
                    page.recv(60)
            assert (page.close_code, page.close_reason) == (1001, "perp view was ended.")
        assert (viewer.communicate(timeout=60), hint) == (("", ""), "Ctrl-C ends it.\n")
    assert viewer.returncode == 0
    wait_until_gone(viewer.pid)
