"""Worlds of free bodies: what they are made of, what they refuse, and what a step remembers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import perp
import perp.worlds
from perp.errors import InvalidProblem, StateNotFinite
from perp.worlds.rigid3d import Ball, Fixed, Geom, RigidBuilder, RigidWorld

pytest.importorskip("mujoco")


PLANE = '<geom type="plane" size="5 5 .1"/>'
BOX = '<body name="{name}" pos="{pos}"><freejoint/><geom type="box" size=".5 .5 .5" mass="2"/>{more}</body>'


def mjcf(*bodies: str, outside: str = "") -> str:
    return f"<mujoco><worldbody>{PLANE}{''.join(bodies)}</worldbody>{outside}</mujoco>"


def box(name: str = "box", pos: str = "0 0 .5", more: str = "") -> str:
    return BOX.format(name=name, pos=pos, more=more)


def exact(problem, x0):
    return perp.solve(problem, "cone_newton", x0=x0, tol=1e-10)


def sweeps(problem, x0):
    return perp.solve(problem, "block_gauss_seidel", x0=x0, tol=1e-8, max_iterations=200)


def patient(problem, x0):
    return perp.solve(problem, "block_gauss_seidel", x0=x0, tol=1e-7, max_iterations=20_000)


def stack(height: int, **options: object) -> RigidWorld:
    builder = RigidBuilder()
    builder.ground()
    for level in range(height):
        builder.body([Geom(form="box", size=(0.5, 0.5, 0.5), mass=1.0)], (0.0, 0.0, 0.5 + level))
    return builder.world(**options)


def test_a_model_of_free_bodies_is_loaded_from_text_and_from_a_file(tmp_path):
    text = mjcf(box(), box("other", "3 0 .5"))
    file = tmp_path / "model.xml"
    file.write_text(text)
    for world in (RigidWorld.from_xml(text), RigidWorld.from_xml(file)):
        assert world.names == ("box", "other")
        np.testing.assert_array_equal(world.mass, [2.0, 2.0])
        report = world.step(0.01, exact)
        assert len(report.contacts) == 8
        weight = 2 * 2.0 * 9.81 * 0.01
        np.testing.assert_allclose(report.contacts.impulses(report.x).sum(axis=0), [0, 0, weight], atol=1e-9)


def test_welded_parts_make_one_body_with_the_inertia_of_the_whole():
    part = '<body pos="0 0 2"><geom type="box" size=".5 .5 .5" mass="2"/></body>'
    world = RigidWorld.from_xml(mjcf(box(more=part)))
    assert world.count == 1
    assert world.mass[0] == 4.0
    np.testing.assert_allclose(world.position[0], [0.0, 0.0, 1.5], atol=1e-12)  # centres at 0.5 and 2.5
    own, apart = 2.0 / 6, 2.0 * 1.0**2
    np.testing.assert_allclose(world.masses().inertia[0], np.diag([2 * own + 2 * apart] * 2 + [2 * own]), atol=1e-12)


def test_shapes_follow_a_centre_of_mass_that_is_not_the_origin():
    part = '<body pos="0 0 2"><geom type="box" size=".5 .5 .5" mass="2"/></body>'
    world = RigidWorld.from_xml(mjcf(box(more=part)))
    report = world.step(0.01, exact)
    assert len(report.contacts) == 4
    assert abs(report.contacts.gap).max() < 1e-12


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (mjcf('<body pos="0 0 1"><joint name="elbow" type="hinge"/><geom size=".1"/></body>'), "elbow is a hinge"),
        (mjcf('<body pos="0 0 1"><joint type="slide"/><geom size=".1"/></body>'), "slide joint"),
        (mjcf('<body pos="0 0 1"><joint type="ball"/><geom size=".1"/></body>'), "ball joint"),
        (mjcf('<body pos="0 0 1"><joint type="free" damping="1"/><geom size=".1"/></body>'), "joint damping"),
        (mjcf('<body pos="0 0 1" mocap="true"><geom size=".1"/></body>'), "mocap"),
        (mjcf('<body pos="0 0 1" gravcomp="1"><freejoint/><geom size=".1"/></body>'), "gravity compensation"),
        (
            mjcf(
                '<body pos="0 0 1"><freejoint/><geom size=".1"/><site name="s"/></body><site name="t"/>',
                outside='<tendon><spatial><site site="s"/><site site="t"/></spatial></tendon>',
            ),
            "tendons",
        ),
        (mjcf(box(), outside='<option density="1000"/>'), "air or water"),
        (
            mjcf(
                box(),
                box("b", "3 0 .5"),
                outside='<equality><weld body1="box" body2="b" relpose="0 0 9 1 0 0 0"/></equality>',
            ),
            "another pose",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_name(text, word):
    with pytest.raises(InvalidProblem, match=word):
        RigidWorld.from_xml(text)


def test_a_broken_model_is_refused_with_the_words_of_its_parser():
    with pytest.raises(InvalidProblem, match="nosuch"):
        RigidWorld.from_xml("<mujoco><nosuch/></mujoco>")
    with pytest.raises(InvalidProblem, match=r"nowhere\.xml"):
        RigidWorld.from_xml("nowhere.xml")


def test_equalities_become_joints():
    text = mjcf(
        box(pos="0 0 3"),
        box("b", "2 0 3"),
        box("c", "4 0 3"),
        outside='<equality><connect body1="box" body2="b" anchor="1 0 0"/><weld body1="b" body2="c"/></equality>',
    )
    world = RigidWorld.from_xml(text)
    ball, weld = world.joints.joints
    assert isinstance(ball, Ball)
    assert isinstance(weld, Fixed)
    np.testing.assert_allclose(ball.anchors[0], [1.0, 0.0, 3.0])
    for _ in range(20):
        world.step(0.01, exact)
    assert max(world.joints.violation(world.poses())) < 1e-6


@pytest.mark.parametrize(
    ("geom", "word"),
    [
        ({"form": "box", "size": (1, 1, 1), "mass": 0.0}, "mass"),
        ({"form": "box", "size": (1, 1, 1), "mass": -1.0}, "mass"),
        ({"form": "box", "size": (1, 1, 1), "mass": np.nan}, "mass"),
        ({"form": "box", "size": (1, 1, 1)}, "mass"),
        ({"form": "box", "size": (1, 0, 1), "mass": 1.0}, "size"),
        ({"form": "box", "size": (1, np.nan, 1), "mass": 1.0}, "size"),
        ({"form": "teapot", "size": (1,), "mass": 1.0}, "teapot"),
        ({"form": "plane", "size": (1, 1), "mass": 1.0}, "plane cannot move"),
        ({"form": "mesh", "vertices": np.zeros((3, 3)), "mass": 1.0}, "four vertices"),
        ({"form": "sphere", "size": (1,), "mass": 1.0, "friction": -0.1}, "friction"),
        ({"form": "sphere", "size": (1,), "mass": 1.0, "friction": np.nan}, "friction"),
        ({"form": "sphere", "size": (1,), "mass": 1.0, "restitution": 1.5}, "restitution"),
        ({"form": "sphere", "size": (1,), "mass": 1.0, "position": (0, 0, np.inf)}, "position"),
    ],
)
def test_a_shape_that_makes_no_sense_is_refused(geom, word):
    with pytest.raises(InvalidProblem, match=word):
        RigidBuilder().body([Geom(**geom)], (0.0, 0.0, 0.0))


def test_a_pose_that_is_not_finite_is_refused():
    with pytest.raises(InvalidProblem, match="position"):
        RigidBuilder().body([Geom(form="sphere", size=(1.0,), mass=1.0)], (0.0, np.nan, 0.0))


@pytest.mark.parametrize("bad", [0.0, -0.01, np.nan, np.inf])
def test_a_step_needs_a_positive_time(bad):
    with pytest.raises(ValueError, match="dt"):
        stack(1).step(bad, exact)


def test_a_state_that_would_be_infinite_is_not_entered():
    world = stack(1)
    world.step(0.01, exact)
    world.velocity[0, 0] = 1e308
    before = world.fingerprint()
    with pytest.raises(StateNotFinite, match="step 2"):
        world.step(100.0, exact)
    assert world.fingerprint() == before
    assert world.steps == 1


def test_a_solver_that_returns_nonsense_does_not_spoil_the_world():
    world = stack(1)
    before = world.fingerprint()

    class Nonsense:
        def __init__(self, n: int) -> None:
            self.x = np.full(n, np.nan)

    with pytest.raises(StateNotFinite):
        world.step(0.01, lambda problem, x0: Nonsense(problem.n))
    assert world.fingerprint() == before


def test_physics_imports_no_solver():
    worlds = Path(perp.worlds.__file__).parent
    sources = {str(file): file.read_text() for file in worlds.rglob("*.py")}
    assert len(sources) > 10
    assert [name for name, text in sources.items() if "perp.solvers" in text] == []


def test_contacts_of_a_resting_stack_keep_their_identity():
    world = stack(3)
    for _ in range(3):
        report = world.step(0.01, exact)
    contacts = world.find_contacts(0.01)
    match = world.match_contacts(report.contacts, contacts)
    assert sorted(match) == list(range(len(contacts)))
    np.testing.assert_allclose(contacts.point, report.contacts.point[match], atol=1e-6)


def test_warm_starts_need_fewer_sweeps():
    counts = {}
    for warm in (True, False):
        world = stack(3, warm_start=warm)
        counts[warm] = sum(world.step(1 / 60, patient).iterations for _ in range(20))
    assert counts[True] < 0.7 * counts[False]


def test_a_warm_start_is_never_worse_than_a_cold_one():
    world = stack(4)
    world.step(1 / 60, sweeps)
    world.velocity[:] = np.random.default_rng(0).standard_normal(world.velocity.shape)  # last impulses mean nothing now
    starts = 0
    for _ in range(20):
        report = world.step(1 / 60, sweeps)
        if report.x0 is not None:
            starts += 1
            warm = perp.verify(report.problem, report.x0)
            cold = perp.verify(report.problem, np.zeros(report.problem.n))
            assert warm.objective < cold.objective
    assert starts > 5


def test_impulses_that_would_only_add_energy_are_no_start():
    world = stack(1)
    world.step(1 / 60, exact)
    world.velocity[0, 2] = 2.0  # the box leaves the ground
    assert world.step(1 / 60, exact).x0 is None


def test_a_spin_set_by_hand_stays():
    builder = RigidBuilder(gravity=(0.0, 0.0, 0.0))
    builder.body([Geom(form="box", size=(0.5, 0.5, 0.5), mass=1.0)], (0.0, 0.0, 0.0), spin=(1.0, 0.0, 0.0))
    world = builder.world()
    world.step(0.01, exact)
    world.velocity[0, 3:] = [0.0, 0.0, 5.0]
    world.step(0.01, exact)
    np.testing.assert_allclose(world.velocity[0, 3:], [0.0, 0.0, 5.0], atol=1e-12)


def test_friction_and_restitution_of_a_pair_are_the_larger_ones():
    builder = RigidBuilder()
    builder.ground(friction=0.2, restitution=0.1)
    builder.body([Geom(form="sphere", size=(0.5,), mass=1.0, friction=0.7, restitution=0.3)], (0.0, 0.0, 0.5))
    contacts = builder.world().find_contacts(0.01)
    np.testing.assert_allclose([contacts.friction[0], contacts.restitution[0]], [0.7, 0.3])


def test_bodies_told_not_to_collide_pass_through_one_another():
    builder = RigidBuilder()
    first, second = (builder.body([Geom(form="sphere", size=(0.5,), mass=1.0)], (0.0, 0.0, z)) for z in (0.0, 0.6))
    assert len(builder.world().find_contacts(0.01)) == 1
    builder.without_contact(first, second)
    assert len(builder.world().find_contacts(0.01)) == 0


def test_an_empty_world_can_be_stepped():
    report = RigidBuilder().world().step(0.01, exact)
    assert report.problem.n == 0
    assert report.time == 0.01


REPEAT = """
import sys
sys.path.insert(0, {folder!r})
from test_rigid_world import stack, sweeps
world = stack(4)
world.velocity[2, 0] = 0.5
for _ in range(30):
    world.step(1 / 60, sweeps)
print(world.fingerprint())
"""


def test_a_run_repeats_bit_by_bit_with_one_and_two_threads():
    code = REPEAT.format(folder=os.path.dirname(__file__))
    prints = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "NUMBA_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
        prints.add(run.stdout)
    assert len(prints) == 1


def test_boxes_that_lie_flush_on_one_another_never_lose_a_contact():
    """Sharp boxes do: for a third of such tilts collision detection finds one edge on another in place of a face."""
    rng = np.random.default_rng(0)
    world = stack(2)
    start = world.position.copy(), world.orientation.copy()
    for tilt in 10.0 ** rng.uniform(-14.0, -6.0, 300):
        world.position[:], world.orientation[:] = start[0], start[1]
        world.position[1, :2] = rng.uniform(-0.3, 0.3, 2)
        world.orientation[1, 1:] = tilt * rng.standard_normal(3)
        world.orientation[1] /= np.linalg.norm(world.orientation[1])
        contacts = world.find_contacts(0.01)
        between = (contacts.bodies >= 0).all(axis=1)
        assert np.count_nonzero(between) >= 4, tilt
        assert np.abs(contacts.gap[between]).max() < 1e-5


def test_rounded_boxes_lie_where_sharp_ones_do():
    for rounding in (0.0, 3e-4, 1.0):  # at most 5 % of a half edge
        contacts = stack(2, rounding=rounding).find_contacts(0.01)
        assert len(contacts) == 8
        np.testing.assert_allclose(contacts.gap, 0.0, atol=1e-12)
        np.testing.assert_allclose(contacts.frame[:, 0], [[0.0, 0.0, 1.0]] * 8, atol=1e-12)


def test_contacts_are_known_up_to_the_margin():
    for gap, count in ((0.009, 4), (0.011, 0)):
        world = stack(1)
        world.position[0, 2] += gap
        assert len(world.find_contacts(0.01)) == count


def overlapping(*options):
    """The pairs that collide of as many balls in one place as there are options."""
    builder = RigidBuilder()
    for option in options:
        builder.body([Geom(form="sphere", size=(1.0,), mass=1.0, **option)], (0.1 * len(builder._velocities), 0.0, 0.0))
    return {tuple(pair) for pair in builder.world().find_contacts(0.01).bodies.tolist()}


def test_shapes_collide_unless_each_avoids_the_group_of_the_other():
    assert overlapping({}, {}) == {(0, 1)}
    assert overlapping({"group": 3}, {"group": 30}) == {(0, 1)}
    assert overlapping({"avoids": (0,)}, {"avoids": (0,)}) == set()
    assert overlapping({"avoids": (0,)}, {}) == {(0, 1)}
    assert overlapping({"group": 1, "avoids": (2,)}, {"group": 2, "avoids": (1,)}) == set()
    assert overlapping({"group": 1, "avoids": (2,)}, {"group": 2}) == {(0, 1)}


def test_links_of_a_cable_pass_through_one_another_and_meet_everything_else():
    link = {"group": 1, "avoids": (1,)}
    assert overlapping(link, link, {}) == {(0, 2), (1, 2)}


@pytest.mark.parametrize("wrong", [{"group": 31}, {"group": -1}, {"avoids": (2, 40)}])
def test_a_group_that_does_not_exist_is_refused(wrong):
    with pytest.raises(InvalidProblem, match="there are groups 0 to 30"):
        overlapping(wrong)
