"""`perp methods` reads the roster, and is quick about it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import fields

import pytest

from perp.cli import cards
from perp.solvers.roster import METHODS


def test_every_method_of_the_roster_is_listed_with_its_reference(perp_command):
    answer = perp_command("methods")
    assert answer.code == 0
    text = " ".join(answer.out.split())
    for method in METHODS:
        assert f"{method.name} ({method.family})" in text
        assert " ".join(method.reference.split()) in text


def test_the_options_of_a_method_are_shown_with_their_defaults(perp_command):
    assert "relaxation=1.4, order=forward, seed=0" in perp_command("methods").out


def test_a_named_method_is_shown_alone_with_its_whole_docstring(perp_command):
    answer = perp_command("methods", "interior_pivoting")
    assert answer.code == 0
    assert "interior_pivoting  (newton)" in answer.out
    assert "the rows are asked where they" in answer.out
    assert "psor" not in answer.out
    unknown = perp_command("methods", "interior_pivotng")
    assert unknown.code == 2
    assert "did you mean 'interior_pivoting'" in unknown.err


def test_a_name_from_elsewhere_shows_the_methods_that_it_stands_for(perp_command):
    answer = perp_command("methods", "NSGS")
    assert answer.code == 0
    assert "block_gauss_seidel  (splitting)" in answer.out
    assert "also known as  NSGS, nonsmooth Gauss-Seidel" in answer.out
    shown = json.loads(perp_command("methods", "semismooth_newton", "fischer", "--json").out)
    assert [entry["name"] for entry in shown] == ["minimum_map", "fischer", "cone_newton"]
    assert "Fischer-Burmeister" in shown[1]["synonyms"]


def test_the_options_of_a_named_method_are_shown_with_their_meaning_range_and_choices(perp_command):
    text = " ".join(perp_command("methods", "psor", "enumeration").out.split())
    assert "Options of psor: relaxation=1.4 what each change is multiplied by" in text
    assert "(above 0, below 2)" in text
    assert "; one of forward, backward, symmetric, random, coloured" in text
    assert "; also known as omega, w," in text
    assert "Options of enumeration" not in text  # which has none


def test_json_holds_what_the_roster_says(perp_command):
    entries = json.loads(perp_command("methods", "--json").out)
    assert [entry["name"] for entry in entries] == [method.name for method in METHODS]
    for entry, method in zip(entries, METHODS, strict=True):
        assert entry["accepts"] == sorted(method.accepts)
        assert entry["needs"] == sorted(method.needs)
        assert list(entry["options"]) == [field.name for field in fields(method)]
        assert list(entry["option_docs"]) == list(entry["options"])
        assert all(option["doc"] for option in entry["option_docs"].values())
        for name, option in entry["option_docs"].items():
            assert not option["choices"] or entry["options"][name] in option["choices"]
        assert entry["summary"]


def test_listing_methods_loads_neither_numba_nor_matplotlib():
    script = (
        "import sys\n"
        "from perp.cli.main import app\n"
        "try:\n"
        "    app(['methods'])\n"
        "except SystemExit as done:\n"
        "    assert done.code == 0\n"
        "print(sorted({'numba', 'llvmlite', 'matplotlib', 'h5py'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("columns", "is_table"), [(160, True), (80, False)])
def test_on_a_wide_terminal_the_methods_stand_in_a_table(monkeypatch, columns, is_table):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    cards.show_cards("method", [cards.Card("pgs", "splitting", {"accepts": "lcp, box"})])
    shown = screen.getvalue()
    assert "pgs" in shown
    assert "accepts" in shown
    assert ("│" in shown) is is_table


class Screen(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True
