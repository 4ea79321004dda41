"""A heavy ball on a light plate that hangs by cables, spinning (THESIS 6.1.3)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from perp.gallery.options import About
from perp.scenes.cables import STEEL, BendDamping, BendStiffness, CableMaterial, Compliance, Links, add_cable, turn_z_to
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Friction, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

LENGTH = 3.0
"""Of a cable [m]."""
CABLE_RADIUS = 0.01
"""[m]: 5 cm of it in steel weigh the 0.1 kg of a link."""
RIM, SEAT, BAR = 1.2, 0.47, 0.07
"""Radius of the plate, of the ring of bars that the ball lies on, and of a bar, in radii of the ball."""
THICKNESS = 0.02
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
    height = THICKNESS / 2.0 + radius * (BAR + np.sqrt((1.0 + BAR) ** 2 - SEAT**2))
    ball = Geom(form="sphere", size=(radius,), mass=ball_mass, friction=friction, color=(0.55, 0.57, 0.6))
    builder.body([ball], (0.0, 0.0, height), spin=turning, name="ball")
    share = np.linspace(0.0, 1.0, links + 1)[:, None]  # of the way down
    for angle in 2.0 * np.pi * np.arange(cables) / cables:
        foot = RIM * radius * np.array([np.cos(angle), np.sin(angle), 0.0])
        points = foot + (1.0 - share) * np.array([0.0, 0.0, LENGTH])
        add_cable(builder, points, material, end=plate, velocity=share * np.cross(turning, foot))
    return builder.world(model=model, compliance=compliance)


def _plate(radius: float, bars: int, mass: float, friction: float) -> list[Geom]:
    """A disc, and bars on it that form a polygon around its middle."""
    disc = Geom(
        form="cylinder",
        size=(RIM * radius, THICKNESS / 2.0),
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
            position=SEAT * radius * outwards + np.array([0.0, 0.0, THICKNESS / 2.0 + BAR * radius]),
            orientation=turn_z_to(np.array([-outwards[1], outwards[0], 0.0])),
            mass=(1.0 - DISC_SHARE) * mass / bars,
            friction=friction,
            color=WOOD,
            group=PLATE,
            avoids=(CABLES,),
        )
        shapes.append(bar)
    return shapes
