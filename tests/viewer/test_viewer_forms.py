"""The forms of methods and scenes, and what the page's values become."""

from __future__ import annotations

import json

import pytest

from perp.scenes import kinds
from perp.solvers.roster import BY_NAME, METHODS
from perp.viewer.choices import make_solver, method_forms, read_scene_options, scene_forms

KINDS = {"number", "integer", "text", "choice", "switch", "numbers"}

OPTION_KEYS = {"name", "kind", "default", "choices", "optional", "doc", "at_least", "at_most"}


def through_json(value):
    """As the page has it, and gives it back."""
    return json.loads(json.dumps(value, allow_nan=False))


def defaults(form):
    return {option["name"]: option["default"] for option in form["options"]}


def check_option(option):
    assert set(option) == OPTION_KEYS
    assert option["kind"] in KINDS
    assert option["doc"]
    assert (option["kind"] == "choice") == bool(option["choices"])
    if option["default"] is None:
        assert option["optional"]
    elif option["choices"]:
        assert option["default"] in option["choices"]
    else:
        types = {"number": (int, float), "integer": int, "switch": bool, "numbers": list, "text": str}
        assert isinstance(option["default"], types[option["kind"]])
        assert option["at_least"] is None or option["at_least"] <= option["default"]
        assert option["at_most"] is None or option["default"] <= option["at_most"]


def test_every_method_has_a_form_and_auto_comes_first():
    forms = through_json(method_forms())
    assert [form["name"] for form in forms] == ["auto", *(method.name for method in METHODS)]
    assert forms[0]["options"] == []
    assert {"lcp", "contact/cone"} <= set(forms[0]["accepts"])
    for form in forms:
        assert form["summary"]
        assert "\n" not in form["summary"]
        assert " ".join(form["doc"].split()).startswith(form["summary"])
        for option in form["options"]:
            check_option(option)


def test_every_scene_has_a_form():
    forms = through_json(scene_forms())
    assert [form["name"] for form in forms] == list(kinds())
    for form in forms:
        assert form["method"] in ("auto", *BY_NAME)
        assert form["dt"] > 0.0
        for option in form["options"]:
            check_option(option)


def test_the_kinds_of_fields_follow_from_the_types_of_options():
    options = {
        (form["name"], option["name"]): option
        for form in method_forms()
        if form["name"] in ("psor", "fischer", "lemke", "jacobi")
        for option in form["options"]
    }
    assert options["psor", "relaxation"]["kind"] == "number"
    assert (options["psor", "relaxation"]["at_least"], options["psor", "relaxation"]["at_most"]) == (0.0, 2.0)
    assert options["psor", "seed"]["kind"] == "integer"
    assert options["fischer", "projected"]["kind"] == "switch"
    assert options["fischer", "preconditioner"]["kind"] == "choice"
    assert options["fischer", "inner_limit"]["optional"]
    assert options["lemke", "covering"]["choices"] == ["ones", "diagonal"]
    assert options["jacobi", "damping"]["optional"]


@pytest.mark.parametrize("form", method_forms()[1:], ids=lambda form: form["name"])
def test_a_form_that_nobody_filled_in_makes_the_method_itself(form):
    assert make_solver(form["name"], through_json(defaults(form))) == BY_NAME[form["name"]]()
    assert make_solver(form["name"], {}) == BY_NAME[form["name"]]()


@pytest.mark.parametrize("form", scene_forms(), ids=lambda form: form["name"])
def test_the_options_of_a_scene_come_back_as_they_are(form):
    assert read_scene_options(form["name"], through_json(defaults(form))) == defaults(form)
    assert read_scene_options(form["name"], {}) == {}
    small = kinds()[form["name"]].small
    assert read_scene_options(form["name"], through_json(small)) == small


def test_auto_stays_a_word():
    assert make_solver("auto", {}) == "auto"
    with pytest.raises(TypeError, match="'auto' chooses for itself and has no option 'order'"):
        make_solver("auto", {"order": "forward"})


@pytest.mark.parametrize(
    ("method", "name", "given", "wanted"),
    [
        ("psor", "relaxation", 1, 1.0),
        ("psor", "seed", 3.0, 3),
        ("lemke", "covering", [1, 2.5], (1.0, 2.5)),
        ("lemke", "covering", "diagonal", "diagonal"),
        ("jacobi", "damping", None, None),
        ("fischer", "inner_limit", 7.0, 7),
        ("fischer", "projected", True, True),
        ("pgcg", "preconditioner", "ic0", "ic0"),
        ("staggering", "normal", "lemke", "lemke"),
    ],
)
def test_numbers_and_lists_of_the_page_get_the_type_of_the_option(method, name, given, wanted):
    found = getattr(make_solver(method, {name: given}), name)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("psor", {"relaxation": "fast"}, "relaxation is 'fast'; a number is needed"),
        ("psor", {"relaxation": True}, "relaxation is True; a number is needed"),
        ("psor", {"relaxation": None}, "relaxation is None; a number is needed"),
        ("psor", {"relaxation": float("nan")}, "relaxation is nan; a number is needed"),
        ("psor", {"relaxation": 10**400}, "relaxation is 1000"),
        ("psor", {"relaxation": 2.0}, "relaxation is 2.0; it must lie strictly between 0 and 2"),
        ("psor", {"seed": 1.5}, "seed is 1.5; a whole number is needed"),
        ("psor", {"seed": 1e300}, "seed is 1e[+]300; a whole number is needed"),
        ("psor", {"order": 3}, "order is 3; a word is needed"),
        ("psor", {"order": "forwards"}, "order is 'forwards'; did you mean 'forward'"),
        ("psor", {"omega": 1.2}, "psor has no option 'omega'"),
        ("fischer", {"projected": 1}, "projected is 1; True or False is needed"),
        ("fischer", {"inner_limit": 0.5}, "inner_limit is 0.5; a whole number or None is needed"),
        ("fischer", {"space": None}, "space is None; a word is needed"),
        ("lemke", {"covering": [1.0, "a"]}, "covering is .*; a word or a list of numbers is needed"),
        ("lemke", {"covering": [1.0, -1.0]}, r"covering\[1\] is -1.0"),
        ("psorr", {}, "method 'psorr' is unknown; did you mean 'psor'"),
    ],
)
def test_a_wrong_value_is_refused_in_a_line_that_names_the_option(method, options, words):
    with pytest.raises((TypeError, ValueError), match=f"^{words}") as refusal:
        make_solver(method, options)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("scene", "options", "words"),
    [
        ("boxes", {"stacks": 1.5}, "stacks is 1.5; a whole number is needed"),
        ("boxes", {"stacks": "many"}, "stacks is 'many'; a whole number is needed"),
        ("boxes", {"stacks": 0}, "stacks is 0; it must lie in"),
        ("boxes", {"start": "floating"}, "start is 'floating'"),
        ("boxes", {"start": 1}, "start is 1; a word is needed"),
        ("boxes", {"drop": None}, "drop is None; a number is needed"),
        ("boxes", {"seed": 1}, "boxes has no option 'seed'"),
        ("boxs", {}, "scene 'boxs' is unknown; did you mean 'boxes'"),
    ],
)
def test_a_wrong_option_of_a_scene_is_refused_in_a_line(scene, options, words):
    with pytest.raises((TypeError, ValueError), match=f"^{words}") as refusal:
        read_scene_options(scene, options)
    assert "\n" not in str(refusal.value)


def test_whole_numbers_of_a_scene_may_come_as_floats():
    read = read_scene_options("boxes", {"stacks": 4.0, "drop": 1})
    assert read == {"stacks": 4, "drop": 1.0}
    assert [type(value) for value in read.values()] == [int, float]
