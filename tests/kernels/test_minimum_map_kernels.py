"""The natural map and its derivative against formulas that a reader can check."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

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


# -- policy iteration --------------------------------------------------------------------------------------------------


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    lower = rng.choice([-np.inf, -1.0, 0.0], n)
    upper = np.where(
        np.isinf(lower), rng.choice([0.5, np.inf], n), np.maximum(lower, -1.0) + rng.choice([0.0, 1.0, np.inf], n)
    )
    x, y, weight = rng.standard_normal((3, n))
    sets = rng.integers(-1, 2, n).astype(np.int8)
    return rng, x, y, np.abs(weight), freeze(lower), freeze(upper), sets


@given(seed=strategies.SEEDS, n=st.integers(0, 40), noise=st.sampled_from([0.0, 0.3]))
def test_a_row_chooses_the_middle_of_its_three_numbers_and_stays_within_the_noise(seed, n, noise):
    _, x, y, weight, lower, upper, sets = drawn(seed, n)
    wanted = np.empty_like(sets)
    changed, largest = minimum_map.choose(x, y, lower, upper, weight, noise, sets, wanted)
    to_lower = weight * y - (x - lower) > np.where(sets == -1, -noise, noise)
    to_upper = weight * y - (x - upper) < np.where(sets == 1, noise, -noise)
    expected = np.where(to_lower | (lower == upper), -1, np.where(to_upper, 1, 0))
    np.testing.assert_array_equal(wanted, expected)
    assert changed == np.count_nonzero(expected != sets)
    assert largest == np.abs(x).max(initial=0.0)


@given(seed=strategies.SEEDS, n=st.integers(0, 40))
def test_without_noise_the_choice_is_the_piece_of_the_natural_map(seed, n):
    _, x, y, weight, lower, upper, sets = drawn(seed, n)
    wanted = np.empty_like(sets)
    minimum_map.choose(x, y, lower, upper, weight, 0.0, sets, wanted)
    natural = x - np.clip(x - weight * y, lower, upper)
    pieces = np.select([wanted == -1, wanted == 1], [x - lower, x - upper], weight * y)
    free = lower < upper  # of a fixed row both bounds are the same piece
    np.testing.assert_allclose(pieces[free], natural[free], atol=1e-14)


@given(seed=strategies.SEEDS, n=st.integers(0, 40), factor=st.sampled_from([1.0, 0.25]))
def test_rows_go_to_their_bounds_and_the_right_side_is_that_of_the_others(seed, n, factor):
    rng, x, y, scale, lower, upper, sets = drawn(seed, n)
    sets[(sets == -1) & np.isinf(lower)] = 0
    sets[(sets == 1) & np.isinf(upper)] = 0
    bound, before = np.select([sets == -1, sets == 1], [lower, upper], 0.0), x.copy()
    free, out = np.empty(n, dtype=np.bool_), np.empty(n)
    moved = minimum_map.place(sets, lower, upper, x, free)
    np.testing.assert_array_equal(free, sets == 0)
    np.testing.assert_array_equal(x, np.where(free, before, bound))
    assert moved == np.count_nonzero(x != before)
    largest, squares = minimum_map.gather(free, y, freeze(scale), factor, out)
    np.testing.assert_allclose(out, np.where(free, -factor * scale * y, 0.0), rtol=1e-15)
    assert largest == np.abs(out).max(initial=0.0)
    np.testing.assert_allclose(squares, np.sum(out**2), rtol=1e-13)
    kept = rng.standard_normal(n)
    expected = np.where(free, kept, 0.0)
    minimum_map.keep(free, kept)
    np.testing.assert_array_equal(kept, expected)


@given(seed=strategies.SEEDS, n=st.integers(0, 40))
def test_a_step_is_taken_outside_and_clipped_inside(seed, n):
    rng, x, dx, scale, lower, upper, _ = drawn(seed, n)
    expected, inside = x + 0.5 * (scale * dx), np.empty(n)
    assert minimum_map.advance(0.5, freeze(scale), dx, lower, upper, x, inside) == 0.0
    np.testing.assert_allclose(x, expected, rtol=1e-15)
    np.testing.assert_array_equal(inside, np.clip(x, lower, upper))
    if n:
        dx[rng.integers(n)] = np.inf
        assert np.isnan(minimum_map.advance(0.5, freeze(scale), dx, lower, upper, x, inside))


@given(seed=strategies.SEEDS, n=st.integers(0, 40))
def test_the_first_sets_are_those_of_the_position(seed, n):
    _, x, b, weight, lower, upper, sets = drawn(seed, n)
    x = np.clip(x, lower, upper)
    bias = minimum_map.sort(x, lower, upper, weight, freeze(b), sets)
    np.testing.assert_array_equal(sets, np.where(x <= lower, -1, np.where(x >= upper, 1, 0)))
    assert bias == np.abs(weight * b).max(initial=0.0)
