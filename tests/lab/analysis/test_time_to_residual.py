"""Times to a residual: first arrivals, medians that count those who never arrive, and their curves."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from made_rows import history_row, solved_row

from perp.lab.analysis.profiles import Arrival, arrival_curve, draw_arrivals, first_arrival


def test_the_first_check_at_or_below_counts_with_the_preparation_and_nothing_is_interpolated():
    row = history_row([1.0, 0.1, 0.3, 0.01], setup=0.5)
    assert first_arrival(row, 1.0) == Arrival(True, 0.5, 0.0)
    assert first_arrival(row, 0.5) == Arrival(True, 1.5, 1.0)
    assert first_arrival(row, 0.1) == Arrival(True, 1.5, 1.0)
    assert first_arrival(row, 0.05) == Arrival(True, 3.5, 3.0)
    assert first_arrival(row, 0.001) == Arrival(False, inf, inf)


def test_a_residual_that_is_not_a_number_is_never_reached():
    assert not first_arrival(history_row([nan, nan]), 1e3).reached
    assert first_arrival(history_row([nan, 0.5]), 0.5).iteration == 1.0


def test_a_row_without_a_history_arrives_at_its_end():
    row = solved_row(residual=1e-9, iterations=7.0, seconds=2.0, setup_seconds=1.0)
    assert first_arrival(row, 1e-8) == Arrival(True, 3.0, 7.0)
    assert first_arrival(row, 1e-10) == Arrival()
    assert first_arrival(solved_row(residual=nan), 1.0) == Arrival()


def test_a_history_without_times_arrives_at_no_known_time():
    row = history_row([1.0, 0.1], series={"residual": np.array([1.0, 0.1]), "iteration": np.array([0.0, 1.0])})
    assert first_arrival(row, 0.1) == Arrival(True, inf, 1.0)


def test_giving_up_early_does_not_make_the_median_faster():
    rows = [history_row([1.0, 0.1], seed=0), history_row([1.0, 1.0, 0.1], seed=1), history_row([1.0], seed=2)]
    curve = arrival_curve(rows, [1.0, 0.1, 0.01])
    np.testing.assert_array_equal(curve.iterations, [0.0, 2.0, inf])  # the median of 1, 2 and never is 2, not 1.5
    np.testing.assert_array_equal(curve.seconds, [0.5, 2.5, inf])
    np.testing.assert_allclose(curve.share, [1.0, 2 / 3, 0.0])


def test_lower_residuals_take_longer_and_fewer_problems_reach_them():
    generator = np.random.default_rng(5)
    rows = [history_row(list(10.0 ** generator.uniform(-8, 1, 30)), seed=seed) for seed in range(9)]
    curve = arrival_curve(rows)
    assert np.all(curve.iterations[1:] >= curve.iterations[:-1])
    assert np.all(np.diff(curve.share) <= 0.0)


def test_no_rows_reach_nothing():
    curve = arrival_curve([], [1.0, 0.1])
    assert not np.isfinite(curve.seconds).any()
    np.testing.assert_array_equal(curve.share, [0.0, 0.0])


def test_lines_end_where_half_of_the_problems_are_out_of_reach():
    pytest.importorskip("matplotlib")
    from perp.lab.plots import new_figure

    figure, axes = new_figure(1, 2)
    curves = {"pgs": arrival_curve([history_row([1.0, 0.1])], [1.0, 0.1, 0.01]), "lost": arrival_curve([], [1.0])}
    for panel, by in zip(axes, ("seconds", "iterations"), strict=True):
        first, second = draw_arrivals(panel, curves, by=by)
        np.testing.assert_array_equal(first.get_ydata(), [1.0, 0.1])
        assert second.get_ydata().size == 0
        assert panel.get_xscale() == panel.get_yscale() == "log"
    figure.draw_without_rendering()
    with pytest.raises(ValueError, match="by='furlongs'"):
        draw_arrivals(axes[0], curves, by="furlongs")
