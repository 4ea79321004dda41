"""Tables and pictures of the lab's page."""

from __future__ import annotations

import re
from math import inf, nan
from xml.etree import ElementTree

import numpy as np
import pytest

from perp.lab.experiments.experiment import Picture, Table
from perp.lab.plots import (
    CLOUD,
    LINE_POINTS_PER_MARK,
    draw_svg,
    figure_to_svg,
    new_figure,
    rasterise_clouds,
    svg_on_paper,
)
from perp.lab.publication import sections
from perp.lab.publication.sections import TALL, show_number, show_table, write_picture


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


pytest.importorskip("matplotlib")


def scattered(count):
    figure, (axes,) = new_figure()
    places = np.random.default_rng(1).random((2, count))
    return figure, axes.scatter(*places), axes.plot(*places, "o")[0], axes.plot(*places)[0]


def test_clouds_become_pictures_and_few_points_do_not():
    small, large, huge = (scattered(count) for count in (CLOUD, CLOUD + 1, LINE_POINTS_PER_MARK * (CLOUD + 1)))
    for figure, *_ in (small, large, huge):
        rasterise_clouds(figure)
    assert [artist.get_rasterized() for artist in small[1:]] == [False, False, False]
    assert [artist.get_rasterized() for artist in large[1:]] == [True, True, False]
    assert [artist.get_rasterized() for artist in huge[1:]] == [True, True, True]
    drawing = draw_svg(huge[0], "cloud")
    assert "data:image/png;base64," in drawing
    assert len(drawing) < 300_000


def test_coordinates_are_short_and_groups_have_no_names():
    drawing = figure_to_svg(scattered(20)[0], "few")
    coordinates = re.findall(r' (?:d|x|y)="([^"]*)"', drawing)
    assert len(coordinates) > 20
    assert not [place for place in coordinates if re.search(r"\.\d{3}", place)]
    assert "<g id" not in drawing


def test_an_svg_file_is_whole_and_has_a_light_background():
    file = svg_on_paper(draw_svg(scattered(5)[0], "few"))
    root = ElementTree.fromstring(file)
    assert root[0].tag.endswith("rect") or root[1].tag.endswith("rect")
    assert file.startswith("<?xml")


def test_names_of_files_are_plain_and_begin_with_the_experiment(tmp_path):
    write_picture(Picture("made-race-a/b c", "", scattered(5)[0]), "made-race", tmp_path)
    write_picture(Picture("other", "", scattered(5)[0]), "made-race", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "made-race-a-b-c.png",
        "made-race-a-b-c.svg",
        "made-race-other.png",
        "made-race-other.svg",
    ]


def test_a_drawing_that_is_too_heavy_for_the_page_is_shown_as_png(tmp_path, monkeypatch):
    monkeypatch.setattr(sections, "HEAVY", 10)
    shown = write_picture(Picture("x", "c", scattered(5)[0]), "made-race", tmp_path)
    assert '<img src="data:image/png;base64,' in shown
    assert "<svg" not in shown
