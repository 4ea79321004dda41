"""The report: one file, complete, escaped, and needing nothing from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from perp.lab.demo import machine_facts, run_demo, write_report
from perp.lab.page import Column, Markup, duration, element, prose, table
from perp.solvers.roster import suitable_methods
from perp.solvers.stopping import Stopping
from perp.version import __version__

STOP = Stopping(max_iterations=30, check_every=1)
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
    return run_demo(tmp_path_factory.mktemp("demo"), n=60, stop=STOP)


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
    write_report(path, instances[-1:], [row], STOP, machine_facts())
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
