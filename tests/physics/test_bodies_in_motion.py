"""Free bodies in space, stepped by a world: closed forms and conservation laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

import perp

pytest.importorskip("mujoco")

import itertools

from perp.worlds.rigid3d import Ball, Geom, Hinge, RigidBuilder, RigidWorld

GRAVITY = 9.81


def solver(method: str = "cone_newton", **options: object):
    options = {"tol": 1e-10, **options}
    return lambda problem, x0: perp.solve(problem, method, x0=x0, **options)


def run(world: RigidWorld, steps: int, dt: float, solve=None) -> list[perp.worlds.StepReport]:
    solve = solve or solver()
    return [world.step(dt, solve) for _ in range(steps)]


def box(edges=(1.0, 1.0, 1.0), mass=1.0, **more: object) -> Geom:
    return Geom(form="box", size=[edge / 2 for edge in edges], mass=mass, **more)


def alone(geom: Geom, *, gravity=(0.0, 0.0, 0.0), **state: object) -> RigidWorld:
    builder = RigidBuilder(gravity=gravity)
    builder.body([geom], (0.0, 0.0, 0.0), **state)
    return builder.world()


def test_a_body_in_free_fall_is_where_semi_implicit_euler_puts_it():
    world = alone(box(), gravity=(0.0, 0.0, -GRAVITY), velocity=(3.0, 0.0, 5.0))
    dt, steps = 0.01, 100
    run(world, steps, dt)
    fallen = 5.0 * dt * steps - GRAVITY * dt**2 * steps * (steps + 1) / 2
    np.testing.assert_allclose(world.position[0], [3.0 * dt * steps, 0.0, fallen], rtol=0, atol=1e-12)
    np.testing.assert_allclose(world.velocity[0, :3], [3.0, 0.0, 5.0 - GRAVITY * dt * steps], rtol=1e-13)


def test_a_spin_about_a_principal_axis_turns_by_its_angle():
    world = alone(box((1.0, 2.0, 3.0)), spin=(0.0, 0.0, 2.0))
    run(world, 100, 0.01)
    np.testing.assert_allclose(world.orientation[0], [math.cos(1.0), 0.0, 0.0, math.sin(1.0)], atol=1e-13)
    np.testing.assert_allclose(world.velocity[0, 3:], [0.0, 0.0, 2.0], atol=1e-13)


def test_a_tumbling_body_keeps_its_angular_momentum_to_rounding():
    world = alone(box((1.0, 2.0, 3.0)), spin=(0.3, 4.0, 0.2))
    before = world.momentum()[1]
    run(world, 1000, 0.01)
    np.testing.assert_allclose(world.momentum()[1], before, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("edges", [(1.0, 2.0, 3.0), (0.1, 0.1, 3.0), (2.0, 2.0, 0.1)])
def test_a_tumbling_body_keeps_its_energy_to_rounding(edges, dt):
    world = alone(box(edges), spin=(2.0, 0.3, 4.0))
    before = world.energy()
    run(world, 300, dt)
    assert world.energy() == pytest.approx(before, rel=1e-11)


def test_a_top_precesses_as_euler_says():
    """About its own axis of symmetry, a free body's spin goes round at (1 - I_3 / I_1) w_3 in its own axes."""
    errors = []
    for dt in (0.01, 0.005):
        world = alone(box((1.0, 1.0, 0.2)), spin=(0.5, 0.0, 3.0))
        I_1, I_3 = (1.0 + 0.2**2) / 12.0, 2.0 / 12.0
        run(world, round(1.0 / dt), dt)
        spin = world.poses().rotation[0].T @ world.velocity[0, 3:]
        angle = (I_3 / I_1 - 1.0) * 3.0
        errors.append(np.abs(spin - [0.5 * math.cos(angle), 0.5 * math.sin(angle), 3.0]).max())
    assert errors[0] < 1e-3
    assert errors[1] < 0.3 * errors[0]  # second order


def test_spin_about_the_middle_axis_turns_over():
    """Dzhanibekov: the first and third axes are stable, the second is not."""
    flips = []
    for spin in ((4.0, 0.01, 0.0), (0.01, 4.0, 0.01), (0.0, 0.01, 4.0)):
        world = alone(box((1.0, 2.0, 4.0)), spin=spin)
        axis = int(np.argmax(spin))
        along = []
        for _ in range(600):
            world.step(0.02, solver())
            along.append(world.poses().rotation[0][axis, axis])
        flips.append(min(along) < -0.9)
    assert flips == [False, True, False]


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_bodies_that_collide_in_free_space_keep_their_momentum(model):
    builder = RigidBuilder(gravity=(0.0, 0.0, 0.0))
    builder.body([box((1.0, 0.7, 0.4), 2.0)], (0.0, 0.0, 0.0), spin=(1.0, 2.0, 0.5))
    builder.body([box((0.6, 0.6, 0.6), 1.0)], (2.0, 0.2, 0.1), velocity=(-4.0, 0.0, 0.0), spin=(0.0, 0.0, 3.0))
    builder.body([Geom(form="sphere", size=[0.3], mass=0.5)], (-1.5, 0.1, 0.1), velocity=(3.0, 0.0, 0.0))
    world = builder.world(model=model)
    before = world.momentum()
    reports = run(world, 100, 0.01, solver("block_gauss_seidel"))
    assert any(report.x.any() for report in reports)
    for now, then in zip(world.momentum(), before, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_ball_bounces_off_the_ground_as_its_restitution_says(restitution):
    builder = RigidBuilder(gravity=(0.0, 0.0, 0.0))
    builder.ground(restitution=restitution)
    builder.body([Geom(form="sphere", size=[0.5], mass=2.0)], (0.0, 0.0, 0.6), velocity=(0.0, 0.0, -3.0))
    world = builder.world()
    run(world, 10, 0.01)
    assert world.velocity[0, 2] == pytest.approx(3.0 * restitution, abs=1e-9)


@pytest.mark.parametrize(("restitution", "after"), [(1.0, (0.0, 2.0)), (0.0, (1.0, 1.0)), (0.5, (0.5, 1.5))])
def test_two_equal_balls_collide_head_on(restitution, after):
    builder = RigidBuilder(gravity=(0.0, 0.0, 0.0))
    ball = Geom(form="sphere", size=[0.5], mass=1.0, restitution=restitution)
    builder.body([ball], (0.0, 0.0, 0.0), velocity=(2.0, 0.0, 0.0))
    builder.body([ball], (1.2, 0.0, 0.0))
    world = builder.world()
    run(world, 30, 0.01)
    np.testing.assert_allclose(world.velocity[:, 0], after, atol=1e-9)


def test_a_resting_box_does_not_sink_in_a_thousand_steps():
    builder = RigidBuilder()
    builder.ground()
    builder.body([box()], (0.0, 0.0, 0.5))
    world = builder.world(model="cone")
    deepest = max(report.contacts.penetration for report in run(world, 1000, 1 / 60))
    assert deepest < 1e-9
    assert np.abs(world.velocity).max() < 1e-8
    np.testing.assert_allclose(world.position[0], [0.0, 0.0, 0.5], atol=1e-8)


@pytest.mark.parametrize(("method", "model"), [("cone_newton", "cone"), ("cone_newton", "box")])
def test_a_stack_of_ten_stands_for_ten_seconds(method, model):
    builder = RigidBuilder()
    builder.ground()
    for level in range(10):
        builder.body([box()], (0.0, 0.0, 0.5 + level))
    world = builder.world(model=model)
    run(world, 600, 1 / 60, solver(method, tol=1e-9))
    np.testing.assert_allclose(world.position, [(0.0, 0.0, 0.5 + level) for level in range(10)], atol=1e-5)


@pytest.mark.parametrize("share", [0.95, 1.05])
@pytest.mark.parametrize("model", ["box", "cone"])
def test_a_box_on_an_incline_slides_beyond_the_angle_of_friction(share, model):
    friction, dt, steps = 0.5, 0.005, 200
    slope = math.atan(share * friction)
    down = np.array([math.sin(slope), 0.0, -math.cos(slope)])
    builder = RigidBuilder(gravity=GRAVITY * down)  # a level ground and a tilted gravity
    builder.ground(friction=friction)
    builder.body([box((1.0, 1.0, 0.4), friction=friction)], (0.0, 0.0, 0.2))
    world = builder.world(model=model)
    run(world, steps, dt)
    gain = max(0.0, math.sin(slope) - friction * math.cos(slope)) * GRAVITY
    assert world.velocity[0, 0] == pytest.approx(gain * dt * steps, abs=1e-6)


def test_a_hinged_rod_swings_with_the_period_of_a_pendulum():
    length, dt, angle = 1.0, 5e-3, 0.05
    builder = RigidBuilder()
    tilt = (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)
    centre = np.array([-math.sin(angle), 0.0, -math.cos(angle)]) * length / 2
    rod = builder.body([box((0.05, 0.05, length), 3.0)], centre, tilt)
    builder.join(Hinge(-1, rod, anchor=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    world = builder.world()
    inertia = 3.0 * (length**2 + 0.05**2) / 12 + 3.0 * (length / 2) ** 2
    period = 2 * math.pi * math.sqrt(inertia / (3.0 * GRAVITY * length / 2)) * (1 + angle**2 / 16)
    crossings, before = [], world.position[0, 0]
    for _ in range(round(2.6 * period / dt)):
        report = world.step(dt, solver())
        now = world.position[0, 0]
        if before < 0.0 <= now:
            crossings.append(report.time - dt * now / (now - before))
        before = now
    assert np.diff(crossings).mean() == pytest.approx(period, rel=dt)
    assert world.joints.violation(world.poses()).metres < 1e-4


def test_the_drift_of_a_chain_is_bounded():
    builder = RigidBuilder()
    links = [builder.body([box((0.2, 0.1, 0.1), 0.5)], (0.1 + 0.2 * k, 0.0, 0.0)) for k in range(8)]
    for k, link in enumerate(links):
        builder.join(Ball(-1 if k == 0 else links[k - 1], link, anchor=(0.2 * k, 0.0, 0.0)))
    for one, other in itertools.pairwise(links):
        builder.without_contact(one, other)
    world = builder.world()
    dt, spin, worst = 0.005, 0.0, 0.0
    for _ in range(600):
        world.step(dt, solver())
        spin = max(spin, np.linalg.norm(world.velocity[:, 3:], axis=1).max())
        worst = max(worst, world.joints.violation(world.poses()).metres)
    # a step adds dt^2/2 |d^2C/dt^2|, at most two centripetal accelerations w^2 r, and takes back the share 0.2
    assert worst < dt**2 * spin**2 * 0.1 / 0.2
    assert world.joints.violation(world.poses()).metres < worst


def test_energy_never_grows_when_a_box_tumbles_onto_the_ground():
    builder = RigidBuilder()
    builder.ground()
    builder.body([box((1.0, 0.6, 0.3), 2.0)], (0.0, 0.0, 1.2), (0.8, 0.4, 0.3, 0.33), spin=(2.0, 1.0, -1.0))
    dt = 0.005
    world = builder.world(model="cone")
    before = world.energy()
    scale = before
    for _ in range(600):
        world.step(dt, solver())
        now = world.energy()
        assert now - before < 0.5 * dt * scale  # Baumgarte pushes out what overlaps: first order in dt
        before = now
    assert np.abs(world.velocity).max() < 1e-3


def test_a_push_on_a_body_accelerates_it():
    world = alone(box(mass=2.0))
    world.force[0] = [4.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    run(world, 10, 0.1)
    inertia = 2.0 * (1.0 + 1.0) / 12
    np.testing.assert_allclose(world.velocity[0], [2.0, 0.0, 0.0, 0.0, 0.0, 0.5 / inertia], rtol=1e-12)


def test_an_exact_method_leaves_no_energy_error():
    builder = RigidBuilder()
    builder.ground()
    for level in range(3):
        builder.body([box()], (0.1 * level, 0.0, 0.5 + level))
    world = builder.world(model="cone")
    report = run(world, 20, 1 / 60)[-1]
    assert report.residuals.energy_max < 1e-16


def test_a_stack_comes_to_rest_with_few_sweeps_a_step():
    builder = RigidBuilder()
    builder.ground()
    rng = np.random.default_rng(0)
    for level in range(5):
        builder.body([box((0.2, 0.2, 0.2), 2.5)], (*rng.uniform(-0.01, 0.01, 2), 0.2 * level + 0.1))
    world = builder.world()
    start = world.position.copy()
    run(world, 200, 1 / 60, solver("block_gauss_seidel", max_iterations=20))
    assert np.abs(world.velocity).max() < 1e-3
    assert np.abs(world.position - start).max() < 2e-3


def test_an_overlap_beyond_the_slop_is_taken_back():
    builder = RigidBuilder()
    builder.ground()
    builder.body([box()], (0.0, 0.0, 0.495))
    for slop in (0.0, 2e-3):
        world = builder.world(slop=slop)
        run(world, 60, 1 / 60)
        assert world.position[0, 2] == pytest.approx(0.5 - slop, abs=1e-4)
