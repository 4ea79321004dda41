"""`perp demo` as a user runs it, on smaller problems."""

from __future__ import annotations

import io
import json
import sys

import pytest
from rich.console import Console

from perp.cli import progress
from perp.lab import demo as lab_demo
from perp.solvers.stopping import Stopping


@pytest.fixture
def small(monkeypatch):
    """The demonstration with small problems and few iterations."""
    run = lab_demo.run_demo
    monkeypatch.setattr(
        lab_demo,
        "run_demo",
        lambda folder, reporter: run(folder, reporter=reporter, n=60, stop=Stopping(max_iterations=30, check_every=1)),
    )


def test_the_demo_writes_report_and_results_and_says_where(perp_command, small, tmp_path):
    folder = tmp_path / "made" / "here"
    answer = perp_command("demo", "--out", folder)
    assert answer.code == 0
    assert f"wrote {folder / 'report.html'} and {folder / 'results.json'}" in answer.out
    rows = json.loads((folder / "results.json").read_text())["rows"]
    assert len(rows) == len([line for line in answer.out.splitlines() if line.startswith(("stack", "pile", "fluid"))])
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_a_missing_matplotlib_is_one_line_with_the_remedy(perp_command, small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = perp_command("demo", "--out", tmp_path / "demo")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "pip install matplotlib" in answer.err
    assert not (tmp_path / "demo").exists()


def test_a_folder_that_cannot_be_made_exits_with_2(perp_command, small, tmp_path):
    (tmp_path / "file").write_text("in the way")
    answer = perp_command("demo", "--out", tmp_path / "file")
    assert answer.code == 2
    assert str(tmp_path / "file") in answer.err


def test_on_a_terminal_a_table_shows_every_row(perp_command, small, tmp_path, monkeypatch):
    text = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda: Console(file=text, force_terminal=True, width=120))
    assert perp_command("demo", "--out", tmp_path).code == 0
    rows = json.loads((tmp_path / "results.json").read_text())["rows"]
    shown = text.getvalue()
    assert all(row["method"] in shown and row["problem"] in shown for row in rows)
    assert "iterations" in shown
