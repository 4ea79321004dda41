"""Boxes, tower, wall and rocks of THESIS 6.1: sizes as printed, and what the THESIS says happens."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.problems.islands import split_islands
from perp.scenes import kinds, make
from perp.scenes.machines import rock_vertices

pytest.importorskip("mujoco")

NAMES = ("boxes", "tower", "wall", "rocks")
SWEEPS = 50
PIVOTS = 5000
"""Limits of methods that converge slowly, and of those that end by themselves."""
THINNEST = {"boxes": 0.2, "tower": 0.16, "wall": 0.065, "rocks": 0.3}
"""The least thickness of a body [m]."""


def advance(scene, steps, method="pgs", iterations=SWEEPS):
    """The reports of so many steps."""
    return [
        scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, method, x0=x0, max_iterations=iterations))
        for _ in range(steps)
    ]


def make_small(name, **options):
    return make(name, **{**kinds()[name].small, **options})


def mass_ratio(scene):
    return scene.world.mass.max() / scene.world.mass.min()


def sideways(scene, start):
    return np.linalg.norm((scene.world.position - start)[:, :2], axis=1)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("method", "iterations"), [("pgs", SWEEPS), ("block_gauss_seidel", SWEEPS), ("block_principal", PIVOTS)]
)
def test_a_small_scene_runs_with_several_methods(name, method, iterations):
    scene = make_small(name, **({"drop": 0.1} if name == "tower" else {}))
    start = scene.world.energy()
    reports = advance(scene, 20, method, iterations)
    position, _, velocity, spin = scene.world.bodies()
    assert np.isfinite(position).all()
    assert np.isfinite(velocity).all()
    assert np.isfinite(spin).all()
    assert any(len(report.contacts) for report in reports)
    assert max(report.contacts.penetration for report in reports) < 0.25 * THINNEST[name]
    assert scene.world.energy() < start


@pytest.mark.parametrize("name", NAMES)
def test_the_default_method_of_a_small_scene_leaves_a_small_error(name):
    scene = make_small(name)
    reports = advance(scene, 20, scene.kind.method, scene.kind.iterations)
    assert max(report.residuals.residual for report in reports) < 1e-2


@pytest.mark.parametrize("name", NAMES)
def test_the_same_arguments_make_the_same_run(name):
    prints = []
    for _ in range(2):
        scene = make(name, seed=3, **kinds()[name].small)
        advance(scene, 20)
        prints.append(scene.world.fingerprint())
    assert prints[0] == prints[1]


@pytest.mark.parametrize("name", ["boxes", "rocks"])
def test_another_seed_makes_another_world(name):
    small = kinds()[name].small
    assert make(name, seed=1, **small).world.fingerprint() != make(name, seed=2, **small).world.fingerprint()


@pytest.mark.parametrize(("model", "method"), [("cone", "block_gauss_seidel"), ("convex", "apgd")])
@pytest.mark.parametrize("name", NAMES)
def test_a_scene_has_the_law_of_friction_that_it_is_told(name, model, method):
    scene = make_small(name, model=model)
    reports = advance(scene, 8, method)
    assert {report.problem.model for report in reports} == {model}
    assert np.isfinite(scene.world.position).all()


@pytest.mark.parametrize("name", NAMES)
def test_friction_and_compliance_reach_the_problem(name):
    scene = make_small(name, friction=0.25, compliance=1e-7)
    reports = advance(scene, 20)
    problem = max((report.problem for report in reports), key=lambda problem: problem.n)
    contacts = problem.friction.size
    assert contacts > 0
    assert (problem.friction == 0.25).all()
    np.testing.assert_array_equal(problem.A.compliance[: 3 * contacts : 3], 1e-7)


# --- sizes of Table 6.1 -----------------------------------------------------------------------------------------------


def test_boxes_have_the_mass_and_the_constraints_of_the_thesis():
    scene = make("boxes", start="standing")
    world = scene.world
    contacts = world.find_contacts(scene.dt)
    problem = world.make_problem(contacts, scene.dt)
    assert world.count == 1000
    assert (world.mass == 2.5).all()
    assert problem.n == 12_000
    assert abs(contacts.gap).max() < 1e-12
    islands = split_islands(problem)
    assert len(islands) == 200
    assert {island.problem.n for island in islands} == {60}


def test_the_tower_has_the_masses_of_the_thesis():
    world = make("tower").world
    assert world.count == 161
    assert (world.mass[:-1] == 50.0).all()
    assert world.mass[-1] == 2500.0
    assert world.names[-1] == "weight"
    rows = 3 * len(world.find_contacts(1 / 60))
    assert 0.8 * 1300 < rows < 1.2 * 1300


def test_the_wall_has_the_masses_of_the_thesis_and_no_contact_at_the_start():
    scene = make("wall")
    world = scene.world
    assert (world.mass[:-1] == 2.5).all()
    assert world.mass[-1] == 10.0
    assert world.names[-1] == "metal box"
    assert len(world.find_contacts(scene.dt)) == 0


def test_the_rocks_have_the_masses_of_the_thesis_and_start_apart():
    scene = make("rocks")
    mass = scene.world.mass
    assert mass[:-1].min() == 80.0
    assert mass[:-1].max() == 250.0
    assert mass[-1] == pytest.approx(1.0, rel=1e-12)
    assert mass_ratio(scene) == pytest.approx(250.0, rel=1e-12)
    assert scene.world.names[-1] == "shovel"
    assert len(scene.world.find_contacts(scene.dt)) == 0


def test_a_rock_is_a_convex_polyhedron_of_its_volume():
    from scipy.spatial import ConvexHull

    draw = np.random.default_rng(1)
    for volume in (0.03, 0.1):
        corners = rock_vertices(volume, draw)
        hull = ConvexHull(corners)
        assert hull.volume == pytest.approx(volume, rel=1e-12)
        assert len(hull.vertices) == len(corners)


# --- what happens -----------------------------------------------------------------------------------------------------


def test_boxes_fall_into_stacks_that_stand():
    scene = make("boxes", stacks=4, height=4)
    advance(scene, 60, "block_principal", PIVOTS)
    world = scene.world
    level = np.tile(np.arange(4), 4)
    np.testing.assert_allclose(world.position[:, 2], 0.2 * (level + 0.5), atol=1e-5)
    assert abs(world.velocity).max() < 1e-5


def test_standing_boxes_stay():
    scene = make("boxes", stacks=4, height=5, start="standing")
    start = scene.world.position.copy()
    reports = advance(scene, 40, "block_principal", PIVOTS)
    assert {len(report.contacts) for report in reports} == {4 * 5 * 4}
    assert abs(scene.world.position - start).max() < 1e-6


def test_the_tower_stands_until_it_is_hit_and_then_collapses():
    scene = make("tower", logs=22)
    world = scene.world
    start = world.position.copy()
    advance(scene, 35, "block_principal", PIVOTS)
    assert abs(world.position - start)[:-1].max() < 1e-4
    advance(scene, 100, "nncg", 200)
    assert np.median(world.position[:-1, 2]) < 0.6 * np.median(start[:-1, 2])
    assert sideways(scene, start)[:-1].max() > 1.0


def test_what_falls_on_the_tower_is_a_block_or_a_ball_of_concrete():
    shapes = {weight: make("tower", logs=6, weight=weight).world.shapes()[-1] for weight in ("block", "ball")}
    block, ball = shapes["block"], shapes["ball"]
    assert (block.form, ball.form) == ("box", "sphere")
    assert 8.0 * np.prod(block.size) == pytest.approx(1.0)
    assert 4.0 / 3.0 * np.pi * ball.size[0] ** 3 == pytest.approx(1.0)


def test_only_a_part_of_the_wall_collapses():
    scene = make("wall")
    start = scene.world.position.copy()
    reports = advance(scene, 120, "nncg", 100)
    assert 0.8 * 1006 < max(report.problem.n for report in reports) < 1.2 * 1006
    moved = sideways(scene, start)[:-1]
    assert np.count_nonzero(moved > 0.2) >= 4
    assert np.count_nonzero(moved < 0.02) >= 4
    lowest_corners = moved[[0, 6]]
    assert lowest_corners.max() < 0.05


def test_the_shovel_pushes_rocks_along():
    pushed = make("rocks", count=8)
    left_alone = make("rocks", count=8, speed=0.0)
    for scene in (pushed, left_alone):
        advance(scene, 200, "nncg", 300)
    start, end = left_alone.world.position[:-1], pushed.world.position[:-1]
    assert (end - start)[:, 0].mean() > 0.3
    assert pushed.world.position[-1, 2] == pytest.approx(left_alone.world.position[-1, 2], abs=0.02)


def test_the_shovel_stops_where_its_force_ends():
    scene = make("rocks", count=8, max_force=50.0)
    advance(scene, 200, "nncg", 300)
    assert abs(scene.world.velocity[-1]).max() < 0.1


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rocks", {"lightest": 300.0}, "lightest"),
        ("rocks", {"count": 1}, "count"),
        ("boxes", {"start": "flying"}, "start"),
        ("tower", {"weight": "cow"}, "weight"),
        ("wall", {"gap": 0.0}, "gap"),
        ("wall", {"friction": -0.1}, "friction"),
    ],
)
def test_options_that_make_no_sense_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        make(name, **options)
