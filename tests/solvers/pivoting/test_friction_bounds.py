"""Friction bounds that follow the normal impulses: how far they go, when they rest, when they came again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import gallery
from perp.solvers.pivoting.pivot_state import CAUTION, FIRST_SHARE, LEAST_SHARE, SAME_BOUNDS, FrictionBounds


def begin(*limit):
    return FrictionBounds(np.arange(len(limit)), np.array(limit, dtype=float))


@given(problem=strategies.contact_problems(), seed=strategies.SEEDS)
def test_they_begin_as_friction_times_the_normal_impulse(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    bounds = FrictionBounds.of(problem, x)
    tangents = [3 * c + t for c in range(problem.contacts) for t in (1, 2)]
    np.testing.assert_array_equal(bounds.rows, tangents)
    np.testing.assert_allclose(
        bounds.limit, np.repeat(problem.friction * np.maximum(x[: 3 * problem.contacts : 3], 0), 2)
    )


def test_a_contact_in_the_plane_has_one_tangent():
    problem = perp.ContactProblem(np.eye(4), [-1.0, 0.5, -2.0, 0.5], [0.5, 0.25], dimension=2)
    bounds = FrictionBounds.of(problem, np.array([1.0, 0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(bounds.rows, [1, 3])
    np.testing.assert_array_equal(bounds.limit, [0.5, 0.5])


def test_the_first_step_goes_all_the_way():
    bounds = begin(0.0, 1.0)
    assert bounds.follow(np.array([2.0, 0.0]))
    np.testing.assert_array_equal(bounds.limit, [2.0, 0.0])


def test_later_steps_go_a_share_of_the_way():
    bounds = begin(0.0)
    bounds.follow(np.array([4.0]))
    assert bounds.follow(np.array([5.0]))
    assert bounds.limit[0] == pytest.approx(4.0 + FIRST_SHARE)


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=5), st.floats(0.0, 0.9))
def test_they_rest_where_they_miss_by_rounding_only(wanted, part):
    wanted = np.array(wanted)
    bounds = begin(*(wanted + part * SAME_BOUNDS * wanted.max()))
    before = bounds.limit.copy()
    if np.abs(before - wanted).max() <= SAME_BOUNDS * wanted.max():
        assert not bounds.follow(wanted)
        np.testing.assert_array_equal(bounds.limit, before)


def test_closed_bounds_that_are_wanted_closed_rest():
    assert not begin(0.0, 0.0).follow(np.zeros(2))
    assert begin(1e-300, 0.0).follow(np.zeros(2))


def test_no_tangents_rest():
    assert not begin().follow(np.empty(0))


def test_a_map_that_shrinks_distances_is_followed_to_its_fixed_point():
    bounds, steps = begin(0.0, 5.0), 0
    while bounds.follow(1.0 + 0.5 * bounds.limit[::-1]):
        steps += 1
        assert steps < 100
    np.testing.assert_allclose(bounds.limit, 2.0, rtol=1e-10)


@pytest.mark.parametrize("slope", [-1.0, -1.5, -3.0, -10.0])
def test_a_map_on_which_undamped_steps_swing_for_ever_is_followed_to_its_fixed_point(slope):
    bounds, steps = begin(0.0), 0
    while bounds.follow(np.maximum(1.0 + slope * (bounds.limit - 1.0), 0.0)):
        steps += 1
        assert steps < 2000
    np.testing.assert_allclose(bounds.limit, 1.0, rtol=1e-10)


def test_the_share_shrinks_when_the_way_gets_no_shorter_but_not_for_ever():
    bounds, shares = begin(0.0), []
    for k in range(400):
        bounds.follow(bounds.limit + (1.0 if k % 2 else 2.0))
        shares.append(bounds.share)
    assert min(shares) == LEAST_SHARE
    assert all(later >= CAUTION * share * (1 - 1e-12) for share, later in pairwise(shares))


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=30))
def test_bounds_stay_between_where_they_are_and_what_is_wanted(wishes):
    bounds = begin(3.0)
    for wish in wishes:
        before = bounds.limit[0]
        bounds.follow(np.array([wish]))
        assert min(before, wish) - 1e-12 <= bounds.limit[0] <= max(before, wish) + 1e-12
        assert 0.0 < bounds.share <= 1.0


def test_index_sets_come_again_only_with_the_same_bounds_and_the_same_share():
    bounds = begin(1.0)
    assert not bounds.came_again(b"ab")
    assert bounds.came_again(b"ab")
    assert not bounds.came_again(b"ac")
    bounds.limit = np.array([2.0])
    assert not bounds.came_again(b"ab")
    bounds.limit, bounds.share = np.array([1.0]), 0.5
    assert not bounds.came_again(b"ab")


@pytest.mark.parametrize("method", ["dantzig", "block_principal"])
def test_the_answer_obeys_the_bounds_of_its_own_normal_impulses(method):
    problem = gallery.make("box_stack", n=48, load="gravity").problem
    result = perp.solve(problem, method)
    assert result.success
    normal, tangents = result.x[::3], np.abs(result.x.reshape(-1, 3)[:, 1:])
    assert (tangents <= (problem.friction * normal)[:, None] + 1e-9).all()
