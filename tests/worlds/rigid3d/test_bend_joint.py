"""A spring and a damper against bending: the rows of a hinge's tilt, soft, and what they do to spins."""

from __future__ import annotations

import numpy as np
import pytest
from joint_stepping import dense_jacobian, moved, random_poses

from perp.errors import InvalidProblem
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.joints import Bend, Hinge
from perp.worlds.rigid3d.poses import Poses


def test_its_rows_are_those_that_hold_the_axis_of_a_hinge():
    rng = np.random.default_rng(3)
    made = random_poses(2, rng)
    axis, anchor = rng.standard_normal((2, 3))
    poses = moved(made, 0.3 * rng.uniform(-1.0, 1.0, (2, 6)))
    (bend,) = JointSet([Bend(0, 1, anchor, axis, damping=2.0)], made).rows(poses)
    (hinge,) = JointSet([Hinge(0, 1, anchor, axis)], made).rows(poses)
    assert np.array_equal(dense_jacobian([bend], 2), dense_jacobian([hinge], 2)[3:])
    assert np.array_equal(bend.violation, hinge.violation[3:])


def test_a_damper_takes_bending_back_as_the_implicit_step_says_and_leaves_twist():
    pytest.importorskip("mujoco")
    import perp
    from perp.worlds.rigid3d import Geom, RigidBuilder

    damping, dt = 0.3, 0.01
    builder = RigidBuilder(gravity=(0.0, 0.0, 0.0))
    ball = Geom(form="sphere", size=(0.5,), mass=2.0)
    a, b = builder.body([ball], (0.0, 0.0, 0.0)), builder.body([ball], (0.0, 0.0, 2.0), spin=(1.0, 0.0, 4.0))
    builder.join(Bend(a, b, (0.0, 0.0, 1.0), (0.0, 0.0, 1.0), damping=damping))
    world = builder.world()
    world.step(dt, lambda problem, x0: perp.solve(problem, "pgs", tol=1e-14, x0=x0))
    inertia = 0.4 * 2.0 * 0.5**2
    # I dw_b = -h d (w_b - w_a)+ = -I dw_a, so that the difference is divided by 1 + 2 h d / I
    bending = 1.0 / (1.0 + 2.0 * dt * damping / inertia)
    assert world.velocity[b, 3:] - world.velocity[a, 3:] == pytest.approx([bending, 0.0, 4.0], abs=1e-10)
    assert world.velocity[:, 3:].sum(axis=0) == pytest.approx([1.0, 0.0, 4.0], abs=1e-12)
    assert not world.velocity[:, :3].any()


def test_an_axis_of_no_length_is_refused_by_name():
    with pytest.raises(InvalidProblem, match="axis"):
        Bend(0, 1, (0, 0, 0), (0, 0, 0), damping=1.0)
    with pytest.raises(InvalidProblem, match="both zero"):
        JointSet([Bend(0, 1, (0, 0, 0), (0, 0, 1), damping=0.0)], Poses(np.zeros((2, 3)), np.eye(4)[[0, 0]]))
