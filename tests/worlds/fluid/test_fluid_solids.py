"""Signed distances of solids, and particles to begin with."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.errors import InvalidProblem
from perp.worlds.fluid import (
    Ball,
    BallTank,
    Box,
    BoxTank,
    Complement,
    HalfSpace,
    Intersection,
    Turned,
    Union,
    seed_particles,
)
from perp.worlds.fluid.vessel import StaggeredGrid, sample_solid


def test_distances_are_those_of_a_pencil_and_negative_inside():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0], [-1.0, 0.5], [1.5, 2.0]])
    np.testing.assert_allclose(HalfSpace((0, 1), (0, 2))(points), [-1.0, 3.0, 0.0, -0.5, 1.0])
    np.testing.assert_allclose(Ball((0, 0), 2.0)(points), [-2.0, 3.0, 2**0.5 - 2.0, 1.25**0.5 - 2.0, 0.5])
    np.testing.assert_allclose(Box((0, 0), (2, 3))(points), [0.0, 2**0.5, -1.0, 1.0, -0.5])
    np.testing.assert_allclose(BoxTank((0, 0), (2, 3))(points), [0.0, -(2**0.5), 1.0, -1.0, 0.5])
    np.testing.assert_allclose(BallTank((0, 0), 2.0)(points), -Ball((0, 0), 2.0)(points))


def test_a_turned_tank_has_its_floor_where_the_angle_says():
    tank = Turned(BoxTank((-1, -1), (1, 1)), 0.3, (0, 0))
    across, up = np.array([np.cos(0.3), np.sin(0.3)]), np.array([-np.sin(0.3), np.cos(0.3)])
    np.testing.assert_allclose(tank(np.stack([-up, across, 0.5 * up, -1.25 * up])), [0.0, 0.0, 0.5, -0.25], atol=1e-15)
    space = Turned(BoxTank((-1, -1, -1), (1, 1, 1)), 0.3, (0, 0, 0))  # from x towards z: y is the axle
    np.testing.assert_allclose(space(np.array([[-up[0], 0.9, -up[1]]])), [0.0], atol=1e-15)


@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_unions_and_intersections_are_solid_where_they_should_be(numbers):
    a, b, points = Ball(numbers[:2], 1.0), Box((-1, -1), (0.5, 2)), np.array([numbers[2:4], numbers[4:6]])
    solid_a, solid_b = a(points) < 0.0, b(points) < 0.0
    np.testing.assert_array_equal(Union(a, b)(points) < 0.0, solid_a | solid_b)
    np.testing.assert_array_equal(Intersection(a, b)(points) < 0.0, solid_a & solid_b)
    np.testing.assert_array_equal(Complement(a)(points) > 0.0, solid_a)


def test_solids_can_be_pickled_and_tell_what_they_are():
    solid = Union(BoxTank((0, 0), (1, 1)), Ball((0.5, 0.5), 0.1))
    points = np.array([[0.2, 0.3], [0.5, 0.45]])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(solid))(points), solid(points))
    assert "Ball" in repr(solid)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HalfSpace((0, 0), (0, 0)), r"normal is \[0.0, 0.0\]; a direction"),
        (lambda: HalfSpace((0, 0), (0, 1, 0)), "normal has length 3"),
        (lambda: Ball((0, 0), -1.0), "radius is -1.0"),
        (lambda: Box((0, 1), (1, 1)), r"lower\[1\] is 1.0 and upper\[1\] 1.0"),
        (lambda: Union(), "at least one"),
        (lambda: Turned(Ball((0, 0), 1.0), np.inf, (0, 0)), "angle is inf"),
        (lambda: Turned(Ball((0, 0), 1.0), 1.0, (0, 0), axes=(0, 2)), r"axes is \(0, 2\); two of the 2"),
        (lambda: Turned(Ball((0, 0), 1.0), 1.0, (0, 0), axes=(1, -1)), r"axes is \(1, -1\); two of the 2"),
        (lambda: Ball((0,), 1.0)(np.zeros((1, 2))), "has 1 axes; points have 2"),
        (lambda: Box((0, 0), (1, 1))(np.zeros((1, 3))), "has 2 axes; points have 3"),
        (lambda: HalfSpace((0, 0), (1, 1))(np.zeros((1, 3))), "has 2 axes; points have 3"),
        (lambda: Turned(Ball((0, 0), 1.0), 1.0, (0, 0))(np.zeros((1, 3))), "has 2 axes; points have 3"),
        (lambda: seed_particles(lambda p: p[:, 0] * np.nan, (2, 2), 1.0), r"inside returned NaN for \[0.25, 0.25\]"),
        (lambda: sample_solid(lambda p: p, StaggeredGrid((2, 2), 1.0)), r"solid returned an array of shape \(9, 2\)"),
        (lambda: sample_solid(lambda p: p[:, 0] * np.nan, StaggeredGrid((2, 2), 1.0)), r"solid\[0\] is nan"),
        (lambda: StaggeredGrid((4,), 1.0), "cells has 1 numbers"),
        (lambda: StaggeredGrid((4, 0), 1.0), r"cells\[1\] is 0"),
        (lambda: StaggeredGrid((4, 4), 0.0), "spacing is 0.0"),
        (lambda: StaggeredGrid((4, 4), 1.0, (0, np.nan)), r"origin\[1\] is nan"),
        (lambda: StaggeredGrid((2**16, 2**16), 1.0), "fewer than"),
        (
            lambda: StaggeredGrid((4, 4), 0.1, (0.0, 1e14)),
            r"origin\[1\] is 100000000000000.0; numbers there do not resolve cells",
        ),
        (lambda: seed_particles(lambda p: p, (4, 4), 1.0), "inside returned an array of shape"),
        (lambda: seed_particles(lambda p: p[:, 0] < 1, (4, 4), 1.0, per_axis=0), "per_axis is 0"),
        (lambda: seed_particles(lambda p: p[:, 0] < 1, (4, 4), 1.0, jitter=2.0), "jitter is 2.0"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name_and_value(make, message):
    with pytest.raises(
        InvalidProblem if "is -1" not in message and "is 0" not in message else ValueError, match=message
    ):
        make()


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_a_normal_is_a_direction_whatever_its_length(size):
    np.testing.assert_allclose(HalfSpace((0, 0), (3.0 * size, 4.0 * size)).normal, (0.6, 0.8), rtol=1e-15)


@pytest.mark.parametrize("make", [lambda: StaggeredGrid(4, 1.0), lambda: seed_particles(None, (4, 4), 1.0)])
def test_what_is_of_the_wrong_kind_is_refused(make):
    with pytest.raises(TypeError):
        make()


def test_particles_are_the_middles_of_parts_of_cells():
    points = seed_particles(lambda p: p[:, 1] < 0.5, (2, 2), 0.5, (1.0, 0.0))
    np.testing.assert_allclose(np.unique(points[:, 0]), 1.125 + 0.25 * np.arange(4))
    np.testing.assert_allclose(np.unique(points[:, 1]), [0.125, 0.375])
    assert len(points) == 8
    assert len(seed_particles(Ball((1.5, 0.5, 0.5), 9.0), (2, 2, 2), 0.5, (1.0, 0.0, 0.0), per_axis=3)) == 6**3


@given(st.integers(0, 2**31), st.floats(0.0, 1.0))
def test_jitter_leaves_each_particle_in_its_part_and_is_repeated_by_its_seed(seed, jitter):
    even, moved, again = (
        seed_particles(lambda p: p[:, 0] < np.inf, (3, 2), 0.5, jitter=j, seed=seed) for j in (0.0, jitter, jitter)
    )
    rounding = np.spacing(1.5)  # positions reach 1.5
    assert np.abs(moved - even).max() <= 0.125 * jitter + rounding
    np.testing.assert_array_equal(moved, again)
