"""Words for options are read by the types of the options."""

from __future__ import annotations

from typing import Literal

import pytest

from perp.solvers.options import read_word, read_words
from perp.solvers.pivoting.lemke import Lemke
from perp.solvers.splitting.gauss_seidel import PSOR


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ("1.5", float, 1.5),
        ("1e-3", float, 1e-3),
        ("3", int, 3),
        ("forward", str, "forward"),
        ("yes", bool, True),
        ("False", bool, False),
        ("none", float | None, None),
        ("0.5", float | None, 0.5),
        ("none", str, "none"),
        ("4", Literal[4, 8], 4),
        ("7", int | str, 7),
        ("seven", int | str, "seven"),
        ("1,2.5, 3", str | tuple[float, ...], (1.0, 2.5, 3.0)),
        ("4", str | tuple[float, ...], (4.0,)),
        ("ones", str | tuple[float, ...], "ones"),
    ],
)
def test_text_becomes_the_value_that_it_means(text, hint, value):
    found = read_word("option", text, hint)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("x", float), ("1.5", int), ("maybe", bool), ("5", Literal[4, 8]), ("1,", tuple[float, ...]), ("x", dict)],
)
def test_text_of_another_kind_is_refused(text, hint):
    with pytest.raises(ValueError, match="option: '"):
        read_word("option", text, hint)


def test_each_option_of_a_method_is_read_by_its_own_type():
    assert read_words(PSOR, {"relaxation": "1.5"}) == {"relaxation": 1.5}
    assert read_words(Lemke, {"covering": "1,2"}) == {"covering": (1.0, 2.0)}
    with pytest.raises(ValueError, match="relaxation: 'much' is not of the kind float"):
        read_words(PSOR, {"relaxation": "much"})


def test_what_no_option_is_called_stays_a_word():
    assert read_words(PSOR, {"speed": "1"}) == {"speed": "1"}
