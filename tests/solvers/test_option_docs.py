"""What options say of themselves is what methods hold them to."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import fields, replace
from typing import get_args, get_type_hints

import pytest

from perp.solvers.method import Method
from perp.solvers.options import About, option_docs
from perp.solvers.roster import METHODS

OPTIONS = [(method, each.name) for method in METHODS for each in fields(method)]


def each_option(kinds: set[type]) -> pytest.MarkDecorator:
    """For every option that may have a value of one of these types."""
    chosen = [(method, name) for method, name in OPTIONS if kinds & types_of(method, name)]
    return pytest.mark.parametrize(("method", "name"), chosen, ids=[f"{method.name}.{name}" for method, name in chosen])


def types_of(method: type[Method], name: str) -> set[type]:
    hint = get_type_hints(method)[name]
    return set(get_args(hint)) if get_args(hint) else {hint}


@each_option({int, float, str, bool})
def test_every_option_says_what_it_means(method: type[Method], name: str):
    text = option_docs(method)[name].text
    assert 10 <= len(text) <= 300
    assert not text.endswith(".")


@each_option({str})
def test_every_word_that_is_a_choice_is_accepted(method: type[Method], name: str):
    words = option_docs(method)[name].words
    assert getattr(method(), name) in words
    assert len(set(words)) == len(words)
    for word in words:
        assert getattr(method(**{name: word}), name) == word


@each_option({str})
def test_a_word_that_is_no_choice_is_refused_and_the_known_ones_are_told(method: type[Method], name: str):
    words = option_docs(method)[name].words
    with pytest.raises(ValueError, match=r"known: ") as refusal:
        method(**{name: "nonsense"})
    told = re.search(r"known: ([^)]*)\)", str(refusal.value))
    assert told is not None
    known = set(told[1].split(", "))
    if method.name == "staggering":  # any method can be named; those are listed that could take a half
        assert set(words) < known
    elif method.name == "policy_iteration" and name == "preconditioner":
        assert set(words) == known | {"auto"}
    else:
        assert set(words) == known


@each_option({int, float})
def test_numbers_are_accepted_within_the_range_and_refused_outside(method: type[Method], name: str):
    about, default = option_docs(method)[name], getattr(method(), name)
    ends = [("at_least", -1), ("above", -1), ("at_most", 1), ("below", 1)]
    given = [(kind, outwards, getattr(about, kind)) for kind, outwards in ends if math.isfinite(getattr(about, kind))]
    assert given
    for kind, outwards, end in given:
        with pytest.raises(ValueError, match=name):
            method(**{name: end + outwards})
        if kind in ("at_least", "at_most"):
            method(**{name: end})
        else:
            with pytest.raises(ValueError, match=name):
                method(**{name: end})
        if default is not None:
            assert outwards * default <= outwards * end


def test_every_option_is_of_a_type_that_is_asked_for_above():
    assert all(types_of(method, name) & {int, float, str, bool} for method, name in OPTIONS)


def test_a_range_is_told_in_words():
    assert About("share", above=0.0, at_most=2.0).sentence == "share (above 0, at most 2)"
    assert About("count", at_least=1).sentence == "count (at least 1)"
    assert About("word").sentence == "word"


def test_the_words_may_be_known_only_later():
    about = About("method", lambda: ("auto", "pgs"))
    assert about.words == ("auto", "pgs")


@pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
def test_a_method_is_the_dataclass_that_it_was(method: type[Method]):
    default = method()
    assert pickle.loads(pickle.dumps(default)) == default == replace(default)
    assert hash(default) == hash(method())
    for each in fields(method):
        assert getattr(default, each.name) == each.default == getattr(method, each.name)
