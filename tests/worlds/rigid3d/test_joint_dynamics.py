"""Joints in motion against closed forms and conservation laws; tolerances from the order of the integrator."""

from __future__ import annotations

import numpy as np
import pytest
from joint_stepping import Bodies, G, box_inertia, dense_jacobian, moved, random_poses

from perp.errors import InvalidProblem
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.joints import Ball, Bend, Distance, Fixed, Hinge, Universal
from perp.worlds.rigid3d.poses import Poses

X, Y, Z = np.eye(3)
ROD = (0.6, 0.1, 0.2)
"""Edges of a box [m] that hangs on one of its ends."""


def pendulum(angle: float, **options) -> tuple[Bodies, JointSet, float, float]:
    """A box on a hinge about y at the origin, made where it is level, turned down by `angle` (pi/2 hangs straight)."""
    mass = 2.0
    level = Bodies([[0.5 * ROD[0], 0.0, 0.0]], mass, box_inertia(mass, ROD))
    joints = JointSet([Hinge(-1, 0, [0.0, 0.0, 0.0], Y, **options)], level.poses)
    down = np.array([[0.0, 0.0, 0.0, 0.0, angle, 0.0]])
    turned = moved(level.poses, down)
    position = [[0.5 * ROD[0] * np.cos(angle), 0.0, -0.5 * ROD[0] * np.sin(angle)]]
    body = Bodies(position, mass, box_inertia(mass, ROD), orientation=turned.orientation)
    about_pivot = float(box_inertia(mass, ROD)[1, 1] + mass * (0.5 * ROD[0]) ** 2)
    return body, joints, about_pivot, mass * G * 0.5 * ROD[0]


def measured_period(h: float, amplitude: float) -> float:
    body, joints, _, _ = pendulum(0.5 * np.pi - amplitude)
    crossings, before = [], -amplitude
    for step in range(1, 10_000):
        body.step(joints, h)
        angle = joints.hinge_angles(body.poses)[0] - 0.5 * np.pi
        if angle * before < 0.0:
            crossings.append(h * (step - angle / (angle - before)))
            if len(crossings) == 2:
                return 2.0 * (crossings[1] - crossings[0])
        before = angle
    raise AssertionError("the pendulum does not swing")


def test_the_period_of_a_pendulum_is_that_of_its_distributed_mass():
    _, _, about_pivot, moment = pendulum(0.0)
    amplitude = 0.05
    exact = 2.0 * np.pi * np.sqrt(about_pivot / moment) * (1.0 + amplitude**2 / 16.0)
    errors = [abs(measured_period(h, amplitude) / exact - 1.0) for h in (0.016, 0.008)]
    assert errors[0] < (2.0 * np.pi * 0.016 / exact) ** 2 / 12.0  # (w h)^2 / 24, because the scheme is symplectic
    assert errors[1] < 0.3 * errors[0]


def test_a_swinging_chain_stays_together():
    """In a step a point at an arm r leaves its circle by (h w)^2 r / 2; the joint takes back 0.2 of what is there."""
    links, length, h = 5, 0.4, 0.01
    centres = np.outer(np.arange(links) + 0.5, length * X)
    chain = Bodies(centres, 1.0, box_inertia(1.0, (length, 0.1, 0.1)))
    joints = JointSet([Ball(k - 1, k, k * length * X) for k in range(links)], chain.poses)
    energy, worst, fastest = [chain.energy()], 0.0, 0.0
    for _ in range(1000):
        chain.step(joints, h)
        worst = max(worst, joints.violation(chain.poses).metres)
        fastest = max(fastest, float(np.linalg.norm(chain.velocity[:, 3:], axis=1).max()))
        energy.append(chain.energy())
    assert worst < 2.0 * 0.5 * (h * fastest) ** 2 * (0.5 * length) / 0.2
    assert max(energy) < energy[0] + 0.01 * (energy[0] - min(energy))
    assert np.linalg.norm(chain.position[-1]) < links * length


def test_a_limit_stops_a_hinge_and_only_pushes():
    body, joints, _, moment = pendulum(0.0, limits=(-0.5, 0.8))
    h, impulses, angles = 0.005, [], []
    for _ in range(120):
        x = body.step(joints, h)
        impulses.append(x[-2:])
        angles.append(joints.hinge_angles(body.poses)[0])
    low, high = np.array(impulses).T
    assert not low.any()
    assert high.min() >= 0.0
    touched = int(np.argmax(high > 0.0))
    assert 10 < touched < 110
    assert not high[:touched].any()
    assert angles[touched] == pytest.approx(0.8, abs=1e-9)  # the step that arrives uses up what was left
    assert angles[-1] == pytest.approx(0.8, abs=1e-4)
    assert high[-1] == pytest.approx(h * moment * np.cos(angles[-1]), rel=1e-3)


def test_limits_beyond_a_turn_are_reached_after_that_turn():
    body = Bodies([[0.0, 0.0, 0.0]], 1.0, np.eye(3), gravity=0.0)
    joints = JointSet([Hinge(-1, 0, [0.0] * 3, Z, limits=(-np.inf, 9.0), motor_speed=10.0, max_torque=5.0)], body.poses)
    for _ in range(120):
        x = body.step(joints, 0.02)
    assert joints.hinge_angles(body.poses)[0] == pytest.approx(9.0, abs=1e-9)
    np.testing.assert_allclose(x[-2:], [0.02 * 5.0, 0.02 * 5.0], rtol=1e-9)  # the limit holds against the motor


def test_a_motor_accelerates_with_its_torque_until_it_has_its_speed():
    inertia, torque, speed, h = np.diag([0.3, 0.4, 0.5]), 2.0, 3.0, 0.01
    body = Bodies([[1.0, 2.0, 3.0]], 1.5, inertia, gravity=0.0)
    joints = JointSet([Hinge(-1, 0, body.position[0], Z, motor_speed=speed, max_torque=torque)], body.poses)
    for step in range(1, 121):
        x = body.step(joints, h)
        expected = min(step * h * torque / inertia[2, 2], speed)
        assert body.velocity[0, 5] == pytest.approx(expected, abs=1e-9)
        assert abs(x[-1]) <= h * torque * (1.0 + 1e-12)
    assert x[-1] == pytest.approx(0.0, abs=1e-9)  # nothing is needed any more
    assert np.abs(body.velocity[0, [0, 1, 2, 3, 4]]).max() < 1e-9


def test_a_motor_turns_two_free_bodies_in_opposite_ways():
    bodies = Bodies([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1.0, 2.0], [np.diag([0.3, 0.4, 0.5]), np.eye(3)], gravity=0.0)
    joints = JointSet([Hinge(0, 1, [0.5, 0.0, 0.0], X, motor_speed=2.0)], bodies.poses)
    bodies.step(joints, 0.01)
    spin = bodies.velocity[:, 3]
    assert spin[1] - spin[0] == pytest.approx(2.0)
    assert 0.3 * spin[0] + 1.0 * spin[1] == pytest.approx(0.0, abs=1e-12)


def shafts(bend: float, **options) -> tuple[Bodies, list]:
    """Two shafts that meet at the origin at the angle `bend`, each on a hinge, with a universal joint between them."""
    out = np.array([np.sin(bend), 0.0, np.cos(bend)])
    across = np.array([np.cos(bend), 0.0, -np.sin(bend)])
    bodies = Bodies([-Z, out], 1.0, 0.1 * np.eye(3), gravity=0.0)
    cross = Universal(0, 1, [0.0, 0.0, 0.0], Y, across, **options)
    return bodies, [Hinge(-1, 0, -Z, Z, motor_speed=1.0), Hinge(-1, 1, out, out), cross]


@pytest.mark.parametrize("bend", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("turn", [0.0, 0.7, 2.0])
def test_a_universal_joint_transmits_spin_as_cardan_says(bend, turn):
    """tan(out) = tan(in) cos(bend), and speeds as cos(bend) : 1 - sin(bend)^2 sin(in)^2."""
    bodies, joints = shafts(bend)
    cross = JointSet(joints[2:], bodies.poses)
    follows = np.arctan2(np.sin(turn) * np.cos(bend), np.cos(turn))
    axes = np.array([Z, joints[1].axis])
    motion = np.concatenate([np.zeros((2, 3)), axes * [[turn], [follows]]], axis=1)
    poses = moved(bodies.poses, motion)
    assert max(cross.violation(poses)) < 1e-15
    ratio = np.cos(bend) / (1.0 - (np.sin(bend) * np.sin(turn)) ** 2)
    (rows,) = cross.rows(poses)
    spins = np.concatenate([np.zeros((2, 3)), axes * [[1.0], [ratio]]], axis=1)
    assert (rows.J[1][3] * spins).sum() == pytest.approx(0.0, abs=1e-15)


def test_a_bent_shaft_runs_unevenly_through_a_whole_turn():
    """Both hinges and the cross hold the same point: a compliance keeps A regular."""
    bend, h = 0.6, 0.04
    bodies, made = shafts(bend, compliance=1e-9)
    joints = JointSet(made, bodies.poses)
    for _ in range(int(2.0 * np.pi / h)):
        bodies.step(joints, h)
        given, follows = joints.hinge_angles(bodies.poses)
        expected = np.arctan2(np.sin(given) * np.cos(bend), np.cos(given))
        assert np.cos(follows - expected) > np.cos(5.0 * h * h / 0.2)  # a step leaves the circle by h^2, 0.2 come back
    assert given > 6.0


def test_a_rope_does_nothing_while_it_is_slack_and_then_holds_the_weight():
    h, mass = 0.01, 3.0
    body = Bodies([[0.0, 0.0, -0.5]], mass, 0.1 * np.eye(3))
    rope = Distance(-1, 0, [0.0, 0.0, 0.0], [0.0, 0.0, -0.5], length=1.0, rope=True)
    joints = JointSet([rope], body.poses)
    falls = 0
    while body.position[0, 2] - h * (h * G - body.velocity[0, 2]) > -1.0:
        x = body.step(joints, h)
        falls += 1
        assert x[0] == 0.0
        assert body.velocity[0, 2] == pytest.approx(-falls * h * G)
    for _ in range(3):
        x = body.step(joints, h)
    assert body.position[0, 2] == pytest.approx(-1.0, abs=1e-9)
    assert x[0] == pytest.approx(h * mass * G)
    body.velocity[0, 2] = 1.0  # upwards: it does not push
    assert body.step(joints, h)[0] == 0.0


def test_a_rod_pulls_and_pushes():
    h, mass = 0.01, 3.0
    for side in (-1.0, 1.0):
        body = Bodies([[0.0, 0.0, side]], mass, 0.1 * np.eye(3))
        joints = JointSet([Distance(-1, 0, [0.0, 0.0, 0.0], [0.0, 0.0, side])], body.poses)
        assert body.step(joints, h)[0] == pytest.approx(side * h * mass * G)


def composite_error(h: float) -> float:
    """How far two boxes, fixed to one another, are after half a second from the one body that they make."""
    mass, size = 1.5, np.array([0.4, 0.2, 0.3])
    inertia, half = box_inertia(mass, size), 0.5 * size[0]
    spin, speed = np.array([1.0, 2.0, -1.5]), np.array([0.3, 0.0, 1.0])
    one = Bodies(
        [[0.0] * 3],
        2.0 * mass,
        2.0 * (inertia + mass * half**2 * np.diag([0.0, 1.0, 1.0])),
        velocity=np.concatenate([speed, spin])[None],
    )
    centres = np.array([-half * X, half * X])
    velocity = np.concatenate([speed + np.cross(spin, centres), np.tile(spin, (2, 1))], axis=1)
    two = Bodies(centres, mass, inertia, velocity=velocity)
    joints = JointSet([Fixed(0, 1, [0.0] * 3)], two.poses)
    none = JointSet([], one.poses)
    for _ in range(round(0.5 / h)):
        two.step(joints, h)
        one.step(none, h)
    np.testing.assert_allclose(two.position.mean(axis=0), one.position[0], atol=1e-12)  # momentum to rounding
    assert joints.violation(two.poses).metres < 5.0 * (h * 3.0) ** 2 * half
    assert joints.violation(two.poses).radians < 5.0 * (h * 3.0) ** 2
    expected = one.position + np.array([-half, half])[:, None] * one.poses.rotation[0, :, 0]
    return float(np.abs(two.position - expected).max())


def test_two_boxes_fixed_to_one_another_fall_and_spin_as_one():
    errors = [composite_error(h) for h in (0.01, 0.005)]
    assert errors[0] < 0.01 * 0.2 * 3.0  # order h, of arm times speed
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("angle", [0.1, 2.0])
def test_a_soft_fixed_joint_is_a_torsion_spring_by_implicit_euler(angle):
    """I (w+ - w) = -h k (a + h w+) - h d w+: linear in the angle, however large (THESIS eq. 2.20, 2.21)."""
    inertia, k, d, h = np.diag([0.2, 0.3, 0.4]), 8.0, 0.05, 0.01
    body = Bodies([[0.0] * 3], 1.0, inertia, gravity=0.0)
    joints = JointSet([Fixed(-1, 0, [0.0] * 3, bend_stiffness=k, bend_damping=d)], body.poses)
    turned = moved(body.poses, np.array([[0.0, 0.0, 0.0, 0.0, angle, 0.0]]))
    body.position, body.orientation = turned.position, turned.orientation
    w = 0.0
    for _ in range(80):
        body.step(joints, h)
        w = (w - h * k * angle / 0.3) / (1.0 + (h * d + h * h * k) / 0.3)
        angle += h * w
        assert body.velocity[0, 4] == pytest.approx(w, abs=1e-9)
        assert joints.violation(body.poses).radians == pytest.approx(abs(angle), abs=1e-9)


def test_a_soft_rod_swings_at_the_frequency_of_its_spring():
    mass, k, d, amplitude = 2.0, 50.0, 0.4, 0.1
    rate, decay = np.sqrt(k / mass - (d / (2.0 * mass)) ** 2), d / (2.0 * mass)
    errors = []
    for h in (0.01, 0.005):
        body = Bodies([[1.0, 0.0, 0.0]], mass, np.eye(3), gravity=0.0)
        joints = JointSet([Distance(-1, 0, [0.0] * 3, X, stiffness=k, damping=d)], body.poses)
        body.position = body.position + amplitude * X
        worst = 0.0
        for step in range(1, round(1.0 / h) + 1):
            body.step(joints, h)
            t = step * h
            exact = amplitude * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
            worst = max(worst, abs(body.position[0, 0] - 1.0 - exact))
        errors.append(worst / amplitude)
    assert errors[0] < 0.5 * rate**2 * 0.01 * 1.0  # implicit Euler damps by w^2 h / 2 [1/s], for a second
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("method", ["dantzig", "block_principal"])
def test_a_chain_in_free_flight_keeps_its_momentum_to_rounding(method):
    rng = np.random.default_rng(2)
    bodies = Bodies(
        np.outer(np.arange(4), X),
        [1.0, 30.0, 0.5, 2.0],
        [box_inertia(m, (0.9, 0.2, 0.2)) for m in (1.0, 30.0, 0.5, 2.0)],
        velocity=rng.standard_normal((4, 6)),
        gravity=0.0,
    )
    halfway = [(k + 0.5) * X for k in range(3)]
    joints = JointSet(
        [Ball(0, 1, halfway[0]), Hinge(1, 2, halfway[1], Y, limits=(-0.2, 0.2)), Universal(2, 3, halfway[2], Y, Z)],
        bodies.poses,
    )
    momentum = bodies.mass @ bodies.velocity[:, :3]
    for _ in range(100):
        bodies.step(joints, 0.01, method)
        np.testing.assert_allclose(bodies.mass @ bodies.velocity[:, :3], momentum, atol=1e-11)
    assert joints.violation(bodies.poses).metres < 0.02


def test_a_hanging_cable_of_soft_links_settles_at_its_weight():
    """A link k carries what hangs below it: the joint above stretches by that weight over its stiffness."""
    links, mass, k, h = 6, 0.1, 2000.0, 0.02
    centres = np.outer(np.arange(links) + 0.5, -0.1 * Z)
    cable = Bodies(centres, mass, box_inertia(mass, (0.02, 0.02, 0.1)))
    joints = JointSet(
        [
            Fixed(j - 1, j, -0.1 * j * Z, stiffness=k, damping=20.0, bend_stiffness=1.0, bend_damping=0.05)
            for j in range(links)
        ],
        cable.poses,
    )
    for _ in range(150):
        cable.step(joints, h)
    ends = joints.anchors(cable.poses)
    stretch = ends[:, 0, 2] - ends[:, 1, 2]
    np.testing.assert_allclose(stretch, np.arange(links, 0, -1) * mass * G / k, rtol=1e-6)


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
