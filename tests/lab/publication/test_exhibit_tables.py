"""Numbers and tables of the page."""

from __future__ import annotations

from math import inf, nan

import pytest

from perp.lab.experiments.experiment import Table
from perp.lab.publication.sections import TALL, show_number, show_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("never", "never"),
        (nan, "–"),
        (inf, "∞"),
        (-inf, "-∞"),
        (True, "yes"),
        (12345, "12,345"),
        (0.0, "0"),
        (25.3, "25.3"),
        (0.51234567, "0.5123"),
        (-3.0, "-3"),
        (1234.5, "1,234"),
        (2.7e-4, "2.70e-4"),
        (1e-12, "1.00e-12"),
        (3.25e7, "3.25e7"),
    ],
)
def test_numbers_have_four_digits_and_no_noise(value, text):
    assert show_number(value) == text


def test_columns_of_numbers_are_set_to_the_right_and_ours_on_a_tint():
    made = show_table(Table("T", ("method", "time (paper)", "time (here)"), (("pgs", 1.0, None), ("psor", None, 2.0))))
    assert '<td class="">pgs</td>' in made
    assert '<td class="number">1</td>' in made
    assert '<td class="number here">2</td>' in made
    assert '<td class="number here"></td>' in made


def test_words_among_numbers_keep_a_column_to_the_left_and_long_ones_may_wrap():
    made = show_table(Table("T", ("a", "b"), ((1.0, "x" * 50), ("failed", "y"))))
    assert '<td class="">1</td>' in made
    assert '<td class="prose">y</td>' in made


def test_long_tables_scroll_and_text_is_escaped():
    short, long = (show_table(Table("<T>", ("a",), ((1.0,),) * count, "a < b")) for count in (TALL, TALL + 1))
    assert 'class="scroll"' in short
    assert 'class="scroll tall"' in long
    assert "&lt;T&gt;" in short
    assert "a &lt; b" in short


def test_a_table_without_lines_is_still_a_table():
    assert "<th" in show_table(Table("T", ("a",), ()))
