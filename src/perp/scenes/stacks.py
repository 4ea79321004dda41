"""Boxes on boxes: a stack of equal ones, a heavy one on light ones, and boxes on a slope."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Friction, Model
from perp.scenes.plane_turns import turned
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

EDGE = 0.5
"""Of a box [m]."""
MASS = 1.0
"""Of a box [kg]."""
SPACE = 0.1
"""Between boxes side by side, which shall not touch [m]."""
SLAB = 0.1
"""Thickness of the slope, as it is drawn [m]."""
HEAVY_COLOR = (0.75, 0.30, 0.25)
SLAB_COLOR = (0.60, 0.62, 0.66)

Wide = Annotated[int, About("boxes along each side of a layer", 1, 100)]
High = Annotated[int, About("layers", 1, 1000)]


@scene("PGS-SM Fig. 2 (c)", dt=0.01, method="pgs_sm", iterations=3, small={"high": 4})
def stack(wide: Wide = 2, high: High = 10, *, friction: Friction = 0.5, model: Model = "box") -> RigidWorld:
    """A large stack of boxes of equal mass.

    Layers of wide x wide boxes of 0.5 m, every other one shifted by a quarter of a box along both sides, so that a box
    rests on up to four others and loads spread. The paper does not say how many boxes: ours are ten layers.
    """
    builder = RigidBuilder()
    builder.ground(friction=friction)
    places = (EDGE + SPACE) * (np.arange(wide) - (wide - 1) / 2.0)
    for layer in range(high):
        shift = EDGE / 8.0 * (1 if layer % 2 else -1)
        for x in places:
            for y in places:
                builder.body([_cube(EDGE, MASS, friction)], (x + shift, y + shift, EDGE * (layer + 0.5)))
    return builder.world(model=model)


@scene("PGS-SM Fig. 2 (d)", dt=0.01, method="cone_newton", iterations=50, small={"wide": 2, "high": 1})
def heavy_on_light(
    wide: Wide = 2,
    high: High = 2,
    *,
    mass_ratio: Annotated[float, About("mass of the heavy box over that of a light one", 1e-6, 1e6)] = 100.0,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """A heavy box rests on lighter, smaller boxes.

    wide x wide columns of light boxes, `high` layers, under one box that covers them. The ratio of the masses is ours:
    the paper says only that it is large. Sweeps that end too early let the heavy box sink into the light ones.
    """
    builder = RigidBuilder()
    builder.ground(friction=friction)
    places = (EDGE + SPACE) * (np.arange(wide) - (wide - 1) / 2.0)
    for layer in range(high):
        for x in places:
            for y in places:
                builder.body([_cube(EDGE, MASS, friction)], (x, y, EDGE * (layer + 0.5)))
    covered = wide * (EDGE + SPACE) + SPACE
    heavy = _cube(covered, mass_ratio * MASS, friction, HEAVY_COLOR)
    builder.body([heavy], (0.0, 0.0, EDGE * high + covered / 2.0), name="heavy")
    return builder.world(model=model)


@scene("PGS-SM Fig. 2 (e)", dt=0.01, method="nncg", iterations=100, small={"rows": 2, "columns": 1})
def incline(
    rows: Annotated[int, About("stacks down the slope", 1, 100)] = 3,
    columns: Annotated[int, About("stacks across the slope", 1, 100)] = 3,
    high: High = 2,
    *,
    angle: Annotated[float, About("of the slope [degrees]", 0.0, 89.0)] = 20.0,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """Boxes on an inclined surface, held by static friction.

    They stay where they are as long as tan(angle) < friction, whatever their masses, and stacks of `high` boxes as
    long as they do not tip over: the vertical through the middle of a stack must meet its base, high tan(angle) < 1.
    Angle and arrangement are ours: nine stacks of two boxes at 20 degrees, friction 0.5 (26.6 degrees).
    """
    builder = RigidBuilder()
    tilt = np.radians(angle)
    turn = turned(-tilt)  # x runs down the slope
    down = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    out = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    reach = EDGE * np.array([rows + 0.5, columns + 0.5])
    # the surface that they touch has no end; the slab is what one sees of it
    slab = Geom(
        form="box",
        size=(*reach, SLAB / 2.0),
        position=-SLAB / 2.0 * out,
        orientation=turn,
        color=SLAB_COLOR,
        collides=False,
    )
    builder.fixed([Geom(form="plane", size=reach, orientation=turn, friction=friction), slab])
    for row in range(rows):
        for column in range(columns):
            for layer in range(high):
                x = 2.0 * EDGE * (row - (rows - 1) / 2.0)
                y = 2.0 * EDGE * (column - (columns - 1) / 2.0)
                place = x * down + y * np.array([0.0, 1.0, 0.0]) + EDGE * (layer + 0.5) * out
                builder.body([_cube(EDGE, MASS, friction)], place, turn)
    return builder.world(model=model)


def _cube(edge: float, mass: float, friction: float, color: tuple[float, float, float] | None = None) -> Geom:
    return Geom(form="box", size=(edge / 2.0,) * 3, mass=mass, friction=friction, color=color)
