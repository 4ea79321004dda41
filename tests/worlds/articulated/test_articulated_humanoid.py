"""A whole figure of 22 degrees of freedom: many rows of all kinds, beside MuJoCo's own step."""

from __future__ import annotations

import numpy as np
import pytest
from articulated_models import HUMANOID, finite

import perp
from perp.worlds.articulated import ArticulatedWorld

mujoco = pytest.importorskip("mujoco")

DT = 0.005
SMOOTH = HUMANOID.replace("<geom type=", '<geom condim="1" type=', 1).replace('size="5 5 1"', 'size="5 5 1" condim="1"')


def fall(method: str, steps: int, text: str = HUMANOID, sweeps: int = 1000) -> tuple[ArticulatedWorld, float]:
    """The world after so many steps, and the largest residual of them."""
    world = ArticulatedWorld.from_xml(text)
    worst = 0.0
    for _ in range(steps):
        report = world.step(DT, lambda problem, x0: perp.solve(problem, method, tol=1e-9, x0=x0, max_iterations=sweeps))
        worst = max(worst, report.solution.residual)
    return world, worst


@pytest.mark.parametrize(("method", "steps", "largest"), [("block_gauss_seidel", 300, 1e-4), ("dantzig", 100, 1e-9)])
def test_a_figure_lies_down_where_mujoco_lays_it_to_millimetres(method: str, steps: int, largest: float) -> None:
    """MuJoCo's contacts and limits are soft, and sink in by millimetres under a load. (A thousand sweeps do not solve
    the impact to the end; impulses are of the order of 5 N s.)"""
    world, worst = fall(method, steps)
    assert world.mujoco_model.nv == 22
    assert finite(world)
    assert worst < largest
    assert np.abs(world.qvel).max() < 0.01
    theirs = mujoco.MjModel.from_xml_string(HUMANOID)
    theirs.opt.timestep, theirs.opt.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
    data = mujoco.MjData(theirs)
    for _ in range(steps):
        mujoco.mj_step(theirs, data)
    mujoco.mj_kinematics(theirs, data)
    assert np.abs(world.frame().position[:, 2] - data.xipos[1:, 2]).max() < 0.004


def test_without_friction_methods_agree_in_the_motion() -> None:
    """With friction they need not: chest and pelvis have redundant contacts, so that the load on each is open, and with
    it what friction can hold. Sweeps and pivots find different, exact answers to the first impact. (That impact is
    degenerate, and sweeps come nearer to the answer only as the inverse of their number.)"""
    reference, exact = fall("dantzig", 25, SMOOTH)
    assert exact < 1e-9
    for method in ("pgs", "block_gauss_seidel"):
        world, worst = fall(method, 25, SMOOTH, sweeps=5000)
        assert worst < 1e-6
        assert world.qpos == pytest.approx(reference.qpos, abs=1e-5)


def test_the_same_fall_has_the_same_bits() -> None:
    assert fall("pgs", 30)[0].fingerprint() == fall("pgs", 30)[0].fingerprint()


def test_energy_never_grows_while_it_falls() -> None:
    world = ArticulatedWorld.from_xml(HUMANOID)
    energy = [world.energy()]
    for _ in range(45):
        world.step(DT, lambda problem, x0: perp.solve(problem, "block_gauss_seidel", tol=1e-9, x0=x0))
        energy.append(world.energy())
    free_fall = 0.5 * world.mujoco_model.body_mass.sum() * 9.81**2 * DT**2  # half of this is what Euler's method loses
    assert np.diff(energy).max() < free_fall
    assert energy[-1] < energy[0]
