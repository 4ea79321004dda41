"""Campaigns: every suitable method is run, and a failing one is a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from perp.lab.campaign import run_campaign
from perp.lab.rows import FAILED
from perp.solvers import roster
from perp.solvers.method import Method, State
from perp.solvers.results import Status
from perp.solvers.stopping import Stopping

STOP = Stopping(max_iterations=20, check_every=1)


@dataclass(frozen=True)
class Troubled(Method):
    """Goes wrong at its second step, in the way that it is told."""

    name: ClassVar[str] = "troubled"
    family: ClassVar[str] = "test"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    trouble: type[BaseException] | None = ZeroDivisionError

    def start(self, problem, x):
        return State(x)

    def step(self, problem, state, count):
        if self.trouble is None:
            state.ended = (Status.BREAKDOWN, "it said so")
        elif state.x.any():
            raise self.trouble("in the second step")
        else:
            state.x += 1e-3


class Notebook:
    """A reporter that writes everything down."""

    def __init__(self):
        self.lines = []

    def planned(self, solves):
        self.lines.append(solves)

    def started(self, instance, method):
        self.lines.append((instance.name, method))

    def finished(self, row):
        self.lines.append(row)


def test_each_instance_has_a_row_for_each_suitable_method_in_roster_order(instances):
    rows = run_campaign(instances, STOP)
    expected = [
        (instance.name, method.label) for instance in instances for method in roster.suitable_methods(instance.problem)
    ]
    assert [(row.problem, row.method) for row in rows] == expected
    assert all(np.isfinite(row.residual) and len(row.history) > 1 for row in rows)


def test_a_new_method_of_the_roster_is_picked_up(instances, monkeypatch):
    monkeypatch.setattr(roster, "METHODS", (*roster.METHODS, Troubled))
    rows = run_campaign(instances, STOP)
    assert [(row.problem, row.status) for row in rows if row.method == "troubled"] == [("fluid", FAILED)]


@pytest.mark.parametrize("trouble", [ZeroDivisionError, ValueError, IndexError, RuntimeError, np.linalg.LinAlgError])
def test_a_method_that_raises_is_a_row_and_the_campaign_goes_on(instances, trouble):
    methods = (Troubled(trouble), Troubled(None))
    rows = run_campaign(instances[-1:], STOP, methods=lambda problem: methods)
    assert [row.status for row in rows] == [FAILED, "BREAKDOWN"]
    assert rows[0].message == f"{trouble.__name__}: in the second step"


def test_a_method_that_refuses_is_a_row(instances):
    (row,) = run_campaign(instances[:1], STOP, methods=lambda problem: [Troubled()])
    assert row.status == FAILED
    assert "refuses" in row.message


def test_ctrl_c_is_not_a_row(instances):
    with pytest.raises(KeyboardInterrupt):
        run_campaign(instances[-1:], STOP, methods=lambda problem: [Troubled(KeyboardInterrupt)])


def test_the_reporter_hears_of_everything_in_order(instances):
    notebook = Notebook()
    rows = run_campaign(instances[-1:], STOP, methods=lambda problem: [Troubled(None)], reporter=notebook)
    assert notebook.lines == [1, ("fluid", "troubled"), rows[0]]


def test_an_instance_tells_the_command_that_makes_it_again(instances, tmp_path, monkeypatch):
    import shlex

    from typer.testing import CliRunner

    from perp.cli.main import app
    from perp.problems.files import load

    monkeypatch.chdir(tmp_path)
    for instance in instances:
        done = CliRunner().invoke(app, shlex.split(instance.command)[1:])
        assert done.exit_code == 0
        np.testing.assert_array_equal(load(f"{instance.name}.npz").b, instance.problem.b)
