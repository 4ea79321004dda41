"""The eight scenes of PGS-SM Fig. 2: they start at rest, touch without overlap, and do what their pictures show."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.scenes import kinds, make
from perp.scenes.machines import Gear
from perp.scenes.shared import turned
from perp.worlds.rigid3d.poses import Poses

pytest.importorskip("mujoco")

NAMES = (
    "snake",
    "snake_loaded",
    "stack",
    "heavy_on_light",
    "incline",
    "gears_small",
    "gears_medium",
    "wall_of_boxes",
)
EXACT = ("cone_newton", 50)
METHODS = {"pgs": 100, "block_gauss_seidel": 100, "cone_newton": 50, "pgs_sm": 5}
ROUNDING = 1e-12
TOUCHING = 1e-6
"""[m]; MuJoCo finds the distance of a cylinder by iteration."""


def advance(scene, steps, method=EXACT[0], iterations=EXACT[1]):
    def solve(problem, x0):
        return perp.solve(problem, method, x0=x0, tol=1e-10, max_iterations=iterations)

    return [scene.world.step(scene.dt, solve) for _ in range(steps)]


def small(name, **options):
    return make(name, **{**kinds()[name].small, **options})


def farthest(world, start):
    """The longest way that a body has gone since `start` [m]."""
    return np.linalg.norm(world.position - start, axis=1).max()


@pytest.mark.parametrize("name", NAMES)
def test_scenes_start_at_rest_and_touch_without_overlap(name):
    world = make(name).world
    contacts = world.find_contacts(0.01)
    assert not world.velocity.any()
    assert contacts.penetration < ROUNDING
    touching = contacts.bodies[contacts.gap < TOUCHING]
    # every body touches another one, or hangs in a hinge
    held = {*touching.ravel(), *(body for joint in world.joints.joints for body in (joint.body_a, joint.body_b))}
    assert held >= set(range(world.count))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_small_scenes_run_with_several_methods(name, method):
    scene = small(name)
    before = scene.world.energy()
    reports = advance(scene, 20, method, METHODS[method])
    assert np.isfinite(scene.world.position).all()
    assert np.isfinite(scene.world.velocity).all()
    assert max(report.contacts.penetration for report in reports) < 2e-3
    assert scene.world.energy() < before + 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_runs_repeat_bit_by_bit(name):
    kind = kinds()[name]
    prints = set()
    for _ in range(2):
        scene = small(name)
        advance(scene, 10, kind.method, kind.iterations)
        prints.add(scene.world.fingerprint())
    assert len(prints) == 1


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_every_law_of_friction_holds_boxes_on_a_slope(model):
    scene = small("incline", model=model)
    start = scene.world.position.copy()
    reports = advance(scene, 5, "block_gauss_seidel", 2000)
    assert reports[-1].problem.model == model
    assert farthest(scene.world, start) < 1e-7


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="teeth is 15; an even number is needed"):
        make("gears_small", teeth=15)
    with pytest.raises(ValueError, match="courses is 5; at most 4"):
        make("wall_of_boxes", base=4, courses=5)
    with pytest.raises(ValueError, match="leave no room for links"):
        make("snake", side=1, arc=120.0, play=90.0)
    with pytest.raises(ValueError, match="friction is -1"):
        make("stack", friction=-1.0)


def test_options_change_the_world():
    assert make("stack", wide=1, high=3).world.count == 3
    assert make("heavy_on_light", wide=1, high=1, mass_ratio=7.0).world.mass == pytest.approx([1.0, 7.0])
    assert make("snake", side=2).world.joints.row_count == 4 * (5 + 2)
    assert make("snake", side=2, play=None).world.joints.row_count == 4 * 5
    assert make("gears_medium", base=3).world.count == 6
    assert make("wall_of_boxes", base=4, courses=2).world.count == 5 + 4 + 3
    assert make("snake_loaded", side=2, mass_ratio=3.0).world.mass[-1] == pytest.approx(3.0)


# snakes


def test_limits_hold_up_a_snake_that_folds_without_them():
    sunk = {}
    for play in (3.0, None):
        world = (scene := small("snake", play=play)).world
        top, spin = world.position[:, 2].max(), 0.0
        for _ in range(60):
            advance(scene, 1)
            spin = max(spin, np.abs(world.velocity[:, 3:]).max())
        sunk[play] = top - world.position[:, 2].max()
        # a step adds dt^2/2 times two centripetal accelerations w^2 r, r < 0.1 m, and takes back a fifth of the drift
        assert world.joints.violation(world.poses()).metres < scene.dt**2 * spin**2 * 0.1 / 0.2
    assert 0.01 < sunk[3.0] < 0.2
    assert sunk[None] > 2.0 * sunk[3.0]


def test_a_snake_comes_to_rest_on_its_limits():
    scene = make("snake_loaded", side=3)
    advance(scene, 150)
    world = scene.world
    angles = np.degrees(world.joints.hinge_angles(world.poses()))
    assert abs(world.velocity).max() < 1e-6
    assert np.count_nonzero(np.abs(np.abs(angles) - 3.0) < 1e-6) >= 4
    assert np.abs(angles).max() < 3.0 + 1e-6
    assert (world.position[:, 2] > 0.0).all()


def test_neighbours_in_a_snake_keep_clear_at_their_limits():
    scene = small("snake", play=10.0)
    advance(scene, 100)
    world = scene.world
    bodies = world.shapes_and_masses
    half_length, _, half_height = bodies.model.geom_size[1]
    rotation = world.poses().rotation
    # corners of link k + 1 that face link k, in the frame of link k: none is nearer than its end
    for k in range(world.count - 1):
        for side in (-1.0, 1.0):
            corner = world.position[k + 1] + rotation[k + 1] @ [-half_length, 0.0, side * half_height]
            assert (rotation[k].T @ (corner - world.position[k]))[0] > half_length - 1e-9
    angles = np.degrees(world.joints.hinge_angles(world.poses()))
    assert angles.max() > 9.9  # where they bend most


# stacks


def test_an_exact_method_lets_a_heavy_box_rest_on_light_ones():
    scene = make("heavy_on_light", mass_ratio=1000.0)
    start = scene.world.position.copy()
    reports = advance(scene, 20)
    assert all(report.solution.success for report in reports)
    assert farthest(scene.world, start) < 1e-9


def test_a_stack_stays_up():
    scene = small("stack")
    start = scene.world.position.copy()
    advance(scene, 100, "nncg", 200)
    assert farthest(scene.world, start) < 1e-8


def test_boxes_hold_below_the_angle_of_friction():
    scene = small("incline", high=1, friction=0.5, angle=np.degrees(np.arctan(0.5)) - 0.2)
    start = scene.world.position.copy()
    advance(scene, 40)
    assert farthest(scene.world, start) < 1e-9


def test_boxes_slide_above_the_angle_of_friction_as_coulomb_says():
    """After n semi-implicit steps of h the way is a h^2 n (n + 1) / 2, with a = g (sin - mu cos)."""
    angle, steps = np.arctan(0.5) + np.radians(2.0), 40
    scene = small("incline", high=1, friction=0.5, angle=np.degrees(angle))
    start = scene.world.position.copy()
    advance(scene, steps)
    gone = scene.world.position - start
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    wanted = 9.81 * (np.sin(angle) - 0.5 * np.cos(angle)) * scene.dt**2 * steps * (steps + 1) / 2.0
    assert gone == pytest.approx(np.tile(wanted * down, (len(gone), 1)), abs=1e-7)


# gears


@pytest.mark.parametrize("backlash", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("teeth", [8, 10, 12, 14, 16, 18, 24, 32, 40])
def test_gears_mesh_without_overlap_whatever_their_teeth(teeth, backlash):
    gear = Gear(teeth, backlash)
    assert gear.distance < 2.0 * gear.tip  # teeth reach into gaps
    contacts = make("gears_medium", base=3, teeth=teeth, backlash=backlash).world.find_contacts(0.01)
    assert contacts.penetration < ROUNDING
    between = (contacts.bodies >= 0).all(axis=1) & (contacts.gap < TOUCHING)
    pairs = {tuple(sorted(pair)) for pair in contacts.bodies[between].tolist()}
    assert pairs == {(0, 3), (1, 3), (1, 4), (2, 4), (3, 5), (4, 5)}


def test_meshed_gears_turn_one_another_the_other_way():
    scene = make("gears_small", friction=0.0)
    world = scene.world
    world.gravity = np.zeros(3)
    world.velocity[2, 4] = 1.0
    advance(scene, 12)
    turning = world.velocity[:, 4]
    assert (turning[:2] < -1e-3).all()
    assert turning[2] < 1.0


def test_a_pyramid_of_gears_locks():
    scene = small("gears_medium")
    start = scene.world.position.copy()
    advance(scene, 60, "nncg", 200)
    assert farthest(scene.world, start) < 5e-3


def test_turned_turns_x_towards_z():
    rotation = Poses(np.zeros((1, 3)), [turned(0.3)]).rotation[0]
    assert rotation @ [1.0, 0.0, 0.0] == pytest.approx([np.cos(0.3), 0.0, np.sin(0.3)])


# walls


def test_friction_alone_holds_up_the_wall():
    fallen = {}
    for friction in (0.5, 0.0):
        scene = make("wall_of_boxes", base=4, courses=3, friction=friction)
        start = scene.world.position.copy()
        advance(scene, 50, "nncg", 200)
        fallen[friction] = farthest(scene.world, start)
    assert fallen[0.5] < 2e-3
    assert fallen[0.0] > 0.3
