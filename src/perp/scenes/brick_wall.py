"""A wall of bricks that a metal box hits (THESIS 6.1.7)."""

from __future__ import annotations

from typing import Annotated

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Compliance, Friction, Length, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

LENGTH, WIDTH, HEIGHT = 0.215, 0.1, 0.065
"""Of a brick [m]."""
DISTANCE = 1.0
"""From the box to the wall [m]: time for the bricks to come to rest upon each other."""
SHARE_OF_GAP = 0.3
"""Contacts are known from this share of the gap on, so that there is none at the beginning."""
CLAY, METAL = (0.66, 0.30, 0.20), (0.52, 0.56, 0.60)


@scene("THESIS 6.1.7", dt=1 / 120, method="nncg", iterations=100, small={"columns": 3, "courses": 3})
def wall(
    *,
    columns: Annotated[int, About("bricks in the lowest course", 2, 1_000)] = 7,
    courses: Annotated[int, About("layers of bricks", 1, 1_000)] = 6,
    gap: Annotated[float, About("between bricks at the beginning [m]", 1e-6, 0.05)] = 0.003,
    speed: Annotated[float, About("of the metal box [m/s]", 0.0, 1e3)] = 10.0,
    box_mass: Mass = 10.0,
    box_edge: Length = 0.25,
    mass: Mass = 2.5,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-8,
    model: Model = "box",
) -> RigidWorld:
    """A wall of bricks of 2.5 kg, of which a metal box of 10 kg knocks out a part (THESIS "Wall").

    Table 6.1: 1,006 constraints, mass ratio 4:1. The THESIS prints neither the number of bricks nor the speed of the
    box. Ours is a running bond of six courses, seven and six bricks in turn; a brick rests on two others, with four
    contacts each, and the wall has 804 rows when it rests, more when it falls. The box is hollow, 0.25 m wide, and hits
    the middle at 10 m/s. Bricks start a small gap apart, also from the ground.
    """
    builder = RigidBuilder()
    pitch = LENGTH + gap
    builder.ground(half_edge=columns * pitch, friction=friction)
    size = (0.5 * LENGTH, 0.5 * WIDTH, 0.5 * HEIGHT)
    brick = Geom(form="box", size=size, mass=mass, friction=friction, color=CLAY)
    for course in range(courses):
        count = columns - course % 2
        z = (HEIGHT + gap) * (course + 1) - 0.5 * HEIGHT
        for k in range(count):
            builder.body([brick], (pitch * (k - 0.5 * (count - 1)), 0.0, z))
    metal = Geom(form="box", size=(0.5 * box_edge,) * 3, mass=box_mass, friction=friction, color=METAL)
    start = (0.0, -DISTANCE, 0.3 * courses * HEIGHT + 0.5 * box_edge)
    builder.body([metal], start, velocity=(0.0, speed, 0.0), name="metal box")
    return builder.world(model=model, compliance=compliance, margin=SHARE_OF_GAP * gap)
