"""Limits, dry friction and equalities of MJCF models, as rows of our own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from articulated_models import model, run, solver

from perp.worlds.articulated import ArticulatedWorld
from perp.worlds.articulated.rows import RowNames

mujoco = pytest.importorskip("mujoco")

G = 9.81


def bar(joint: str, rest: str = "") -> str:
    return model(
        f'<body pos="0 0 2"><joint name="hinge" axis="0 1 0" {joint}/>'
        '<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/></body>',
        rest=rest,
    )


@pytest.mark.parametrize("method", ["block_gauss_seidel", "dantzig"])
def test_a_falling_bar_stops_at_the_limit_of_its_hinge_and_never_passes_it(method: str) -> None:
    world = ArticulatedWorld.from_xml(bar('range="-30 40"'))
    limit = math.radians(40)
    farthest = 0.0
    for _ in range(100):
        report = world.step(0.004, solver(method))
        farthest = max(farthest, world.qpos[0])
    assert farthest < limit + 1e-13
    assert world.qpos[0] == pytest.approx(limit, abs=1e-12)
    torque = 1.0 * G * 0.25 * math.cos(limit)
    assert report.x == pytest.approx([0.004 * torque])


def test_a_limit_that_is_passed_already_is_taken_back_by_its_share() -> None:
    world = ArticulatedWorld.from_xml(bar('range="-30 40"'), error_reduction=0.25)
    over = math.radians(40) + 0.1
    world.set_state(qpos=np.array([over]))
    run(world, 1)
    assert world.qpos[0] == pytest.approx(over - 0.025)


def test_a_ball_joint_stops_at_its_cone() -> None:
    text = model(
        '<body pos="0 0 2"><joint type="ball" range="0 30" limited="true"/>'
        '<geom type="capsule" fromto="0 0 0 .3 .4 0" size=".03" mass="1"/></body>'
    )
    world = ArticulatedWorld.from_xml(text)
    report = run(world, 100, dt=0.004)
    angle = 2.0 * math.acos(abs(world.qpos[0]))
    assert angle == pytest.approx(math.radians(30), abs=2e-3)
    assert report.problem.n == 1
    assert report.x[0] > 0.0


@pytest.mark.parametrize(("force", "gain"), [(4.9, 0.0), (-4.9, 0.0), (6.0, 0.5), (-6.0, -0.5)])
def test_dry_friction_of_a_joint_holds_below_its_force_and_brakes_above_it(force: float, gain: float) -> None:
    text = model(
        """<body pos="0 0 1"><joint name="rail" type="slide" axis="1 0 0" frictionloss="5"/>
             <geom size=".1" mass="2"/></body>""",
        rest='<actuator><motor joint="rail"/></actuator>',
    )
    world = ArticulatedWorld.from_xml(text)
    world.control = np.array([force])
    report = run(world, 50)
    assert world.qvel[0] == pytest.approx(gain * 0.1, abs=1e-14)
    assert report.x[0] == pytest.approx(-0.002 * max(-5.0, min(5.0, force)))


FOUR_BAR = model(
    """<body name="crank" pos="0 0 2"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
         <body pos="0 0 .3"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .8 0 0" size=".02"/>
           <body name="rocker" pos=".8 0 0"><joint axis="0 1 0"/>
             <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02"/></body></body></body>""",
    rest="""<contact><exclude body1="crank" body2="rocker"/></contact>
            <equality><connect body1="rocker" anchor="0 0 -.5"/></equality>""",
)


def worst_gap(dt: float) -> float:
    """How far the loop opens while the crank turns, in 0.3 s."""
    world = ArticulatedWorld.from_xml(FOUR_BAR)
    world.set_state(qvel=np.array([2.0, -2.0, 1.2]))  # as the loop allows: 0.3 * 2 = 0.5 * 1.2
    worst = 0.0
    for _ in range(round(0.3 / dt)):
        world.step(dt, solver("dantzig"))
        data, rocker = world.mujoco_data, 3
        mujoco.mj_kinematics(world.mujoco_model, data)
        tip = data.xpos[rocker] + data.xmat[rocker].reshape(3, 3) @ [0.0, 0.0, -0.5]
        worst = max(worst, float(np.linalg.norm(tip - [0.8, 0.0, 1.8])))
    assert world.qpos[0] > 0.4
    return worst


def test_a_linkage_of_four_bars_stays_closed_to_second_order_in_the_time_step() -> None:
    """A step along the tangent leaves the loop by O(h^2), and a fifth of what there is is taken back each step."""
    coarse, fine = worst_gap(4e-3), worst_gap(2e-3)
    assert coarse < 5e-3
    assert 3.0 < coarse / fine < 5.0


def test_joints_that_an_equality_couples_turn_together() -> None:
    text = model(
        """<body pos="0 0 2"><joint name="a" axis="0 1 0"/>
             <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
           <body pos="0 1 2"><joint name="b" axis="0 1 0"/>
             <geom type="capsule" fromto="0 0 0 .2 0 0" size=".03"/></body>""",
        rest='<equality><joint joint1="b" joint2="a" polycoef="0 2 0 0 0"/></equality>',
    )
    world = ArticulatedWorld.from_xml(text)
    run(world, 50)
    assert world.qpos[1] == pytest.approx(2.0 * world.qpos[0], abs=1e-12)
    assert abs(world.qpos[0]) > 0.01


def test_a_tendon_of_limited_length_carries_what_hangs_on_it() -> None:
    text = model(
        """<site name="hook" pos="0 0 3"/>
           <body pos="0 0 2.5"><freejoint/><geom size=".1" mass="3"/><site name="eye"/></body>""",
        rest='<tendon><spatial limited="true" range="0 .6"><site site="hook"/><site site="eye"/></spatial></tendon>',
    )
    world = ArticulatedWorld.from_xml(text)
    report = run(world, 90)
    assert world.qpos[2] == pytest.approx(2.4, abs=1e-9)
    assert report.x == pytest.approx([0.002 * 3.0 * G])


def test_a_weld_between_free_bodies_carries_the_lower_one() -> None:
    text = model(
        """<body name="up" pos="0 0 3"><joint type="slide" axis="0 0 1" stiffness="1e4"/>
             <geom size=".1" mass="1"/></body>
           <body name="low" pos=".3 0 2.5"><freejoint/><geom size=".1" mass="2"/></body>""",
        rest='<equality><weld body1="up" body2="low"/></equality>',
    )
    world = ArticulatedWorld.from_xml(text)
    report = run(world, 30, method="dantzig")
    position, _, _, spin = world.bodies()
    assert position[1] - position[0] == pytest.approx([0.3, 0.0, -0.5], abs=1e-10)
    assert np.abs(spin[1]).max() < 1e-10
    assert report.problem.n == 6


def test_impulses_of_rows_find_their_rows_again_when_others_come_and_go() -> None:
    before, after = RowNames(np.array([7, 3, 9])), RowNames(np.array([9, 4, 7]))
    assert after.realign(np.array([1.0, 2.0, 3.0]), before).tolist() == [3.0, 0.0, 1.0]
    assert RowNames(np.empty(0, dtype=np.int64)).realign(np.array([1.0, 2.0, 3.0]), before).size == 0


def test_a_row_that_appears_does_not_spoil_the_start_of_the_others() -> None:
    """A block held by dry friction of its rail; a bar reaches its limit meanwhile, and its row comes after that one."""
    text = model(
        """<body pos="0 0 1"><joint name="rail" type="slide" axis="1 0 0" frictionloss="5"/>
             <geom size=".1" mass="2"/></body>
           <body pos="0 3 2"><joint axis="0 1 0" range="-90 10"/>
             <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/></body>""",
        rest='<actuator><motor joint="rail"/></actuator>',
    )
    world = ArticulatedWorld.from_xml(text)
    world.control = np.array([4.0])
    rows, cold = [], 0
    for _ in range(100):
        report = world.step(0.004, solver())
        rows.append(report.problem.n)
        if report.x0 is None:
            cold += 1
        else:
            assert report.x0[0] == pytest.approx(-0.004 * 4.0)
    assert cold == 2  # the first step, and the one after the impact, whose impulse would only add energy
    assert rows[0] == 1
    assert rows[-1] == 2
