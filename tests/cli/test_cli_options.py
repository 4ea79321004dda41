"""`--option name=value` is split; options of a scene stand in the line of a command under their own names."""

from __future__ import annotations

import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_worlds import pucks

from perp.cli.errors import CommandError
from perp.cli.options import split_assignments, take_unknown
from perp.cli.simulate import simulate
from perp.cli.solve import choose
from perp.cli.view import view
from perp.scenes import catalogue, kinds

KNOWN = {"--steps": True, "--method": True, "-m": True, "--cold": False}


@pytest.fixture(autouse=True)
def pucks_scene(monkeypatch):
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    catalogue.scene("a test", dt=0.01, method="pgs", iterations=40)(pucks)


def test_names_may_be_written_with_hyphens_and_values_may_hold_equal_signs():
    assert split_assignments(["mass-ratio=2", "word=a=b"]) == {"mass_ratio": "2", "word": "a=b"}


def test_a_word_of_another_kind_is_refused_with_the_name_of_its_option():
    with pytest.raises(CommandError, match=r"^--option relaxation: 'much' is not of the kind float$"):
        choose("psor", {"relaxation": "much"})


@pytest.mark.parametrize(
    ("line", "own", "given_options"),
    [
        ("dam --cells 8", "dam", {"cells": "8"}),
        ("--cells 8 dam --steps 3", "dam --steps 3", {"cells": "8"}),
        ("dam --cells=8 --mass-ratio 1e3 --cold", "dam --cold", {"cells": "8", "mass_ratio": "1e3"}),
        ("dam --mass_ratio -2 -m pgs", "dam -m pgs", {"mass_ratio": "-2"}),
        ("dam --steps --cells", "dam --steps --cells", {}),
        ("dam --steps=3 --cold", "dam --steps=3 --cold", {}),
        ("dam -- --cells 8", "dam -- --cells 8", {}),
        ("dam --method", "dam --method", {}),
        ("dam --name=a=b", "dam", {"name": "a=b"}),
        ("dam -mpgs --empty=", "dam -mpgs", {"empty": ""}),
    ],
)
def test_words_that_a_command_does_not_know_are_taken_out(line, own, given_options):
    assert take_unknown(line.split(), KNOWN, "perp simulate") == (own.split(), given_options)


@given(
    words=st.lists(st.sampled_from(["dam", "--steps", "3", "-m", "pgs", "--cold", "--cells=8", "--dim=2", "--", "-7"]))
)
def test_no_word_is_lost_and_the_order_stays(words):
    try:
        own, given_options = take_unknown(words, KNOWN, "perp simulate")
    except CommandError as error:
        assert "is given twice" in str(error)  # noqa: PT017
        return
    back = [f"--{name}={value}" for name, value in given_options.items()]
    assert sorted(own + back) == sorted(words)
    rest = iter(words)
    assert all(word in rest for word in own)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ("pucks", "--cout", "3"),
            "--cout: neither 'perp simulate' nor pucks has such an option; did you mean '--count'",
        ),
        (("pucks", "--stepz", "3"), "did you mean '--steps'"),
        (("pucks", "--count"), "--count needs a value: --count VALUE"),
        (("pucks", "--count", "--json"), "--count needs a value"),
        (("pucks", "--count", "3", "--count=4"), "--count is given twice"),
        (("pucks", "--count", "3", "--size", "count=4"), "count is given twice, as --count 3 and as --size count=4"),
        (("pucks", "--count", "many"), "count is 'many'"),
        (("pucks", "--count", "0"), "count is 0"),
        (("puks", "--count", "3"), "did you mean 'pucks'"),
        (("--count", "3"), "Missing argument 'SCENE'"),
        (("pucks", "-x"), "No such option: -x"),
        (("pucks", "--maxiter", "3"), "'--maxiter' is known here as '--max-iterations'"),
        (("pucks", "--erp", "0.2"), "'erp' is known here as 'error_reduction' (an argument of the world)"),
        (("pucks", "--nu1", "2"), "'nu1' is known here as 'pre' (an option of multigrid): --method-option NAME=VALUE"),
        (("pucks", "more"), "unexpected extra argument"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(perp_command, words, part):
    answer = perp_command("simulate", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err


def test_an_option_by_its_name_is_the_same_as_a_size(perp_command):
    def run(*words):
        told = json.loads(perp_command("simulate", *words, "--steps", 5, "--json").out)
        return told["options"], told["fingerprint"]

    wanted = run("pucks", "--size", "count=3")
    assert wanted[0]["count"] == 3
    assert run("pucks", "--count", 3) == run("pucks", "--count=3") == run("--count", 3, "pucks") == wanted
    both = run("pucks", "--boost", 1.5, "--size", "count=3")
    assert (both[0]["boost"], both[0]["count"]) == (1.5, 3)


def test_the_help_of_a_scene_tells_its_options(perp_command):
    answer = perp_command("simulate", "pucks", "--help")
    assert answer.code == 0
    assert "Usage: perp simulate" in answer.out
    assert "Options of pucks, each as --NAME VALUE:" in answer.out
    assert "count=2" in answer.out
    assert "each as --NAME" not in perp_command("simulate", "--help").out


@pytest.mark.parametrize("command", [simulate, view])
def test_no_scene_has_an_option_that_the_command_would_take_for_its_own(command):
    taken = set(inspect.signature(command).parameters) - {"model"}  # the law of friction is an option of any scene
    for kind in kinds().values():
        assert not taken & set(kind.options), kind.name
