"""Contacts in joint coordinates against closed forms: weight, Coulomb's threshold, impacts, and planar models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from articulated_models import free_box, model, run, solver

import perp
from perp.worlds.articulated import ArticulatedWorld

mujoco = pytest.importorskip("mujoco")

G = 9.81


@pytest.mark.parametrize("law", ["box", "cone"])
def test_a_free_box_falls_on_the_floor_and_rests_on_impulses_of_its_weight(law: str) -> None:
    world = ArticulatedWorld.from_xml(free_box(0.11), model=law)
    report = run(world, 60)
    assert report.x[::3].sum() == pytest.approx(8.0 * G * 0.002, rel=1e-9)
    assert world.qpos[2] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(world.qvel).max() < 1e-9
    assert report.residuals.natural_inf < 1e-12
    assert report.iterations <= 10  # warm


def test_a_resting_box_does_not_sink() -> None:
    world = ArticulatedWorld.from_xml(free_box(0.1))
    deepest = 0.0
    for _ in range(120):
        deepest = max(deepest, world.step(0.002, solver()).contacts.penetration)
    assert deepest < 1e-12
    assert np.abs(world.qpos[:3] - [0.0, 0.0, 0.1]).max() < 1e-12


def test_a_box_on_a_slide_joint_is_stopped_by_the_floor_and_carries_a_press() -> None:
    text = model(
        """<body pos="0 0 .5"><joint name="press" type="slide" axis="0 0 1"/>
             <geom type="box" size=".1 .1 .1" mass="2"/></body>""",
        rest='<actuator><motor joint="press"/></actuator>',
    )
    world = ArticulatedWorld.from_xml(text)
    world.control = np.array([-30.0])
    report = run(world, 110)
    assert world.qpos[0] == pytest.approx(-0.4, abs=1e-9)
    assert report.x[::3].sum() == pytest.approx(0.002 * (2.0 * G + 30.0), rel=1e-9)
    assert np.abs(report.x[1::3]).max() < 1e-15  # tangents that no joint can move have no impulse


def tilted(angle: float) -> str:
    return f'gravity="{G * math.sin(angle)} 0 {-G * math.cos(angle)}"'


@pytest.mark.parametrize("angle", [0.2, 0.5])
def test_a_free_box_on_an_incline_slides_above_the_angle_of_friction_only(angle: float) -> None:
    holds, slides = math.tan(angle) * 1.01, math.tan(angle) * 0.95
    world = ArticulatedWorld.from_xml(free_box(0.1, friction=holds, option=tilted(angle)), model="cone")
    run(world, 50)
    assert np.abs(world.qvel).max() < 1e-9
    world = ArticulatedWorld.from_xml(free_box(0.1, friction=slides, option=tilted(angle)), model="cone")
    run(world, 50)
    gain = G * (math.sin(angle) - slides * math.cos(angle))
    assert world.qvel[0] == pytest.approx(gain * 50 * 0.002, rel=1e-6)


def step_ladder(friction: float, angle: float) -> str:
    """Two links of 1 m, the first hinged to the ground, the second to the top of the first, with its foot on the floor.

    N = m g at the foot (moments about the ground hinge), and the friction that keeps the links from opening is
    F = m g / (2 tan(angle)) (moments about the top).
    """
    x, z, r = math.cos(angle), math.sin(angle), 0.05
    inertial = 'mass="1" diaginertia=".05 .08 .05"'
    return model(
        f"""<body><joint axis="0 1 0"/><inertial pos="{x / 2} 0 {z / 2}" {inertial}/>
              <body pos="{x} 0 {z}"><joint axis="0 1 0"/><inertial pos="{x / 2} 0 {-z / 2}" {inertial}/>
                <geom type="sphere" pos="{x} 0 {r - z}" size="{r}" friction="{friction} 0 0"/></body></body>""",
        floor=f'friction="{friction} 0 0"',
    )


@pytest.mark.parametrize("method", ["block_gauss_seidel", "dantzig"])
def test_an_arm_of_two_links_that_leans_on_the_floor_slips_above_its_angle_of_friction_only(method: str) -> None:
    angle = 1.0
    threshold = 1.0 / (2.0 * math.tan(angle))
    world = ArticulatedWorld.from_xml(step_ladder(1.02 * threshold, angle))
    report = run(world, 30, method=method)
    assert np.abs(world.qvel).max() < 1e-9
    assert report.x[0] == pytest.approx(G * 0.002, rel=1e-9)
    assert np.abs(report.x[1:]).max() == pytest.approx(G * 0.002 * threshold, rel=1e-9)
    world = ArticulatedWorld.from_xml(step_ladder(0.98 * threshold, angle))
    run(world, 30, method=method)
    assert np.abs(world.qvel).max() > 1e-3


@pytest.mark.parametrize(("restitution", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_a_ball_bounces_by_the_restitution_of_the_world(restitution: float, expected: float) -> None:
    text = model('<body pos="0 0 .105"><freejoint/><geom type="sphere" size=".1"/></body>', option='gravity="0 0 0"')
    world = ArticulatedWorld.from_xml(text, restitution=restitution)
    world.set_state(qvel=np.array([0.0, 0.0, -3.0, 0.0, 0.0, 0.0]))
    run(world, 1)
    assert world.qpos[2] == pytest.approx(0.1 if restitution == 0.0 else 0.105 + 0.002 * 3.0 * expected)
    run(world, 5)
    assert world.qvel[2] == pytest.approx(3.0 * expected, abs=1e-12)


def test_a_fast_body_stops_at_the_surface_within_the_margin_and_goes_in_without_one() -> None:
    text = model('<body pos="0 0 .1041"><freejoint/><geom type="sphere" size=".1"/></body>')
    start = np.array([0.0, 0.0, -4.0, 0.0, 0.0, 0.0])
    ahead, blind = (ArticulatedWorld.from_xml(text, margin=margin) for margin in (0.01, 0.0))
    deepest = []
    for world in (ahead, blind):
        world.set_state(qvel=start)
        deepest.append(max(world.step(0.002, solver()).contacts.penetration for _ in range(20)))
    assert deepest[0] < 1e-12
    assert 1e-3 < deepest[1] < 8e-3


def test_two_boxes_that_collide_keep_their_momentum_to_rounding() -> None:
    box = '<body pos="{} 0 1"><freejoint/><geom type="box" size=".1 .1 .1" density="{}"/></body>'
    world = ArticulatedWorld.from_xml(model(box.format(0, 1000) + box.format(0.25, 200), option='gravity="0 0 0"'))
    world.set_state(qvel=np.array([1.0, 0, 0, 0, 0, 0.3, -1.0, 0.1, 0.05, 0, 0, 0]))
    mass = world.mujoco_model.body_mass[1:]
    before = mass @ world.bodies()[2]
    touched = 0
    for _ in range(50):
        touched += bool(world.step(0.002, solver()).x.any())
    assert touched
    assert mass @ world.bodies()[2] == pytest.approx(before, abs=1e-13)


def test_contacts_of_condim_one_have_no_friction_among_others_that_have() -> None:
    box = '<body pos="{} 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" condim="{}" friction="1 0 0"/></body>'
    world = ArticulatedWorld.from_xml(model(box.format(0, 1) + box.format(1, 3), floor='condim="1"'))
    start = np.zeros(12)
    start[[0, 6]] = 0.5  # stopped by friction after 0.051 s
    world.set_state(qvel=start)
    report = run(world, 60)
    assert sorted(set(report.contacts.friction)) == [0.0, 1.0]
    assert len(report.x) == 3 * len(report.contacts) == 24
    assert world.qvel[0] == pytest.approx(0.5, rel=1e-12)
    assert abs(world.qvel[6]) < 1e-9


def test_friction_of_zero_is_zero_and_not_what_mujoco_raises_it_to() -> None:
    world = ArticulatedWorld.from_xml(free_box(0.1, friction=0.0))
    world.set_state(qvel=np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    report = run(world, 50)
    assert not report.contacts.friction.any()
    assert world.qvel[0] == pytest.approx(0.5, rel=1e-13)


def test_torsional_and_rolling_friction_are_read_as_sliding_friction_with_a_note() -> None:
    world = ArticulatedWorld.from_xml(free_box(0.1, more='condim="6"'))
    assert any("condim 4 and 6" in note for note in world.notes)
    report = run(world, 20)
    assert report.problem.n == 12
    assert not any("condim" in note for note in ArticulatedWorld.from_xml(free_box(0.1)).notes)


PLANAR_HOPPER = model(
    """<body pos="0 0 .6"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
         <geom type="capsule" fromto="-.2 0 0 .2 0 0" size=".05" mass="3"/>
         <body pos=".1 0 -.05"><joint axis="0 1 0" range="-40 40" damping=".5"/>
           <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04" mass="1"/></body></body>"""
)


@pytest.mark.parametrize("method", ["pgs", "block_gauss_seidel", "dantzig", "block_principal", "nncg"])
def test_a_model_in_a_plane_is_solved_by_methods_that_divide_by_the_diagonal(method: str) -> None:
    world = ArticulatedWorld.from_xml(PLANAR_HOPPER)
    largest = 0.0
    for _ in range(60):
        report = world.step(0.006, lambda problem, x0: perp.solve(problem, method, tol=1e-10, x0=x0))
        largest = max(largest, report.residuals.natural_inf)
        across = report.contacts.impulses(report.x)[:, 1]
        assert not across.any()  # no joint moves along y
    assert len(report.contacts) > 0
    assert largest < 1e-9
    assert world.qpos[1] < -0.1


def test_a_step_is_warm_started_from_the_contacts_it_had() -> None:
    world = ArticulatedWorld.from_xml(free_box(0.1))
    run(world, 5)
    warm = world.step(0.002, solver())
    assert warm.x0 is not None
    assert warm.x0 == pytest.approx(warm.x, abs=1e-9)
    world.forget_impulses()
    assert world.step(0.002, solver()).x0 is None


def test_contacts_have_our_numbers_of_bodies_and_normals_from_the_first_to_the_second() -> None:
    world = ArticulatedWorld.from_xml(free_box(0.1))
    frame = world.frame(world.step(0.002, solver()))
    assert (frame.contacts.bodies == [-1, 0]).all()
    assert frame.contacts.normal == pytest.approx(np.tile([0.0, 0.0, 1.0], (4, 1)))
    assert frame.contacts.impulse[:, 2].sum() == pytest.approx(8.0 * G * 0.002)
    assert frame.contacts.gap == pytest.approx(np.zeros(4), abs=1e-12)
