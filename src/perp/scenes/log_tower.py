"""A tower of logs that a heavy weight falls on (THESIS 6.1.2)."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Compliance, Friction, Length, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

CONCRETE = 2500.0
"""Density of what falls [kg/m^3]."""
FOUR, TWO = (-0.25, -0.25 / 3.0, 0.25 / 3.0, 0.25), (-0.25, 0.25)
"""Where the logs of a layer lie, across their own direction, in lengths of a log."""
ALONG_X = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
ALONG_Y = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
"""Orientations that lay a capsule, which stands along z."""
MARGIN = 0.02
"""[m]"""
WOOD, STONE = (0.55, 0.37, 0.21), (0.62, 0.62, 0.62)


@scene("THESIS 6.1.2", dt=1 / 60, method="nncg", iterations=400, small={"logs": 12})
def tower(
    *,
    logs: Annotated[int, About("number of logs", 1, 10_000)] = 160,
    weight: Annotated[Literal["block", "ball"], About("what falls; the THESIS says both")] = "block",
    weight_mass: Mass = 2500.0,
    drop: Annotated[float, About("from the weight to the tower [m]", 0.0, 1e3)] = 2.0,
    offset: Annotated[float, About("of the weight from the middle of the tower [m]", -1e3, 1e3)] = 0.9,
    mass: Mass = 50.0,
    length: Length = 3.0,
    radius: Length = 0.08,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-8,
    model: Model = "box",
) -> RigidWorld:
    """A tower of 160 logs of 50 kg collapses under a weight of 2,500 kg (THESIS "Tower").

    Table 6.1: 1,300 constraints, mass ratio 50:1. The THESIS speaks of a block that falls from the top, and in the next
    sentence of the rolling ball that hits the tower; `weight` is either, a block unless told. It does not say how the
    logs lie. Ours are round, in crossed layers of four and two in turn, 53 layers and 8.5 m high; crossed logs touch in
    one point, 424 contacts in all. The weight falls 2 m onto one side of the topmost layer.

    The tower stands by itself, but every layer is a roller: exact methods keep it where it is, while with 50 iterations
    of `nncg` a step it rolls apart before anything hits it.
    """
    builder = RigidBuilder()
    builder.ground(half_edge=3.0 * length, friction=friction)
    log = Geom(form="capsule", size=(radius, 0.5 * length - radius), mass=mass, friction=friction, color=WOOD)
    layer, left = 0, logs
    while left > 0:
        along_x = layer % 2 == 0
        places = (FOUR if along_x else TWO)[:left]
        for place in places:
            aside, z = place * length, (2 * layer + 1) * radius
            builder.body([log], (0.0, aside, z) if along_x else (aside, 0.0, z), ALONG_X if along_x else ALONG_Y)
        layer, left = layer + 1, left - len(places)
    volume = weight_mass / CONCRETE
    half = 0.5 * math.cbrt(volume if weight == "block" else 6.0 * volume / math.pi)
    form, size = ("box", (half,) * 3) if weight == "block" else ("sphere", (half,))
    falling = Geom(form=form, size=size, mass=weight_mass, friction=friction, color=STONE)
    builder.body([falling], (offset, 0.0, 2.0 * radius * layer + drop + half), name="weight")
    return builder.world(model=model, compliance=compliance, margin=MARGIN)
