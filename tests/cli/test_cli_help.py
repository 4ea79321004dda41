"""Version, help, and the way in which bad usage is answered."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from perp.version import __version__

COMMANDS = ("solve", "verify", "classify", "generate", "methods", "demo", "survey", "scenes", "simulate", "view", "lab")


def test_the_version_is_printed(perp_command):
    answer = perp_command("--version")
    assert (answer.code, answer.out) == (0, f"perp {__version__}\n")


def test_perp_alone_shows_every_command(perp_command):
    answer = perp_command()
    assert answer.code == 0
    assert all(command in answer.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(perp_command, command):
    answer = perp_command(command, "--help")
    assert answer.code == 0
    assert "Usage: perp" in answer.out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("slove",), "solve"),
        (("solve",), "Missing argument"),
        (("solve", "x.npz", "--tolerance", "1"), "--tolerance"),
        (("solve", "x.npz", "--tol", "small"), "--tol"),
        (("generate",), "which kind"),
        (("generate", "fluid_like"), "--out"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(perp_command, words, part):
    answer = perp_command(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err


def test_python_m_perp_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "perp", "solve", "missing.npz"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "perp: error: missing.npz: No such file or directory\n"


def test_a_terminal_without_our_signs_is_no_reason_to_fail():
    words = [sys.executable, "-m", "perp", "generate", "--list"]
    done = subprocess.run(words, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
