"""Rows of joints against what defines them: derivatives of C, motions that are allowed, momentum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joint_stepping import dense_jacobian, moved, quaternions, random_poses
from scipy.spatial.transform import Rotation

from perp.problems.constraint_rows import JointRows, LimitRows, MotorRows
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.joints import Ball, Distance, Fixed, Hinge, Universal
from perp.worlds.rigid3d.poses import Poses

SEEDS = st.integers(0, 2**32 - 1)
POINT = np.array([0.3, -0.2, 0.5])
X, Y, Z = np.eye(3)


def one_of_each(rng, a=0, b=1):
    axis, other = rng.standard_normal((2, 3))
    anchor, second = rng.standard_normal((2, 3))
    return [
        Ball(a, b, anchor),
        Hinge(a, b, anchor, axis, limits=(-0.3, 0.4), motor_speed=1.0),
        Universal(a, b, anchor, axis, other),
        Fixed(a, b, anchor),
        Distance(a, b, anchor, second),
        Distance(a, b, anchor, second, rope=True),
    ]


def values(joints, poses):
    """C of every row: violations, gaps, and of motors the angle that they turn."""
    parts = []
    for group in joints.rows(poses):
        if isinstance(group, MotorRows):
            motors = [k for k, number in enumerate(joints.hinges) if joints.joints[number].motor_speed is not None]
            parts.append(joints.hinge_angles(poses)[motors])
        else:
            parts.append(group.violation if isinstance(group, JointRows) else group.gap)
    return np.concatenate(parts)


def jacobian(joints, poses):
    return dense_jacobian(joints.rows(poses), len(poses))


@given(SEEDS, st.floats(0.0, 0.8))
def test_the_jacobian_is_the_derivative_of_the_violation_however_far_joints_have_drifted(seed, drift):
    rng = np.random.default_rng(seed)
    made = random_poses(3, rng)
    joints = JointSet(one_of_each(rng, 0, 1) + one_of_each(rng, 2, 0) + one_of_each(rng, -1, 1), made)
    poses = moved(made, drift * rng.uniform(-1.0, 1.0, (3, 6)))
    J, eps = jacobian(joints, poses), 1e-6
    for column in range(18):
        motion = np.zeros(18)
        motion[column] = eps
        ahead, behind = (values(joints, moved(poses, s * motion.reshape(3, 6))) for s in (1.0, -1.0))
        np.testing.assert_allclose((ahead - behind) / (2.0 * eps), J[:, column], rtol=1e-7, atol=1e-7)


@given(SEEDS, st.floats(0.0, 1.0), st.sampled_from(range(6)))
def test_impulses_between_two_bodies_have_no_resultant_force_and_no_resultant_torque(seed, drift, kind):
    rng = np.random.default_rng(seed)
    made = random_poses(2, rng)
    joints = JointSet([one_of_each(rng)[kind]], made)
    poses = moved(made, drift * rng.uniform(-1.0, 1.0, (2, 6)))
    J = jacobian(joints, poses)
    impulse = (J.T @ rng.standard_normal(len(J))).reshape(2, 6)
    torque = impulse[:, 3:].sum(axis=0) + np.cross(poses.position, impulse[:, :3]).sum(axis=0)
    scale = np.abs(J).max() * 10.0
    assert np.abs(impulse[:, :3].sum(axis=0)).max() <= 1e-15 * scale
    assert np.abs(torque).max() <= 1e-14 * scale


@pytest.mark.parametrize(
    ("joint", "rank", "turns"),
    [
        (Ball(0, 1, POINT), 3, [X, Y, Z]),
        (Hinge(0, 1, POINT, X + Y), 5, [X + Y]),
        (Universal(0, 1, POINT, X, Y + Z), 4, [X, Y + Z]),
        (Universal(0, 1, POINT, X, X + Z), 4, [X, X + Z]),
        (Fixed(0, 1, POINT), 6, []),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_joint_leaves_exactly_the_motions_that_it_allows(joint, rank, turns):
    poses = random_poses(2, np.random.default_rng(5))
    J = jacobian(JointSet([joint], poses), poses)
    assert np.linalg.matrix_rank(J) == len(J) == rank
    assert rank + len(turns) == 6
    for spin in turns:  # b turns about the anchor
        motion = np.concatenate([np.zeros(6), np.cross(spin, poses.position[1] - POINT), spin])
        np.testing.assert_allclose(J @ motion, 0.0, atol=1e-14)


def test_a_rod_holds_its_length_only():
    poses = random_poses(2, np.random.default_rng(6))
    J = jacobian(JointSet([Distance(0, 1, poses.position[0], poses.position[1])], poses), poses)
    along = poses.position[1] - poses.position[0]
    along /= np.linalg.norm(along)
    np.testing.assert_allclose(J[0], np.concatenate([-along, np.zeros(3), along, np.zeros(3)]), atol=1e-15)


@given(SEEDS)
def test_joints_are_satisfied_where_they_are_made_and_after_any_common_motion(seed):
    rng = np.random.default_rng(seed)
    made = random_poses(2, rng)
    joints = JointSet(one_of_each(rng), made)
    together = Rotation.random(random_state=rng)
    turned = together * Rotation.from_quat(np.roll(made.orientation, -1, axis=1))
    poses = Poses(together.apply(np.array(made.position)) + rng.standard_normal(3), quaternions(turned))
    assert max(joints.violation(poses)) < 1e-14
    np.testing.assert_allclose(values(joints, poses), values(joints, made), atol=1e-14)


@given(SEEDS, st.floats(-3.1, 3.1))
def test_a_hinge_measures_the_turn_of_b_against_a_by_the_right_hand_rule(seed, angle):
    rng = np.random.default_rng(seed)
    made, axis = random_poses(2, rng), rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    joints = JointSet([Hinge(0, 1, made.position[1], 7.0 * axis, limits=(-1.0, 2.0))], made)
    motion = np.zeros((2, 6))
    motion[1, 3:] = angle * axis
    poses = moved(made, motion)
    assert joints.hinge_angles(poses)[0] == pytest.approx(angle, abs=1e-14)
    _, limits = joints.rows(poses)
    np.testing.assert_allclose(limits.gap, [angle + 1.0, 2.0 - angle], atol=1e-14)
    assert joints.violation(poses).radians == pytest.approx(max(0.0, angle - 2.0, -1.0 - angle), abs=1e-14)


def test_angles_count_whole_turns_from_step_to_step_and_looking_at_them_does_not():
    made = Poses(np.zeros((1, 3)), [[1.0, 0.0, 0.0, 0.0]])
    joints = JointSet([Hinge(-1, 0, np.zeros(3), Z, limits=(-20.0, 20.0))], made)
    for sign in (1.0, -1.0):
        for angle in sign * np.arange(0.0, 15.0, 0.5):
            poses = moved(made, np.array([[0.0, 0.0, 0.0, 0.0, 0.0, angle]]))
            joints.violation(moved(made, np.array([[0.0, 0.0, 0.0, 0.0, 0.0, angle + 2.0]])))
            _, limits = joints.rows(poses)
            np.testing.assert_allclose(limits.gap, [angle + 20.0, 20.0 - angle], atol=1e-13)
        joints.counted_angles[:] = 0.0  # back to a stored state


@pytest.mark.parametrize("angle", [0.0, 1e-170, 1e-9, 1e-3, 1.0, 3.0, np.pi])
def test_a_fixed_joint_measures_the_rotation_vector_in_the_frame_of_a(angle):
    rng = np.random.default_rng(3)
    made = random_poses(2, rng)
    joints = JointSet([Fixed(0, 1, made.position[1])], made)
    local = np.array([2.0, -1.0, 2.0]) / 3.0
    motion = np.zeros((2, 6))
    motion[1, 3:] = angle * (made.rotation[0] @ local)
    (rows,) = joints.rows(moved(made, motion))
    if angle == np.pi:  # either way round
        assert np.linalg.norm(rows.violation[3:]) == pytest.approx(np.pi)
    else:
        np.testing.assert_allclose(rows.violation[3:], angle * local, atol=1e-15)
    np.testing.assert_allclose(rows.violation[:3], 0.0, atol=1e-15)
    assert np.isfinite(rows.J[1]).all()


def test_rows_stay_finite_where_a_direction_is_lost():
    made = Poses([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)))
    rope = Distance(0, 1, made.position[0], made.position[1], rope=True)
    joints = JointSet([rope, Hinge(0, 1, [1.0, 0.0, 0.0], Z, limits=(-1.0, 1.0))], made)
    coincident_and_flipped = Poses(np.zeros((2, 3)), [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    for group in joints.rows(coincident_and_flipped):
        assert np.isfinite(group.J[1]).all()
    assert joints.violation(coincident_and_flipped).metres == pytest.approx(1.0)


def test_rows_of_a_joint_stay_together_and_keep_their_order():
    poses = random_poses(3, np.random.default_rng(0))
    joints = JointSet(
        [
            Fixed(0, 1, POINT, bend_stiffness=10.0, bend_damping=1.0),
            Hinge(-1, 0, POINT, X, limits=(-np.inf, 1.0), motor_speed=2.0, max_torque=3.0, compliance=1e-7),
            Ball(1, 2, POINT, stiffness=1e4),
            Distance(0, 2, POINT, X, rope=True, error_reduction=0.5),
            Distance(0, 2, POINT, X, rope=True, stiffness=5.0),
            Universal(1, 2, POINT, X, Y),
        ],
        poses,
    )
    rigid, soft, limits, soft_limits, motors = joints.rows(poses)
    assert [type(group) for group in (rigid, soft, limits, soft_limits, motors)] == [
        JointRows, JointRows, LimitRows, LimitRows, MotorRows,
    ]  # fmt: skip
    assert joints.owner.tolist() == [0] * 3 + [1] * 5 + [5] * 4 + [0] * 3 + [2] * 3 + [1, 3] + [4] + [1]
    assert joints.names[0] == "fixed 0: x"
    assert joints.names[-1] == "hinge 1: motor"
    assert "hinge 1: high limit" in joints.names
    assert len(set(joints.names)) == joints.row_count == 22
    np.testing.assert_array_equal(rigid.compliance, [0.0] * 3 + [1e-7] * 5 + [0.0] * 4)
    np.testing.assert_array_equal(soft.stiffness, [10.0] * 3 + [1e4] * 3)
    np.testing.assert_array_equal(soft.damping, [1.0] * 3 + [0.0] * 3)
    np.testing.assert_array_equal(limits.error_reduction, [0.2, 0.5])
    np.testing.assert_array_equal(motors.speed, [2.0])
    np.testing.assert_array_equal(motors.max_force, [3.0])
    np.testing.assert_array_equal(motors.J[0], [[-1, 0]])
    np.testing.assert_array_equal(joints.bodies[joints.owner[:3]], rigid.J[0][:3])


def test_anchors_are_points_of_both_bodies():
    made = random_poses(2, np.random.default_rng(1))
    joints = JointSet([Ball(0, 1, POINT), Distance(-1, 1, X, Y)], made)
    np.testing.assert_allclose(joints.anchors(made), [[POINT, POINT], [X, Y]], atol=1e-15)
    shifted = np.zeros((2, 6))
    shifted[1, :3] = Z
    np.testing.assert_allclose(joints.anchors(moved(made, shifted)), [[POINT, POINT + Z], [X, Y + Z]], atol=1e-15)


def test_a_set_without_joints_has_no_rows():
    poses = random_poses(2, np.random.default_rng(1))
    joints = JointSet([], poses)
    assert joints.rows(poses) == []
    assert joints.violation(poses) == (0.0, 0.0)
    assert joints.anchors(poses).shape == (0, 2, 3)
    assert joints.names.size == joints.hinge_angles(poses).size == len(joints) == 0
