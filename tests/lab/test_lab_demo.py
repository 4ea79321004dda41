"""The demonstration: every suitable method is run, and a failing one is a row; results.json, and the report.

The report is one file, complete, escaped, and needs nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import ClassVar

import numpy as np
import pytest

from perp.lab.demo import machine_facts, run_demo, solve_all, write_report
from perp.lab.page import Column, Markup, duration, element, prose, table
from perp.lab.plots import ranked
from perp.lab.results import to_json, write_results
from perp.lab.runs.row import FAILED
from perp.lab.runs.runner import Reporter
from perp.lab.work.solve import thinned
from perp.solvers import roster
from perp.solvers.method import Method, State
from perp.solvers.results import History, Status
from perp.solvers.roster import suitable_methods
from perp.solvers.stopping import Stopping
from perp.version import __version__

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


class Notebook(Reporter):
    """A reporter that writes everything down."""

    def __init__(self):
        self.lines = []

    def planned(self, to_run, taken):
        self.lines.append((to_run, taken))

    def started(self, task):
        self.lines.append((task.group, task.name))

    def finished(self, task, row, seconds_left):
        self.lines.append(row)


def test_each_instance_has_a_row_for_each_suitable_method_in_roster_order(instances):
    rows = solve_all(instances, STOP)
    expected = [
        (instance.name, method.label) for instance in instances for method in roster.suitable_methods(instance.problem)
    ]
    assert [(row.group, row.name) for row in rows] == expected
    assert all(np.isfinite(row.residual) and len(row.series["residual"]) > 1 for row in rows)


def test_a_new_method_of_the_roster_is_picked_up(instances, monkeypatch):
    monkeypatch.setattr(roster, "METHODS", (*roster.METHODS, Troubled))
    rows = solve_all(instances, STOP)
    assert [(row.group, row.status) for row in rows if row.name == "troubled"] == [("fluid", FAILED)]


@pytest.mark.parametrize("trouble", [ZeroDivisionError, ValueError, IndexError, RuntimeError, np.linalg.LinAlgError])
def test_a_method_that_raises_is_a_row_and_the_campaign_goes_on(instances, trouble):
    methods = (Troubled(trouble), Troubled(None))
    rows = solve_all(instances[-1:], STOP, methods=lambda problem: methods)
    assert [row.status for row in rows] == [FAILED, "BREAKDOWN"]
    assert rows[0].found.message == f"{trouble.__name__}: in the second step"


def test_a_method_that_refuses_is_a_row(instances):
    (row,) = solve_all(instances[:1], STOP, methods=lambda problem: [Troubled()])
    assert row.status == FAILED
    assert "refuses" in row.found.message


def test_ctrl_c_is_not_a_row(instances):
    with pytest.raises(KeyboardInterrupt):
        solve_all(instances[-1:], STOP, methods=lambda problem: [Troubled(KeyboardInterrupt)])


def test_the_reporter_hears_of_everything_in_order(instances):
    notebook = Notebook()
    rows = solve_all(instances[-1:], STOP, methods=lambda problem: [Troubled(None)], reporter=notebook)
    assert notebook.lines == [(1, 0), ("fluid", "troubled"), rows[0]]


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


def test_rows_are_ranked_by_success_then_time_then_residual(make_row, make_failure):
    slow = make_row("slow", seconds=2.0)
    fast = make_row("fast", seconds=1.0)
    near = make_row("near", status="ITERATION_LIMIT", residual=1e-3)
    far = make_row("far", status="ITERATION_LIMIT", residual=1.0)
    raised = make_failure("stack", "raised", "ZeroDivisionError: oh")
    assert [row.name for row in ranked([raised, far, slow, near, fast])] == ["fast", "slow", "near", "far", "raised"]


def test_a_failure_is_a_row_without_numbers(instances):
    (row,) = solve_all(instances[-1:], STOP, methods=lambda problem: [Troubled(ZeroDivisionError)])
    assert row.status == FAILED
    assert not row.success
    assert np.isnan(row.residual)
    assert row.iterations == 0
    assert row.series == {}


def test_thinning_keeps_both_ends_and_the_early_checks():
    iteration = np.arange(5000)
    history = History(iteration, 1e-5 * iteration, 0.9**iteration, 0.8**iteration, np.full(5000, 5))
    thin = thinned(history, most=100)
    assert len(thin) <= 100
    assert thin.iteration[:4].tolist() == [0, 1, 2, 3]
    assert thin.iteration[-1] == 4999
    assert (np.diff(thin.iteration) > 0).all()
    assert thinned(thin, most=100) is thin


def test_results_json_has_all_of_a_row(make_row, make_failure, tmp_path):
    rows = [make_row("pgs"), make_failure("stack", "psor", "ValueError: no")]
    write_results(tmp_path / "results.json", rows, Stopping(), machine_facts())
    for row, same in zip(rows, json.loads((tmp_path / "results.json").read_text())["rows"], strict=True):
        assert (same["problem"], same["method"], same["status"]) == ("stack", row.name, row.status)
        assert (same["message"], same["iterations"]) == (row.found.message, row.iterations)
        for name in ("residual", "seconds", "setup_seconds"):
            assert same[name] == (None if np.isnan(row[name]) else row[name])
        assert same["history"].pop("counters") == {}
        for name, column in same["history"].items():
            np.testing.assert_allclose(column, row.series.get(name, []), rtol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_what_is_not_finite_is_null_in_json():
    assert json.loads(to_json({"a": np.nan, "b": [np.inf, 1.0], "c": ("x", None, True)})) == {
        "a": None,
        "b": [None, 1.0],
        "c": ["x", None, True],
    }


@pytest.mark.parametrize("fact", ["perp", "Python", "NumPy", "Numba", "processors"])
def test_the_machine_tells_its_versions_and_not_its_name(fact):
    import platform

    facts = machine_facts()
    assert facts[fact]
    assert platform.node() not in " ".join(facts.values()).split()


SOME = Stopping(max_iterations=30, check_every=1)
VOID = {"meta", "img"}


class Outline(HTMLParser):
    """Checks that tags are closed in order, and keeps what the page refers to."""

    def __init__(self):
        super().__init__()
        self.open, self.references = [], []

    def handle_starttag(self, tag, attributes):
        self.references += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.references += [value for name, value in attributes if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"), n=60, stop=SOME)


def test_the_demo_has_a_row_for_every_suitable_method_of_every_problem(made, instances):
    expected = {(i.name, method.label) for i in instances for method in suitable_methods(i.problem)}
    assert {(row.group, row.name) for row in made.rows} == expected
    written = json.loads(made.results.read_text())["rows"]
    assert [(row["problem"], row["method"]) for row in written] == [(row.group, row.name) for row in made.rows]


def test_the_report_is_well_formed_and_needs_nothing_from_elsewhere(made):
    outline = Outline()
    text = made.report.read_text(encoding="utf-8")
    outline.feed(text)
    assert outline.open == []
    assert all(reference.startswith(("#", "data:image/png;base64,")) for reference in outline.references)
    assert not re.search(r"@import|url\((?!#)|<script|<link", text)


def test_the_report_names_problems_methods_and_machine(made, instances):
    text = made.report.read_text(encoding="utf-8")
    for instance in instances:
        assert f'id="{instance.name}"' in text
        assert instance.title in text
        assert instance.command in text
    for row in made.rows:
        assert f"<code>{row.name}</code>" in text
    assert text.count("<svg") == len(instances)
    assert __version__ in text
    assert machine_facts()["Numba"] in text
    assert "no compilation is counted" in text


def test_a_method_that_raised_is_in_the_report_with_its_reason_escaped(instances, make_failure, tmp_path):
    row = make_failure("fluid", "psor", "ValueError: a < b & c")
    path = tmp_path / "report.html"
    write_report(path, instances[-1:], [row], SOME, machine_facts())
    text = path.read_text(encoding="utf-8")
    assert "ValueError: a &lt; b &amp; c" in text
    assert "No method gave a result." in text


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "1 < 2", Markup("<b>x</b>"), class_='"') == '<p class="&quot;">1 &lt; 2<b>x</b></p>'
    assert "<td" in table([Column("a", "number")], [["<"]])
    assert "&lt;" in table([Column("a", "number")], [["<"]])


def test_backticks_of_a_docstring_become_code():
    assert prose("`a < b` holds") == "<code>a &lt; b</code> holds"


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-7, "0.25 µs"), (0.00125, "1.25 ms"), (3.0, "3 s"), (float("nan"), "–")]
)
def test_durations_have_the_unit_that_suits_them(seconds, text):
    assert duration(seconds) == text
