"""The natural map and its derivative against formulas that a reader can check."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given

from perp.kernels.newton import minimum_map
from perp.problems.inputs import freeze


def draw(seed, n=20):
    """A point within bounds of every kind, some rows at a bound, some at a kink, some with y = 0."""
    rng = np.random.default_rng(seed)
    lower = rng.choice([-np.inf, -1.0, 0.0, 0.5], n)
    width = rng.choice([0.0, 1.0, np.inf], n)
    upper = np.where(np.isinf(lower), rng.choice([0.0, np.inf], n), np.maximum(lower, -1.0) + width)
    x = np.clip(
        rng.choice([-5.0, 5.0, 0.0, 0.75], n) + rng.standard_normal(n) * rng.choice([0.0, 1.0], n), lower, upper
    )
    scale = rng.choice([0.25, 1.0, 4.0], n)
    y = rng.standard_normal(n) * rng.choice([0.0, 1.0], n)
    kink = np.isfinite(lower) & (rng.random(n) < 0.2)
    y[kink] = (x[kink] - lower[kink]) / scale[kink]
    return freeze(lower), freeze(upper), x, y, freeze(scale)


def measured(lower, upper, x, y, scale, unit=1.0):
    H, active = np.empty(x.size), np.empty(x.size, dtype=np.bool_)
    squares = minimum_map.measure(x, y, lower, upper, scale, unit, H, active)
    return H, active, squares


@given(seed=strategies.SEEDS)
def test_h_is_the_natural_map_and_a_row_is_active_where_it_is_the_slack(seed):
    lower, upper, x, y, scale = draw(seed)
    H, active, squares = measured(lower, upper, x, y, scale)
    np.testing.assert_allclose(H, x - np.clip(x - scale * y, lower, upper), atol=1e-15)
    np.testing.assert_array_equal(active, (scale * y < x - lower) & (scale * y > x - upper))  # NOTES eq. 77
    assert squares == pytest.approx(np.sum(H * H), rel=1e-14)
    assert not active[lower == upper].any()


@given(seed=strategies.SEEDS)
def test_the_unit_only_changes_the_unit(seed):
    point = draw(seed)
    plain, scaled = measured(*point), measured(*point, unit=2.0**600)
    np.testing.assert_array_equal(plain[0], scaled[0])
    assert scaled[2] == plain[2] * 2.0**-600 * 2.0**-600


@given(seed=strategies.SEEDS)
def test_the_slope_bounds_the_directional_derivative_of_theta_from_above_also_at_kinks(seed):
    lower, upper, x, y, scale = draw(seed)
    H, active, squares = measured(lower, upper, x, y, scale)
    dx, product = np.random.default_rng(seed + 1).standard_normal((2, x.size))
    slope, left = minimum_map.derive(dx, product, scale, 1.0, H, active)
    change = np.where(active, scale * product, dx)  # NOTES eq. 78
    assert slope == pytest.approx(H @ change, abs=1e-13)
    assert left == pytest.approx(np.sum((H + change) ** 2), rel=1e-13)
    tau = 1e-7
    moved = x + tau * dx
    ahead = measured(lower, upper, moved, y + tau * product, scale)[2]
    at_kink = np.isfinite(lower) & (scale * y == x - lower)
    rise = 0.5 * (ahead - squares) / tau
    assert rise <= slope + 1e-4
    if not (at_kink & (np.abs(H) > 0.0)).any():
        assert rise == pytest.approx(slope, abs=1e-4)


def test_a_slack_that_is_no_number_makes_a_sum_that_is_none():
    lower, upper, x, y, scale = draw(0)
    free = np.flatnonzero(np.isinf(lower) & np.isinf(upper))[0]
    y[free] = np.nan
    assert np.isnan(measured(lower, upper, x, y, scale)[2])
