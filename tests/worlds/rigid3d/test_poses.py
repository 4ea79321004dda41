"""Poses: copies with the world at the end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joint_stepping import random_poses, rotations

from perp.worlds.rigid3d.poses import Poses

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


@given(st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_rotations_are_those_of_the_quaternions(seed, count):
    poses = random_poses(count, np.random.default_rng(seed)) if count else Poses(np.empty((0, 3)), np.empty((0, 4)))
    assert len(poses) == count
    if count:
        np.testing.assert_allclose(poses.rotation, rotations(poses.orientation).as_matrix(), atol=1e-15)
    given_rotation = Poses(poses.position, poses.orientation, poses.rotation)
    np.testing.assert_array_equal(given_rotation.with_world.rotation, poses.with_world.rotation)


def test_the_number_of_the_world_finds_the_world():
    world = random_poses(3, np.random.default_rng(0)).with_world
    assert not world.position[-1].any()
    np.testing.assert_array_equal(world.orientation[-1], UPRIGHT)
    np.testing.assert_array_equal(world.rotation[-1], np.eye(3))


def test_poses_are_copies_that_nobody_can_change():
    position = np.zeros((2, 3))
    poses = Poses(position, np.tile(UPRIGHT, (2, 1)))
    position[0] = 1.0
    assert not poses.position.any()
    for array in (poses.position, poses.orientation, poses.rotation):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), np.zeros((1, 4))), r"position has shape \(3,\); n x 3"),
        ((np.zeros((2, 3)), np.zeros((2, 3))), r"orientation has shape \(2, 3\); n x 4"),
        ((np.zeros((2, 3)), np.zeros((1, 4))), "orientation has 1 bodies, but position has 2"),
        ((np.zeros((1, 3)), np.zeros((1, 4)), np.zeros((1, 9))), r"rotation has shape \(1, 9\); n x 3 x 3"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Poses(*arguments)
