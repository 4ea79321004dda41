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
from perp.scenes.catalogue import scene
from perp.scenes.shared import Friction, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joint import WORLD
from perp.worlds.rigid3d.joints import Bend, Fixed, Universal
from perp.worlds.rigid3d.rigid_world import RigidWorld

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


# A heavy ball on a light plate that hangs by cables, spinning (THESIS 6.1.3).

CABLE_LENGTH = 3.0
"""Of a cable [m]."""
CABLE_RADIUS = 0.01
"""[m]: 5 cm of it in steel weigh the 0.1 kg of a link."""
RIM, SEAT, BAR = 1.2, 0.47, 0.07
"""Radius of the plate, of the ring of bars that the ball lies on, and of a bar, in radii of the ball."""
PLATE_THICKNESS = 0.02
"""Of the plate [m]."""
DISC_SHARE = 0.8
"""Of the plate's mass; the bars have the rest."""
WOOD = (0.72, 0.53, 0.32)
CABLES, PLATE = 1, 2
"""Groups of shapes: cables end in the plate and pass through it."""


@scene(
    "THESIS 6.1.3",
    dt=1 / 120,
    method="cone_newton",
    iterations=60,
    small={"cables": 4, "links": 8, "ball_mass": 1000.0},
)
def spinner(
    *,
    cables: Annotated[int, About("from a ring overhead to the rim of the plate", 3, 100)] = 8,
    links: Links = 59,
    link_mass: Mass = 0.1,
    plate_mass: Mass = 10.0,
    ball_mass: Mass = 2500.0,
    spin: Annotated[float, About("of plate and ball at the beginning [rad/s]", -100.0, 100.0)] = 5.0,
    bend_stiffness: BendStiffness = 500.0,
    bend_damping: BendDamping = 5.0,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-9,
    model: Model = "box",
) -> RigidWorld:
    """A plate of 10 kg and a ball of 2,500 kg hang by eight inextensible cables, and spin (THESIS "Spinner").

    THESIS Table 6.1: at most 2,920 constraints, mass ratio 25,000:1. Here 59 links a cable and six rows between
    neighbours make 2,880, and contacts the rest. The text says no more than the first sentence; ours are the cables of
    3 m, upright, and the ball of steel, which lies on a ring of bars on the plate and would roll from it otherwise.
    Both begin to spin: the cables twist about one another, lift the ball, close in on it, and unwind. Friction on the
    bars takes the ball along.

    Bending is damped as much as the tension of 3 kN asks for (`perp.scenes.cables`). `cone_newton` solves nearly
    every step to 1e-8; sweeps end with residuals of about 1 and lose a tenth of the energy within 20 steps.
    """
    radius = float((0.75 * ball_mass / (np.pi * STEEL)) ** (1 / 3))
    material = CableMaterial(
        link_mass=link_mass,
        radius=CABLE_RADIUS,
        bend_stiffness=bend_stiffness,
        bend_damping=bend_damping,
        compliance=compliance,
        friction=friction,
        group=CABLES,
        avoids=(PLATE,),
    )
    turning = np.array([0.0, 0.0, spin])
    builder = RigidBuilder()
    plate = builder.body(_plate(radius, cables, plate_mass, friction), np.zeros(3), spin=turning, name="plate")
    # the ball rests where the distance of its middle from a bar is the sum of both radii
    height = PLATE_THICKNESS / 2.0 + radius * (BAR + np.sqrt((1.0 + BAR) ** 2 - SEAT**2))
    ball = Geom(form="sphere", size=(radius,), mass=ball_mass, friction=friction, color=(0.55, 0.57, 0.6))
    builder.body([ball], (0.0, 0.0, height), spin=turning, name="ball")
    share = np.linspace(0.0, 1.0, links + 1)[:, None]  # of the way down
    for angle in 2.0 * np.pi * np.arange(cables) / cables:
        foot = RIM * radius * np.array([np.cos(angle), np.sin(angle), 0.0])
        points = foot + (1.0 - share) * np.array([0.0, 0.0, CABLE_LENGTH])
        add_cable(builder, points, material, end=plate, velocity=share * np.cross(turning, foot))
    return builder.world(model=model, compliance=compliance)


def _plate(radius: float, bars: int, mass: float, friction: float) -> list[Geom]:
    """A disc, and bars on it that form a polygon around its middle."""
    disc = Geom(
        form="cylinder",
        size=(RIM * radius, PLATE_THICKNESS / 2.0),
        mass=DISC_SHARE * mass,
        friction=friction,
        color=WOOD,
        group=PLATE,
        avoids=(CABLES,),
    )
    shapes = [disc]
    for angle in 2.0 * np.pi * (np.arange(bars) + 0.5) / bars:
        outwards = np.array([np.cos(angle), np.sin(angle), 0.0])
        bar = Geom(
            form="capsule",
            size=(BAR * radius, SEAT * radius * np.tan(np.pi / bars)),
            position=SEAT * radius * outwards + np.array([0.0, 0.0, PLATE_THICKNESS / 2.0 + BAR * radius]),
            orientation=turn_z_to(np.array([-outwards[1], outwards[0], 0.0])),
            mass=(1.0 - DISC_SHARE) * mass / bars,
            friction=friction,
            color=WOOD,
            group=PLATE,
            avoids=(CABLES,),
        )
        shapes.append(bar)
    return shapes


# A chain that a heavy box winds around a rod (THESIS 6.1.4).

LINK_PITCH, LINK_WIDTH, LINK_THICKNESS = 0.05, 0.07, 0.024
"""Of a link, from joint to joint, along the rod and across both [m]."""
ROD_RADIUS, ROD_LENGTH = 0.6, 2.0
"""[m]"""
TILT = 0.04
"""Of the chain against the plane across the rod [rad]: its second turn is not to lie straight on the first one."""
CLEARANCE = 1e-3
"""Between rod and chain at the beginning [m]."""
TWIST_STIFFNESS, TWIST_DAMPING = 2000.0, 10.0
"""Of a joint [N m/rad], [N m s/rad]."""
X, Y, Z = np.eye(3)


@scene("THESIS 6.1.4", dt=1 / 240, method="pgs_sm", iterations=20, small={"links": 20, "speed": 6.0})
def chain(
    *,
    links: Annotated[int, About("so many that the box hangs clear of the rod", 15, 10_000)] = 100,
    link_mass: Mass = 0.25,
    box_mass: Mass = 500.0,
    speed: Annotated[float, About("of the box at the beginning, downwards [m/s]", -1e3, 1e3)] = 18.0,
    bend_damping: BendDamping = 50.0,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-9,
    model: Model = "box",
) -> RigidWorld:
    """A chain of 100 links of 0.25 kg with a box of 500 kg at its end wraps around a rod (THESIS "Chain").

    THESIS Table 6.1: at most 1,480 constraints, mass ratio 2,000:1; ours has about 1,300. The text says no more than
    that many friction variables slide once the chain is wrapped fully around. Here the rod is level, 1.2 m across; the
    chain begins on top of it, level, too, and the box at its other end is thrown downwards with `speed`: it flies
    around the rod and winds the chain up in a little more than one turn, in some 280 steps, until it hits the rod.

    Neighbours have the four rows of a universal joint, of which the one against twist gives way a little: a chain that
    is wound aslant twists, while both bars of each link are pressed onto the rod. Two more rows damp bending (`Bend`;
    none for `bend_damping` = 0) as much as a tension of 36 kN asks for (`perp.scenes.cables`).

    What makes it hard is friction all around the rod, where each contact is pressed by what those before it have left
    over. No method that we tried solves those steps to 1e-6: 20 iterations of `pgs_sm` leave some 0.05 rad/s (and 1e-5
    J), and 5 when the box hits the rod; 100 of `cone_newton` leave 0.02 in five times the time; sweeps, `admm` and
    `block_principal` leave 1 and more.
    """
    builder = RigidBuilder()
    rod = Geom(
        form="cylinder",
        size=(ROD_RADIUS, ROD_LENGTH / 2.0),
        orientation=turn_z_to(Y),
        friction=friction,
        color=(0.5, 0.5, 0.55),
    )
    builder.fixed([rod])
    along = np.cos(TILT) * X + np.sin(TILT) * Y
    across = np.cross(Z, along)
    turn = np.array([np.cos(TILT / 2.0), 0.0, 0.0, np.sin(TILT / 2.0)])
    start = np.array([0.0, -ROD_LENGTH / 4.0, ROD_RADIUS + LINK_THICKNESS / 2.0 + CLEARANCE])
    edge = (box_mass / STEEL) ** (1 / 3)
    # everything turns about the first joint, so that the middle of the box has the speed asked for
    rate = speed / (links * LINK_PITCH + edge / 2.0)

    def place(shapes: list[Geom], distance: float, name: str | None = None) -> int:
        middle = start + distance * along
        return builder.body(shapes, middle, turn, velocity=-rate * distance * Z, spin=rate * across, name=name)

    bodies = [place(_link(link_mass, friction), (k + 0.5) * LINK_PITCH) for k in range(links)]
    load = Geom(form="box", size=(edge / 2.0,) * 3, mass=box_mass, friction=friction, color=(0.75, 0.30, 0.25))
    bodies.append(place([load], links * LINK_PITCH + edge / 2.0, "box"))
    for k, (a, b) in enumerate(zip([WORLD, *bodies[:-1]], bodies, strict=True)):
        point = start + k * LINK_PITCH * along
        twist = {"bend_stiffness": TWIST_STIFFNESS, "bend_damping": TWIST_DAMPING}
        builder.join(Universal(a, b, point, across, Z, compliance=compliance, **twist))
        if bend_damping > 0.0:
            builder.join(Bend(a, b, point, along, damping=bend_damping))
        if a != WORLD:
            builder.without_contact(a, b)
    return builder.world(model=model, compliance=compliance)


def _link(mass: float, friction: float) -> list[Geom]:
    """Two bars along x, side by side."""
    side: NDArray[np.float64] = (LINK_WIDTH - LINK_THICKNESS) / 2.0 * Y
    return [
        Geom(
            form="capsule",
            size=(LINK_THICKNESS / 2.0, (LINK_PITCH - LINK_THICKNESS) / 2.0),
            position=place,
            orientation=turn_z_to(X),
            mass=mass / 2.0,
            friction=friction,
            color=STEEL_GREY,
        )
        for place in (side, -side)
    ]
