"""Cables: capsules in a row from one point to another, with six rows between neighbours.

THESIS 6.1 couples links by "a joint with 6 degrees of freedom": three rows hold the point where two links meet, rigid
but for a compliance, and three are springs with dampers against bending and twisting. Such a cable does not stretch.

**How much damping it takes.** A step of h pulls along the links as they lie at its beginning, so that waves across a
cable under the tension T are integrated explicitly. Links of mass m and length l carry them at c = sqrt(T l / m); those
with a wave number above q = 2 / (h c) would grow, up to the zigzag of the links themselves, and lengthen the cable. Let
theta be the slope of such a wave. Tension has the stiffness T a metre against it; a damper d in each joint, where links
bend by q l theta, has d q^2 l. With the damper implicit and strong, theta+ = theta (1 - h T / (d q^2 l)), which does
not grow if

    d q^2 l >= h T / 2,    that is    d >= h^3 T^2 / (8 m);

a spring k between links counts as h k of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from perp.gallery.options import About
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joints import Fixed
from perp.worlds.rigid3d.joints.joint import WORLD

STEEL = 7850.0
"""[kg/m^3]"""
STEEL_GREY = (0.35, 0.37, 0.40)

Links = Annotated[int, About("links", 2, 10_000)]
BendStiffness = Annotated[float, About("spring between two links [N m/rad]", 0.0, 1e12)]
BendDamping = Annotated[float, About("damper between two links [N m s/rad]", 0.0, 1e12)]
Compliance = Annotated[float, About("C of joints and contacts [(m/s)/(N s)]; the THESIS has 1e-10 to 1e-7", 0.0, 1.0)]


def least_damping(tension: float, link_mass: float, dt: float) -> float:
    """d + h k [N m s/rad] from which on no wave across a cable grows: see above."""
    return dt**3 * tension**2 / (8.0 * link_mass)


@dataclass(frozen=True, kw_only=True)
class CableMaterial:
    """What all links of a cable are made of."""

    link_mass: float
    """[kg]"""
    radius: float
    """[m]"""
    bend_stiffness: float
    """[N m/rad]"""
    bend_damping: float
    """[N m s/rad]"""
    compliance: float
    """Of the points where links meet [(m/s)/(N s)]."""
    friction: float
    group: int
    """Of its shapes (`Geom`); links of one group do not collide."""
    avoids: Sequence[int] = ()
    """Other groups that it passes through; they must avoid it, too."""


def add_cable(
    builder: RigidBuilder,
    points: NDArray[np.float64],
    material: CableMaterial,
    *,
    start: int = WORLD,
    end: int = WORLD,
    velocity: NDArray[np.float64] | None = None,
) -> list[int]:
    """Add a link between each point (m x 3) and the next; returns their numbers.

    The first point is held by the body `start`, the last one by `end`. At rest the cable has the form that it is made
    with. `velocity` has those of the points (m x 3); without it the cable stands still.
    """
    speeds = np.zeros_like(points) if velocity is None else velocity
    links = []
    for k, (tail, head) in enumerate(pairwise(points)):
        along = head - tail
        shape = Geom(
            form="capsule",
            size=(material.radius, float(np.linalg.norm(along)) / 2.0),
            mass=material.link_mass,
            friction=material.friction,
            color=STEEL_GREY,
            group=material.group,
            avoids=(material.group, *material.avoids),
        )
        spin = np.cross(along, speeds[k + 1] - speeds[k]) / np.dot(along, along)
        middle, speed = (tail + head) / 2.0, (speeds[k] + speeds[k + 1]) / 2.0
        links.append(builder.body([shape], middle, turn_z_to(along), velocity=speed, spin=spin))
    bodies = [start, *links, end]
    for body, following, point in zip(bodies[:-1], bodies[1:], points, strict=True):
        joint = Fixed(
            body,
            following,
            point,
            compliance=material.compliance,
            bend_stiffness=material.bend_stiffness,
            bend_damping=material.bend_damping,
        )
        builder.join(joint)
    return links


def turn_z_to(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """The unit quaternion (w, x, y, z) of the shortest turn that brings the z axis to this direction.

    Up to its length it is (1 + cos, sin axis), with the axis z x direction; half a turn about x if they are opposed.
    """
    x, y, z = direction / np.linalg.norm(direction)
    turn = np.array([1.0 + z, -y, x, 0.0])
    length = np.linalg.norm(turn)
    return turn / length if length > 1e-12 else np.array([0.0, 1.0, 0.0, 0.0])


def points_along(curve: NDArray[np.float64], links: int) -> NDArray[np.float64]:
    """links + 1 points at equal distances along a curve that is given by many points (m x 3)."""
    run = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    wanted = np.linspace(0.0, run[-1], links + 1)
    return np.column_stack([np.interp(wanted, run, curve[:, k]) for k in range(3)])
