"""Rows of joints against readable NumPy twins, one joint at a time; each kernel compiled once."""

from __future__ import annotations

import numpy as np
import pytest
from plain_kernels import needs_compiler
from scipy.spatial.transform import Rotation

from perp.kernels.worlds import joints as joint_kernels
from perp.kernels.worlds import rigid_motion
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.joints import Ball, Distance, Fixed, Hinge, Universal
from perp.worlds.rigid3d.poses import Poses


def pulling(n, arm_a, arm_b):
    """(-n, -(r_a x n), n, r_b x n)."""
    return np.concatenate([-n, -np.cross(arm_a, n), n, np.cross(arm_b, n)])


def turning(g):
    return np.concatenate([np.zeros(3), -g, np.zeros(3), g])


class Pair:
    """Bodies a and b when a joint was made and now, with vectors of the one moment carried to the other."""

    def __init__(self, made, now, a, b):
        self.centre, self.turn = {}, {}
        for name, body in (("a", a), ("b", b)):
            self.centre[name] = made.with_world.position[body], now.with_world.position[body]
            self.turn[name] = made.with_world.rotation[body], now.with_world.rotation[body]

    def carried(self, side, vector):
        before, after = self.turn[side]
        return after @ before.T @ vector

    def point(self, side, point):
        before, after = self.centre[side]
        return after + self.carried(side, point - before)

    @property
    def axes_a(self):
        return self.turn["a"][1].T  # rows are the axes of a

    @property
    def relative(self):
        """The turn of b against a since then, in the frame of a."""
        (a0, a), (b0, b) = self.turn["a"], self.turn["b"]
        return Rotation.from_matrix(a.T @ b @ b0.T @ a0)

    def held_point(self, anchor):
        p_a, p_b = self.point("a", anchor), self.point("b", anchor)
        arms = p_b - self.centre["a"][1], p_b - self.centre["b"][1]
        return [(d @ (p_b - p_a), pulling(d, *arms)) for d in self.axes_a]

    def parallel(self, t, u):
        t, u = self.carried("a", t), self.carried("b", u)
        return t @ u, turning(np.cross(u, t))

    def orientation(self):
        """The inverse of the left Jacobian of rotations, as it stands in textbooks."""
        phi = self.relative.as_rotvec()
        theta, K = np.linalg.norm(phi), np.cross(np.eye(3), phi)  # K w = phi x w
        inverse = np.eye(3) - 0.5 * K + (1.0 / theta**2 - (1.0 + np.cos(theta)) / (2.0 * theta * np.sin(theta))) * K @ K
        return [(value, turning(g)) for value, g in zip(phi, inverse @ self.axes_a, strict=True)]

    def angle(self, axis):
        u = self.turn["a"][0].T @ axis
        x, y, z, s = self.relative.as_quat()
        v = np.array([x, y, z])
        p = v @ u
        g = (s * s * u + s * np.cross(v, u) + p * v) / (s * s + p * p)
        return (2.0 * np.arctan2(p, s) + np.pi) % (2.0 * np.pi) - np.pi, turning(self.turn["a"][1] @ g)

    def distance(self, start, end, length):
        p_a, p_b = self.point("a", start), self.point("b", end)
        n = (p_b - p_a) / np.linalg.norm(p_b - p_a)
        return np.linalg.norm(p_b - p_a) - length, pulling(n, p_a - self.centre["a"][1], p_b - self.centre["b"][1])


def twin(joint, pair):
    """Values and rows of one joint, in its own order: equations, limits, motor."""
    if isinstance(joint, Distance):
        value, row = pair.distance(joint.anchor_a, joint.anchor_b, joint.length)
        return [(-value, -row)] if joint.rope else [(value, row)]
    rows = pair.held_point(joint.anchor)
    if isinstance(joint, Fixed):
        rows += pair.orientation()
    if isinstance(joint, Universal):
        cosine = joint.axis_a @ joint.axis_b
        value, row = pair.parallel(joint.axis_a, joint.axis_b)
        rows.append(((value - cosine) / np.sqrt(1.0 - cosine**2), row / np.sqrt(1.0 - cosine**2)))
    if isinstance(joint, Hinge):
        least = np.eye(3)[np.argmin(np.abs(joint.axis))]
        first = np.cross(joint.axis, least) / np.linalg.norm(np.cross(joint.axis, least))
        rows += [pair.parallel(t, joint.axis) for t in (first, np.cross(joint.axis, first))]
        angle, row = pair.angle(joint.axis)
        rows += [(angle - joint.limits[0], row), (joint.limits[1] - angle, -row), (None, row)]
    return rows


def poses_of(rng, count):
    q = rng.standard_normal((count, 4))
    return Poses(rng.standard_normal((count, 3)), q / np.linalg.norm(q, axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(5))
def test_kernels_agree_with_their_twins(seed):
    rng = np.random.default_rng(seed)
    made = poses_of(rng, 4)
    joints = []
    for a, b in ((0, 1), (-1, 2), (3, -1), (2, 1)):
        start, end, axis, other = rng.standard_normal((4, 3))
        joints += [
            Ball(a, b, start),
            Hinge(a, b, start, axis, limits=(-1.0, 2.0), motor_speed=0.0),
            Universal(a, b, start, axis, other),
            Fixed(a, b, start),
            Distance(a, b, start, end),
            Distance(a, b, start, end, rope=True),
        ]
    wiggle = Rotation.from_rotvec(0.5 * rng.standard_normal((4, 3)))
    turned = (wiggle * Rotation.from_quat(np.roll(made.orientation, -1, axis=1))).as_quat()
    now = Poses(made.position + 0.3 * rng.standard_normal((4, 3)), np.roll(turned, 1, axis=1))
    whole = JointSet(joints, made)
    groups = whole.rows(now)
    blocks = np.concatenate([group.J[1] for group in groups]).reshape(-1, 12)
    values = np.concatenate([getattr(group, "violation", getattr(group, "gap", None)) for group in groups[:2]])
    for number, joint in enumerate(joints):
        mine = np.flatnonzero(whole.owner == number)
        expected = twin(joint, Pair(made, now, joint.body_a, joint.body_b))
        assert len(mine) == len(expected)
        for row, (value, numbers) in zip(mine, expected, strict=True):
            np.testing.assert_allclose(blocks[row], numbers, rtol=1e-11, atol=1e-12)
            if value is not None:
                assert values[row] == pytest.approx(value, rel=1e-11, abs=1e-12)


@needs_compiler
def test_every_kernel_of_joints_is_compiled_for_one_signature():
    rng = np.random.default_rng(0)
    made = poses_of(rng, 2)
    Poses(made.position, made.orientation, made.rotation)
    hinge, rod = Hinge(0, 1, [0.0] * 3, [0.0, 0.0, 1.0], limits=(0.0, 1.0)), Distance(0, 1, [0.0] * 3, [1.0] * 3)
    joints = JointSet([hinge, rod, Fixed(-1, 0, [0.0] * 3), Universal(0, 1, [0.0] * 3, [1, 0, 0], [0, 1, 0])], made)
    for poses in (made, Poses(made.position, made.orientation, made.rotation)):
        joints.rows(poses)
        joints.violation(poses)
    kernels = [
        rigid_motion.turn_quaternions,
        joint_kernels.hold_points,
        joint_kernels.keep_distance,
        joint_kernels.keep_parallel,
        joint_kernels.keep_angle,
        joint_kernels.keep_orientation,
        joint_kernels.follow_angle,
    ]
    assert [len(kernel.signatures) for kernel in kernels] == [1] * len(kernels)
