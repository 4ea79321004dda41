"""Ctrl-C: what was reached is saved, and the exit code is 130 (hard inputs, row 72)."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager

import numpy as np

import perp
from perp.cli import progress
from perp.problems.files import load

INTERRUPTING = """
import os, signal, sys
from perp.cli.main import app
from perp.solvers import loop

check, checks = loop._Run._check, []

def press(*arguments, **words):
    checks.append(None)
    if len(checks) == 2:  # the kernels are loaded, and the loop is on its way
        os.kill(os.getpid(), signal.SIGINT)
    return check(*arguments, **words)

loop._Run._check = press
signal.signal(signal.SIGINT, signal.default_int_handler)
app(sys.argv[1:])
"""


def test_a_real_interrupt_saves_the_partial_answer_and_exits_with_130(stack_file, tmp_path):
    out = tmp_path / "x.npz"
    words = ("solve", stack_file, "--method", "pgs", "--tol", "0", "--max-iterations", 10**9, "--out", out)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTING, *map(str, words)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 130, done.stderr
    assert "INTERRUPTED" in done.stdout
    assert f"to {out}" in done.stdout
    assert done.stderr == ""
    with np.load(out, allow_pickle=False) as saved:
        assert str(saved["status"]) == "INTERRUPTED"
        assert saved["residual"] == perp.verify(load(stack_file), saved["x"]).residual
        assert saved["iterations"] > 0


def test_an_interrupt_with_json_still_prints_json(perp_command, stack_file, monkeypatch):
    @contextmanager
    def impatient(*, quiet):
        def press(seen):
            if seen.iteration >= 20:
                raise KeyboardInterrupt

        yield press

    monkeypatch.setattr(progress, "watching", impatient)
    answer = perp_command("solve", stack_file, "--json")
    assert answer.code == 130
    told = json.loads(answer.out)
    assert told["status"] == "INTERRUPTED"
    assert told["success"] is False
    assert 0 < told["residual"] < np.inf


def test_an_interrupt_before_the_solve_exits_with_130_too(perp_command, stack_file, monkeypatch):
    def press(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("perp.problems.files.load", press)
    answer = perp_command("solve", stack_file)
    assert answer.code == 130
    assert answer.out == ""
