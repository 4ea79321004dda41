"""The moving line of a long solve: on a terminal only, and only after a while."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from perp.cli import progress
from perp.solvers.loop import Progress


@pytest.fixture
def terminal(monkeypatch):
    """A console that believes in its terminal, and the text that it shows."""
    text = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(file=text, force_terminal=True, width=100))
    return text


def seen(iteration: int) -> Progress:
    return Progress(iteration, 0.1, 1e-3, 1e-3, 5, np.zeros(3))


def test_a_long_solve_shows_iteration_and_residual(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.watching(quiet=False) as callback:
        callback(seen(1234))
    assert "iteration 1,234" in terminal.getvalue()
    assert "1.00e-03" in terminal.getvalue()


def test_a_short_solve_shows_nothing(terminal):
    with progress.watching(quiet=False) as callback:
        callback(seen(1))
    assert "iteration" not in terminal.getvalue()


def test_nobody_is_called_back_when_quiet_or_without_a_terminal(terminal, monkeypatch):
    with progress.watching(quiet=True) as callback:
        assert callback is None
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(file=io.StringIO()))
    with progress.watching(quiet=False) as callback:
        assert callback is None
