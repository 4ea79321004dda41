"""What joints refuse, by name and value, before any work."""

from __future__ import annotations

import numpy as np
import pytest
from joint_stepping import random_poses

from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.joints import Ball, Distance, Fixed, Hinge, Universal
from perp.worlds.rigid3d.poses import Poses

HERE, X, Y, Z = np.zeros(3), *np.eye(3)
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball(1, 1, HERE), "body_a and body_b are both 1: body 1 cannot"),
        (lambda: Ball(-1, -1, HERE), "both -1: the world cannot"),
        (lambda: Ball(-2, 1, HERE), "body_a is -2"),
        (lambda: Ball(0, 1, [1.0, 2.0]), "anchor has 2 numbers"),
        (lambda: Ball(0, 1, [1.0, NAN, 2.0]), r"anchor\[1\] is nan"),
        (lambda: Ball(0, 1, HERE, stiffness=-1.0), "stiffness is -1.0"),
        (lambda: Ball(0, 1, HERE, damping=-2.0), "damping is -2.0"),
        (lambda: Ball(0, 1, HERE, compliance=-3.0), "compliance is -3.0"),
        (lambda: Ball(0, 1, HERE, stiffness=INF), "stiffness is inf"),
        (lambda: Ball(0, 1, HERE, stiffness=0.0, damping=0.0), "both zero"),
        (lambda: Ball(0, 1, HERE, stiffness=1.0, compliance=1.0), "compliance is 1.0"),
        (lambda: Ball(0, 1, HERE, error_reduction=1.5), "error_reduction is 1.5"),
        (lambda: Ball(0, 1, HERE, error_reduction=-0.5), "error_reduction is -0.5"),
        (lambda: Hinge(0, 1, HERE, HERE), "axis is .* zero vector"),
        (lambda: Hinge(0, 1, HERE, [0.0, INF, 0.0]), r"axis\[1\] is inf"),
        (lambda: Hinge(0, 1, HERE, Z, limits=(1.0, 0.5)), r"limits is \(1.0, 0.5\)"),
        (lambda: Hinge(0, 1, HERE, Z, limits=(NAN, 0.5)), r"limits\[0\] is nan"),
        (lambda: Hinge(0, 1, HERE, Z, limits=(INF, INF)), "no angle lies"),
        (lambda: Hinge(0, 1, HERE, Z, motor_speed=INF), "motor_speed is inf"),
        (lambda: Hinge(0, 1, HERE, Z, motor_speed=1.0, max_torque=-1.0), "max_torque is -1.0"),
        (lambda: Hinge(0, 1, HERE, Z, motor_speed=1.0, max_torque=NAN), "max_torque is nan"),
        (lambda: Hinge(0, 1, HERE, Z, bend_stiffness=-1.0), "bend_stiffness is -1.0"),
        (lambda: Hinge(0, 1, HERE, Z, bend_damping=1.0, bend_compliance=0.1), "bend_compliance is 0.1"),
        (lambda: Universal(0, 1, HERE, X, -2.0 * X), "axis_a .* and axis_b .* are parallel"),
        (lambda: Universal(0, 1, HERE, X, HERE), "axis_b is .* zero vector"),
        (lambda: Fixed(0, 1, HERE, bend_compliance=-1.0), "bend_compliance is -1.0"),
        (lambda: Distance(0, 1, X, X), "0.0 m apart"),
        (lambda: Distance(0, 1, X, Y, length=-1.0), "length is -1.0"),
        (lambda: Distance(0, 1, X, Y, length=0.0), "length is 0.0"),
        (lambda: Distance(0, 1, X, Y, length=NAN), "length is nan"),
    ],
)
def test_bad_values_are_refused_when_the_joint_is_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball(0.0, 1, HERE), "body_a is 0.0; a whole number"),
        (lambda: Ball(0, True, HERE), "body_b is True"),
        (lambda: Ball(0, 1, None), "anchor is None"),
        (lambda: Ball(0, 1, HERE, stiffness="soft"), "stiffness is 'soft'"),
        (lambda: Hinge(0, 1, HERE, Z, limits=1.0), "limits is 1.0; a pair"),
        (lambda: Hinge(0, 1, HERE, Z, limits=(0.0, "up")), r"limits\[1\] is 'up'"),
        (lambda: Hinge(0, 1, HERE, Z, motor_speed="fast"), "motor_speed is 'fast'"),
        (lambda: Distance(0, 1, X, Y, rope=1), "rope is 1; True or False"),
    ],
)
def test_wrong_types_are_refused_when_the_joint_is_made(make, message):
    with pytest.raises(TypeError, match=message):
        make()


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 7.0, 1e300])
def test_an_axis_of_any_length_is_brought_to_length_one(scale):
    axis = Hinge(0, 1, HERE, scale * np.array([3.0, 0.0, 4.0])).axis
    np.testing.assert_allclose(axis, [0.6, 0.0, 0.8], rtol=1e-15)


def test_bending_has_the_softness_of_the_points_unless_it_has_its_own():
    assert Fixed(0, 1, HERE, stiffness=2.0, damping=1.0).bend_softness.stiffness == 2.0
    assert Hinge(0, 1, HERE, Z, compliance=1e-6).bend_softness.compliance == 1e-6
    own = Fixed(0, 1, HERE, stiffness=2.0, bend_compliance=1e-5).bend_softness
    assert own.is_rigid
    assert own.compliance == 1e-5


def test_a_set_refuses_bodies_that_are_not_there_and_poses_that_are_none():
    poses = random_poses(2, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"body_b of joints\[1\] \(hinge\) is 2, but there are 2 bodies"):
        JointSet([Ball(0, 1, HERE), Hinge(0, 2, HERE, X)], poses)
    with pytest.raises(TypeError, match=r"joints\[0\] is str"):
        JointSet(["ball"], poses)
    with pytest.raises(TypeError, match="poses is ndarray"):
        JointSet([Ball(0, 1, HERE)], poses.position)
    with pytest.raises(ValueError, match=r"orientation\[0\] has length 2.0"):
        JointSet([Ball(-1, 0, HERE)], Poses([HERE], [[2.0, 0.0, 0.0, 0.0]]))
    with pytest.raises(ValueError, match=r"position\[0,2\] is nan"):
        JointSet([Ball(-1, 0, HERE)], Poses([[0.0, 0.0, NAN]], [[1.0, 0.0, 0.0, 0.0]]))


def test_rows_are_refused_for_another_number_of_bodies():
    joints = JointSet([Ball(0, 1, HERE)], random_poses(2, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="poses has 3 bodies; the joints were made for 2"):
        joints.rows(random_poses(3, np.random.default_rng(0)))


@pytest.mark.filterwarnings("error")
def test_rows_of_a_world_that_has_blown_up_are_made_without_a_warning():
    joints = JointSet(
        [Fixed(-1, 0, X), Hinge(-1, 0, X, Z, limits=(0.0, 1.0))], random_poses(1, np.random.default_rng(0))
    )
    joints.rows(Poses([[INF, NAN, 0.0]], [[NAN, INF, 0.0, 1.0]]))
