"""Convergence curves that travel with frames."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import perp
from perp.viewer.frames.curve import MOST_POINTS, convergence_curve, thin


@pytest.mark.parametrize("count", [257, 258, 300, 1000, 54_321])
def test_long_curves_keep_their_ends_and_their_least_value(count):
    random = np.random.default_rng(count)
    values = np.exp(random.normal(size=count) - np.arange(count) * 20 / count)
    values[count // 3] = 1e-30
    kept = thin(values, MOST_POINTS)
    assert MOST_POINTS / 2 < kept.size <= MOST_POINTS
    assert (np.diff(kept) > 0).all()
    assert {0, count - 1, count // 3, int(np.argmax(values))} <= set(kept.tolist())


def test_short_curves_stay_whole():
    assert thin(np.ones(MOST_POINTS), MOST_POINTS).tolist() == list(range(MOST_POINTS))
    assert thin(np.empty(0), MOST_POINTS).size == 0


def test_values_that_are_no_numbers_hide_no_others():
    values = np.full(1000, np.nan)
    values[[100, 700]] = 3.0, 2.0
    kept = set(thin(values, MOST_POINTS).tolist())
    assert {0, 100, 700, 999} <= kept


@pytest.mark.parametrize("method", ["pgs", "auto"])
def test_the_curve_begins_at_the_start_and_ends_with_the_result(method):
    problem = perp.gallery.make("box_stack", n=36).problem
    result = perp.solve(problem, method)
    curve = convergence_curve(result)
    assert 2 <= len(curve) <= MOST_POINTS
    assert curve[0, 0] == 0
    assert (np.diff(curve[:, 0]) >= 0).all()
    assert curve[:, 1].min() == result.history.residual.min()
    assert curve[-1].tolist() == [result.history.iteration[-1], result.history.residual[-1]]


def test_a_solver_of_ones_own_has_no_curve():
    assert convergence_curve(None).shape == (0, 2)
    assert convergence_curve(SimpleNamespace(x=np.zeros(3))).shape == (0, 2)
