"""`--option name=value` is taken apart, and what is wrong with it is told in a line."""

from __future__ import annotations

import pytest

from perp.cli.assignments import split_assignments
from perp.cli.errors import CommandError
from perp.cli.solve import choose


def test_names_may_be_written_with_hyphens_and_values_may_hold_equal_signs():
    assert split_assignments(["mass-ratio=2", "word=a=b"]) == {"mass_ratio": "2", "word": "a=b"}


def test_a_word_of_another_kind_is_refused_with_the_name_of_its_option():
    with pytest.raises(CommandError, match=r"^--option relaxation: 'much' is not of the kind float$"):
        choose("psor", {"relaxation": "much"})
