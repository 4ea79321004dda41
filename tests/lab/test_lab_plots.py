"""Plots: lines for rows; and SVG that follows the page."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import perp
from perp.errors import MissingExtra
from perp.lab.palette import DASHES, SERIES, assign_strokes
from perp.lab.plots import draw_convergence, figure_to_svg, pattern_to_png
from perp.solvers.roster import METHODS


def test_each_row_is_a_line_in_both_panels_and_the_legend_names_them_best_first(make_row, make_failure):
    rows = [make_row("slow", seconds=9.0), make_row("fast"), make_failure("stack", "raised", "ValueError: no")]
    figure = draw_convergence(rows, 1e-8)
    by_iteration, by_seconds = figure.axes
    assert by_iteration.get_yscale() == "log"
    assert by_seconds.get_xscale() == "log"
    for axes in figure.axes:
        labels = [line.get_label() for line in axes.get_lines()]
        assert [label for label in labels if not label.startswith("_")] == ["fast", "slow"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["fast", "slow"]


def test_a_method_looks_the_same_in_every_figure(make_row):
    strokes = assign_strokes(["jacobi", "pgs"])
    (line, *_) = draw_convergence([make_row("pgs")], 1e-8, strokes=strokes).axes[0].get_lines()
    assert line.get_color() == strokes["pgs"].colour == SERIES[1].light


def test_all_methods_look_different():
    count = len(SERIES) * len(DASHES)
    strokes = assign_strokes(f"method {k}" for k in range(count))
    assert len(set(strokes.values())) == count == 42 >= len(METHODS)


@pytest.mark.parametrize("residual", [np.zeros(50), np.geomspace(1.0, 1e300, 50), np.full(50, 1e-3)])
def test_exact_diverging_and_flat_histories_can_be_drawn(make_row, residual):
    figure = draw_convergence([make_row(series={"residual": residual})], 1e-8)
    bottom, top = figure.axes[0].get_ylim()
    assert 0.0 < bottom < top < 1e4
    figure_to_svg(figure, "stack")


def test_no_rows_and_no_tolerance_make_an_empty_figure():
    assert figure_to_svg(draw_convergence([], 0.0), "empty").startswith("<svg")


def test_svg_speaks_in_the_colours_of_the_page_and_has_its_own_names(make_row):
    drawings = [figure_to_svg(draw_convergence([make_row()], 1e-8), name) for name in ("one", "two")]
    for drawing in drawings:
        assert drawing.startswith("<svg")
        assert "var(--series-1)" in drawing
        assert "var(--ink)" in drawing
        assert not [shade.light for shade in SERIES if shade.light in drawing]
    names = [set(re.findall(r'clipPath id="(\w+)"', drawing)) for drawing in drawings]
    assert names[0]
    assert not names[0] & names[1]


def test_the_same_rows_give_the_same_svg(make_row):
    first, second = (figure_to_svg(draw_convergence([make_row()], 1e-8), "one") for _ in range(2))
    assert first == second


def test_a_pattern_is_a_picture_unless_the_operator_knows_no_entries():
    assert pattern_to_png(perp.LCP(np.eye(5), np.ones(5))).startswith("data:image/png;base64,")
    bare = LinearOperator((5, 5), matvec=lambda x: x, dtype=float)
    assert pattern_to_png(perp.LCP(bare, np.ones(5))) is None


def test_without_matplotlib_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="pip install matplotlib"):
        draw_convergence([], 1e-8)
