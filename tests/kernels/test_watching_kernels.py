"""The quick look at an iterate against the careful one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.measures import watching
from perp.problems.inputs import freeze

LANES = int(watching.LANES)


def look_twice(x, y, lower, upper, scale, previous, mark, plain=False):
    """By `watch_quickly` and by `watch_rows`; `plain` has no bounds and no scales to read."""
    inside = (lower < previous) & (previous < upper)
    bounds, scales = (freeze(lower), freeze(upper)), freeze(scale)
    unread = freeze(np.full(x.size, np.nan))
    lanes = np.full(int(watching.KINDS) * LANES, np.nan)
    if plain:
        quick = watching.watch_quickly(x, y, False, unread, unread, False, unread, previous, mark, lanes)
    else:
        quick = watching.watch_quickly(x, y, True, *bounds, True, scales, previous, mark, lanes)
        if (scale == 1.0).all():
            again = watching.watch_quickly(x, y, True, *bounds, False, unread, previous, mark, lanes)
            assert again == quick
    return quick, watching.watch_rows(np.uint64(0), x, y, *bounds, scales, previous, mark, inside)


def assert_same(quick, careful):
    residual, merit, active, changed, change, drift, from_mark, largest, probe = quick
    assert (residual, active, changed, change, largest, probe) == (*careful[:1], *careful[2:5], careful[7], careful[8])
    assert drift == pytest.approx(careful[5], rel=1e-15)  # one may be contracted, the other not
    assert merit == pytest.approx(careful[1], rel=1e-12)
    assert (from_mark == 0.0) == (careful[6] == 0.0)


@given(st.integers(0, 1000), st.sampled_from([1, 3, LANES - 1, LANES, LANES + 1, 3 * LANES + 17]), st.booleans())
def test_the_quick_look_sees_what_the_careful_one_sees(seed, n, scaled):
    rng = np.random.default_rng(seed)
    lower = np.where(rng.random(n) < 0.3, -np.inf, -rng.random(n))
    upper = np.where(rng.random(n) < 0.3, np.inf, rng.random(n))
    fixed = rng.random(n) < 0.1
    upper[fixed] = lower[fixed] = 0.25
    x = np.clip(rng.standard_normal(n), lower, upper)
    previous = np.clip(x + rng.standard_normal(n), lower, upper)
    mark = x.copy() if seed % 2 else previous
    scale = np.exp2(rng.integers(-3, 3, n)) if scaled else np.ones(n)
    assert_same(*look_twice(x, rng.standard_normal(n), lower, upper, scale, previous, mark))


@given(st.integers(0, 1000), st.sampled_from([2, LANES + 5]))
def test_the_look_at_an_lcp_reads_no_bounds(seed, n):
    rng = np.random.default_rng(seed)
    x = np.maximum(rng.standard_normal(n), 0.0)
    y, previous, mark = rng.standard_normal((3, n))
    zero, infinite = np.zeros(n), np.full(n, np.inf)
    assert_same(*look_twice(x, y, zero, infinite, np.ones(n), previous, mark, plain=True))


def test_a_mark_that_differs_in_the_last_row_only_is_another_point():
    n = 2 * LANES + 3
    x, previous = np.ones(n), np.zeros(n)
    mark = x.copy()
    mark[-1] = np.nextafter(1.0, 2.0)
    zero, infinite = np.zeros(n), np.full(n, np.inf)
    quick, _ = look_twice(x, np.ones(n), zero, infinite, np.ones(n), previous, mark, plain=True)
    assert quick[6] > 0.0


@pytest.mark.parametrize("kind", ["lcp", "box"])
def test_numbers_whose_squares_overflow_are_looked_at_with_care(kind):
    A, b = np.eye(2), [1e200, -1.0]
    problem = perp.LCP(A, b) if kind == "lcp" else perp.BoxLCP(A, b, 0.0, 1e300)
    watch = perp.problems.residuals.Watch(problem)
    residual, merit, active, changed, *_, probe = watch.look(np.array([0.0, 1.0]))
    assert (residual, merit, probe) == (0.0, 0.0, 0.0)
    assert (active, changed) == (1, 1)
    watch.accept(np.array([0.0, 1.0]))
    assert watch.look(np.array([1.0, 1.0]))[2:4] == (2, 1)
