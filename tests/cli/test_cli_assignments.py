"""`--option name=value` is read by the type of the option."""

from __future__ import annotations

from typing import Literal

import pytest

from perp.cli.assignments import read_value, split_assignments
from perp.cli.errors import CommandError


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
    found = read_value("option", text, hint)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("x", float), ("1.5", int), ("maybe", bool), ("5", Literal[4, 8]), ("1,", tuple[float, ...]), ("x", dict)],
)
def test_text_of_another_kind_is_refused(text, hint):
    with pytest.raises(CommandError, match="option"):
        read_value("option", text, hint)


def test_names_may_be_written_with_hyphens_and_values_may_hold_equal_signs():
    assert split_assignments(["mass-ratio=2", "word=a=b"]) == {"mass_ratio": "2", "word": "a=b"}
