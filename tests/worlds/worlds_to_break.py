"""Small worlds of every kind, and two ways to step them."""

from __future__ import annotations

import pytest

import perp
from perp.worlds import ArticulatedWorld
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane

H = 1 / 60
GROUND = HalfPlane((0.0, 0.0), (0.0, 1.0))


def sweeps(problem, x0):
    return perp.solve(problem, "block_gauss_seidel", x0=x0, max_iterations=100)


def exactly(problem, x0):
    return perp.solve(problem, "block_principal", x0=x0, tol=1e-11)


def discs(**options):
    return DiscWorld(Discs([[0.0, 1.0], [0.0, 3.0], [0.3, 4.95]], 1.0), [GROUND], **options)


def rigid():
    pytest.importorskip("mujoco")
    from perp.worlds import rigid3d

    return rigid3d


def boxes(masses=(1.0, 1.0, 1.0), friction=0.5, **options):
    made = rigid()
    builder = made.RigidBuilder()
    builder.ground(friction=friction)
    for level, mass in enumerate(masses):
        shape = made.Geom(form="box", size=(0.5, 0.5, 0.5), mass=mass, friction=friction)
        builder.body([shape], (0.0, 0.0, 0.5 + level))
    return builder.world(**options)


def swing():
    made = rigid()
    builder = made.RigidBuilder()
    shape = made.Geom(form="box", size=(0.5, 0.1, 0.1), mass=1.0)
    body = builder.body([shape], (0.5, 0.0, 3.0), spin=(0.0, 9.0, 0.0), velocity=(0.0, 0.0, -4.5))
    builder.join(made.Hinge(-1, body, (0.0, 0.0, 3.0), (0.0, 1.0, 0.0), limits=(-100.0, 100.0)))
    return builder.world()


TWO_RODS = """<mujoco><worldbody><body pos="0 0 .5"><joint type="hinge" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size=".05" mass="2"/><body pos="1 0 0">
<joint type="hinge" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size=".05" mass="2"/></body></body></worldbody></mujoco>"""


def rods():
    rigid()
    return ArticulatedWorld.from_xml(TWO_RODS)


WORLDS = {"discs": discs, "boxes": boxes, "swing": swing, "rods": rods}
