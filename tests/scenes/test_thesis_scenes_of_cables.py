"""THESIS 6.1.3-6.1.5: what hangs by cables and chains, as printed, and whether it holds."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.scenes import kinds, make
from perp.scenes.cables import least_damping, points_along, turn_z_to

pytest.importorskip("mujoco")

NAMES = ("spinner", "chain", "trucks")
STEPS = 20


def small(name, **options):
    return make(name, **{**kinds()[name].small, **options})


def run(scene, method, steps=STEPS, **limits):
    world = scene.world
    return [
        world.step(scene.dt, lambda problem, x0: perp.solve(problem, method, x0=x0, **limits)) for _ in range(steps)
    ]


def gaps(world):
    """How far apart the two points are that each rigid joint holds together [m]."""
    held = np.array(
        [joint.softness.is_rigid and joint.kind not in ("distance", "bend") for joint in world.joints.joints]
    )
    ends = world.joints.anchors(world.poses())[held]
    return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)


def masses(world, name):
    return world.mass[[name in body for body in world.names]]


@pytest.mark.parametrize("method", ["pgs", "block_gauss_seidel", "pgs_sm", "cone_newton"])
@pytest.mark.parametrize("name", NAMES)
def test_a_small_scene_stays_finite_whatever_the_method(name, method):
    scene = small(name)
    before = scene.world.energy()
    reports = run(scene, method, max_iterations=20)
    for part in scene.world.bodies():
        assert np.isfinite(part).all()
    assert scene.world.steps == STEPS
    assert max(len(report.contacts) for report in reports) > 0
    assert scene.world.energy() < before + 1e-3 * abs(before)


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
@pytest.mark.parametrize("name", NAMES)
def test_cables_and_chains_hardly_stretch_if_steps_are_solved(name, model):
    scene = small(name, model=model)
    reports = run(scene, "cone_newton", max_iterations=100, tol=1e-6)
    assert max(report.residuals.energy_max for report in reports) < 1e-6
    assert max(report.contacts.penetration for report in reports) < 2e-3
    # a step moves bodies along tangents: an arm r that turns by w is longer by r (w h)^2 / 2 after it, and a fifth of
    # what has gathered is taken back
    turn = scene.dt * np.linalg.norm(scene.world.velocity[:, 3:], axis=1).max()
    assert gaps(scene.world).max() < 5.0 * 0.5 * turn**2 + 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_the_same_scene_makes_the_same_bits(name):
    prints = []
    for _ in range(2):
        scene = small(name)
        run(scene, "block_gauss_seidel", max_iterations=10)
        prints.append(scene.world.fingerprint())
    assert prints[0] == prints[1]


def test_the_spinner_is_as_printed():
    world = make("spinner").world
    assert masses(world, "ball").tolist() == [2500.0]
    assert masses(world, "plate") == pytest.approx([10.0], rel=1e-12)
    assert world.count == 2 + 8 * 59
    assert world.mass.max() / world.mass.min() == pytest.approx(25_000.0, rel=1e-12)
    assert world.joints.row_count == 8 * 60 * 6
    assert abs(world.joints.row_count - 2920) < 0.02 * 2920
    found = world.find_contacts(1 / 120)
    assert len(found) == 8  # the ball on the bars
    assert np.abs(found.gap).max() < 1e-12


def test_the_chain_is_as_printed():
    world = make("chain").world
    assert masses(world, "box").tolist() == [500.0]
    assert world.count == 101
    assert world.mass.max() / world.mass.min() == pytest.approx(2000.0, rel=1e-12)
    assert make("chain", bend_damping=0.0).world.joints.row_count == 101 * 4
    assert world.joints.row_count == 101 * 6
    assert masses(world, "body") == pytest.approx(np.full(100, 0.25), rel=1e-12)


def test_the_trucks_are_as_printed():
    world = make("trucks").world
    links = [name.startswith("body") for name in world.names]
    assert world.mass[links] == pytest.approx(np.full(6 * (48 + 65), 1.0), rel=1e-12)
    for number in (1, 2, 3, 4):
        parts = masses(world, f"truck {number}:")
        assert parts.size == 22
        assert parts.sum() == pytest.approx(8000.0, rel=1e-12)
    assert world.count == 6 * (48 + 65) + 4 * 22
    cables, crossings, trucks = 6 * 6 * (49 + 66), 36 * 3, 4 * 126
    assert world.joints.row_count == cables + crossings + trucks
    assert len(world.find_contacts(1 / 240)) == 0
    assert gaps(world).max() < 1e-12


@pytest.mark.parametrize("name", ["spinner", "chain"])
def test_no_point_that_a_joint_holds_is_torn_apart_by_the_speeds_of_the_beginning(name):
    scene = small(name)
    world = scene.world
    contacts = world.find_contacts(scene.dt)
    rigid = world.joints.rows(world.poses())[0].violation.size
    rates = world.make_problem(contacts, scene.dt).A.J @ world.velocity.reshape(-1)
    assert np.abs(rates[3 * len(contacts) :][:rigid]).max() < 1e-12
    assert np.abs(world.velocity).max() > 2.0


def test_options_change_what_they_say():
    world = small("spinner", cables=5, links=6, link_mass=0.2, plate_mass=3.0, ball_mass=100.0, spin=-2.0).world
    assert world.count == 2 + 5 * 6
    assert sorted(set(world.mass.round(9))) == [0.2, 3.0, 100.0]
    assert world.velocity[:2, 5].tolist() == [-2.0, -2.0]
    world = small("chain", links=15, link_mass=1.0, box_mass=20.0, speed=0.0).world
    assert sorted(set(world.mass.round(9))) == [1.0, 20.0]
    assert not world.velocity.any()
    low, high = (small("trucks", drop=drop, truck_mass=4000.0, density=10.0).world for drop in (0.0, 1.0))
    assert masses(low, "truck").sum() == pytest.approx(4000.0, rel=1e-12)
    assert low.mass.min() == pytest.approx(2.0)
    lift = high.position[:, 2] - low.position[:, 2]
    assert lift[["truck" in name for name in low.names]] == pytest.approx(1.0, rel=1e-12)
    with pytest.raises(ValueError, match=r"rows = 3, columns = 1: the trucks need 17\.0 x 2\.2 m"):
        make("trucks", rows=3, columns=1)


def test_waves_across_a_cable_grow_only_below_the_least_damping():
    """Cables under 2.5 kN: with the damping of `least_damping` links stay together, with 1 % of it they zigzag."""
    tension = 1010.0 * 9.81 / 4.0
    enough = least_damping(tension, 0.1, 1 / 120)
    assert 4.0 < enough < 5.0
    bent = []
    for damping in (enough, 0.01 * enough):
        scene = small("spinner", bend_stiffness=1e-3, bend_damping=damping)
        run(scene, "cone_newton", 40, max_iterations=60, tol=1e-6)
        bent.append(gaps(scene.world).max())
    assert bent[0] < 2e-3
    assert bent[1] > 5.0 * bent[0]


def test_points_divide_a_curve_evenly_and_links_point_along_it():
    t = np.linspace(0.0, np.pi, 20_001)
    points = points_along(np.column_stack([np.cos(t), np.zeros_like(t), np.sin(t)]), 12)
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert chords == pytest.approx(np.full(12, 2.0 * np.sin(np.pi / 24)), rel=1e-7)
    for direction in (*np.eye(3), *-np.eye(3), np.array([0.3, -2.0, 0.1]), np.array([1e-9, 0.0, -1.0])):
        w, x, y, z = turn_z_to(direction)
        turned = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
        assert turned == pytest.approx(direction / np.linalg.norm(direction), abs=1e-8)
