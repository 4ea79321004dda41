"""Motion without rows: a step is MuJoCo's own Euler step; energy and momentum drift by the integrator's order."""

from __future__ import annotations

import numpy as np
import pytest
from articulated_models import DOUBLE_PENDULUM, model, run, solver

from perp.worlds.articulated import ArticulatedWorld

mujoco = pytest.importorskip("mujoco")

PENDULUM = model(
    '<body pos="0 0 2"><joint axis="0 1 0" damping=".2" stiffness="3"/>'
    '<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/></body>'
)
CART_POLE = model(
    """<body pos="0 0 1"><joint name="cart" type="slide" axis="1 0 0" damping="5" armature=".3"/>
         <geom type="box" size=".2 .1 .1" mass="1"/>
         <body><joint axis="0 1 0" damping=".01"/>
           <geom type="capsule" fromto="0 0 0 .1 0 .6" size=".03" mass=".1"/></body>
       </body>""",
    rest='<actuator><motor joint="cart" gear="10"/></actuator>',
)
SPINNING_TOP = model(
    """<body pos="0 0 1"><joint type="ball"/><geom type="box" pos="0 0 .3" size=".1 .05 .02"/>
         <body pos="0 0 .4" gravcomp=".5"><joint type="slide" axis="0 0 1" stiffness="200" damping="1"/>
           <geom type="sphere" size=".05"/></body></body>""",
    option='density="1.2" viscosity="1.8e-5" wind="1 0 0"',
)
FILTERED_ARM = model(
    """<body pos="0 0 2"><joint name="hinge" axis="0 1 0"/>
         <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/></body>""",
    rest="""<actuator><general joint="hinge" dyntype="filter" dynprm=".1" gainprm="5"/>
              <general joint="hinge" dyntype="integrator" actrange="-1 1" actlimited="true"/></actuator>""",
)


@pytest.mark.parametrize(
    ("text", "control"),
    [(PENDULUM, ()), (CART_POLE, (0.3,)), (DOUBLE_PENDULUM, ()), (SPINNING_TOP, ()), (FILTERED_ARM, (0.5, 2.0))],
    ids=["pendulum", "cart-pole", "double pendulum", "spinning top with wind and springs", "arm with filtered motors"],
)
def test_without_rows_a_step_is_the_euler_step_of_mujoco_to_rounding(text: str, control: tuple[float, ...]) -> None:
    world = ArticulatedWorld.from_xml(text)
    theirs = mujoco.MjModel.from_xml_string(text)
    theirs.opt.timestep = 0.004
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(5)
    data.qvel[:] = rng.normal(size=theirs.nv)
    world.set_state(qvel=data.qvel)
    data.ctrl[:] = control
    world.control = np.array(control)
    for _ in range(60):
        mujoco.mj_step(theirs, data)
        report = world.step(0.004, solver())
        assert report.problem.n == 0
        assert data.nefc == 0
    assert np.abs(world.qpos - data.qpos).max() < 1e-11
    assert np.abs(world.qvel - data.qvel).max() < 1e-10
    assert np.abs(world.mujoco_data.act - data.act).max(initial=0.0) < 1e-13
    assert world.time == pytest.approx(data.time)


def energy_drift(dt: float) -> float:
    world = ArticulatedWorld.from_xml(DOUBLE_PENDULUM)
    start, worst = world.energy(), 0.0
    for _ in range(round(0.24 / dt)):
        world.step(dt, solver())
        worst = max(worst, abs(world.energy() - start))
    return worst


def test_the_energy_of_a_double_pendulum_drifts_in_proportion_to_the_time_step() -> None:
    coarse, fine = energy_drift(3e-3), energy_drift(1.5e-3)
    assert 1.7 < coarse / fine < 2.3


def test_a_damper_far_too_strong_for_an_explicit_step_is_stable() -> None:
    """Damped at the end of the step, v+ = v / (1 + h d / m): here 1 / 201 a step; explicit it would be -199."""
    text = model(
        '<body pos="0 0 1"><joint type="slide" axis="1 0 0" damping="1000"/><geom size=".1" mass=".1"/></body>'
    )
    world = ArticulatedWorld.from_xml(text)
    world.set_state(qvel=np.array([1.0]))
    run(world, 1, dt=0.02)
    assert world.qvel[0] == pytest.approx(1.0 / 201.0)
    switched_off = ArticulatedWorld.from_xml(text.replace("<option />", '<option><flag eulerdamp="disable"/></option>'))
    switched_off.set_state(qvel=np.array([1.0]))
    run(switched_off, 1, dt=0.02)
    assert switched_off.qvel[0] == pytest.approx(-199.0)


CHAIN_IN_SPACE = model(
    """<body pos="0 0 1"><freejoint/><geom type="capsule" fromto="-.2 0 0 .2 0 0" size=".05"/>
         <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
           <body pos=".3 0 0"><joint axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
         </body></body>""",
    option='gravity="0 0 0"',
)


def momentum(world: ArticulatedWorld) -> np.ndarray:
    _, _, velocity, _ = world.bodies()
    return np.asarray(world.mujoco_model.body_mass[1:] @ velocity)


def momentum_drift(dt: float) -> float:
    world = ArticulatedWorld.from_xml(CHAIN_IN_SPACE)
    world.set_state(qvel=np.array([0.1, 0.2, -0.3, 0.5, 1.0, -0.7, 2.0, -3.0]))
    start = momentum(world)
    run(world, round(0.3 / dt), dt=dt)
    return float(np.abs(momentum(world) - start).max())


def test_the_momentum_of_a_chain_in_space_drifts_in_proportion_to_the_time_step() -> None:
    """Joint coordinates hide it: M depends on qpos, so that momentum is kept to the order of the step only."""
    coarse, fine = momentum_drift(5e-3), momentum_drift(2.5e-3)
    assert coarse < 0.05
    assert 1.7 < coarse / fine < 2.3


def test_a_frame_has_the_centres_of_mass_and_their_velocities_whatever_the_joints() -> None:
    world = ArticulatedWorld.from_xml(CHAIN_IN_SPACE)
    world.set_state(qvel=np.array([0.1, 0.2, -0.3, 0.5, 1.0, -0.7, 2.0, -3.0]))
    before = world.frame()
    assert before.position.shape == (3, 3)
    velocity = np.zeros(6)
    for body in range(3):
        mujoco.mj_objectVelocity(world.mujoco_model, world.mujoco_data, mujoco.mjtObj.mjOBJ_BODY, body + 1, velocity, 0)
        assert before.velocity[body] == pytest.approx(velocity[3:], abs=1e-12)
        assert before.spin[body] == pytest.approx(velocity[:3], abs=1e-12)
    dt = 1e-5
    run(world, 1, dt=dt)
    moved = (world.frame().position - before.position) / dt
    assert moved == pytest.approx(before.velocity, abs=1e-3)
