"""Boxes and logs on one another: stacks, walls and towers (PGS-SM Fig. 2, THESIS 6.1.1, 6.1.2 and 6.1.7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.shared import Compliance, Friction, Length, Mass, Model, turned
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


# Boxes that fall and form separate stacks (THESIS 6.1.1).

STACK_PITCH = 2.5
"""From stack to stack, in edges of a box: islands that never meet."""
FALL_MARGIN = 0.04
"""[m]; a box that falls at 2.4 m/s comes so far in a step, and is stopped at the surface."""


@scene("THESIS 6.1.1", dt=1 / 60, method="block_principal", small={"stacks": 4, "height": 3})
def boxes(
    *,
    stacks: Annotated[int, About("number of stacks", 1, 20_000)] = 200,
    height: Annotated[int, About("boxes in a stack", 1, 1_000)] = 5,
    start: Annotated[Literal["falling", "standing"], About("above the ground, or in stacks at rest")] = "falling",
    drop: Annotated[float, About("falling: from the lowest boxes to the ground [m]", 0.0, 1e3)] = 0.1,
    gap: Annotated[float, About("falling: between the boxes of a stack [m]", 0.0, 1e3)] = 0.05,
    offset: Annotated[float, About("boxes are off the middle of a stack by at most so many edges", 0.0, 0.5)] = 0.05,
    edge: Length = 0.2,
    mass: Mass = 2.5,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-8,
    model: Model = "box",
    seed: int = 0,
) -> RigidWorld:
    """Boxes of 2.5 kg fall onto the ground and form separate stable stacks (THESIS "Boxes").

    Table 6.1: 12,000 constraints; a mass ratio is not printed, as all boxes are equal. The THESIS does not say how many
    boxes there are. 200 stacks of five rest on four contacts a face, 4,000 in all, or 12,000 rows; each stack is an
    island. Here they fall in columns, and each box is off the middle by a little, at random, but not turned: a turned
    box would have up to eight contacts. `start="standing"` begins with the stacks at rest, and 12,000 rows in the first
    step.
    """
    shift = offset * edge * np.random.default_rng(seed).uniform(-1.0, 1.0, (stacks, height, 2))
    level = np.arange(height)
    middle = edge * (level + 0.5) + (drop + gap * level if start == "falling" else 0.0)
    columns = math.ceil(math.sqrt(stacks))
    builder = RigidBuilder()
    builder.ground(half_edge=0.5 * STACK_PITCH * edge * (columns + 1), friction=friction)
    box = Geom(form="box", size=(0.5 * edge,) * 3, mass=mass, friction=friction)
    for stack in range(stacks):
        place = STACK_PITCH * edge * (np.array(divmod(stack, columns)) - 0.5 * (columns - 1))
        for k in level:
            builder.body([box], (*(place + shift[stack, k]), middle[k]))
    return builder.world(model=model, compliance=compliance, margin=FALL_MARGIN)


# A tower of logs that a heavy weight falls on (THESIS 6.1.2).

CONCRETE = 2500.0
"""Density of what falls [kg/m^3]."""
FOUR, TWO = (-0.25, -0.25 / 3.0, 0.25 / 3.0, 0.25), (-0.25, 0.25)
"""Where the logs of a layer lie, across their own direction, in lengths of a log."""
ALONG_X = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
ALONG_Y = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
"""Orientations that lay a capsule, which stands along z."""
TOWER_MARGIN = 0.02
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
    sentence of the rolling ball that hits the tower; `weight` is either, a block by default. It does not say how the
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
    return builder.world(model=model, compliance=compliance, margin=TOWER_MARGIN)


# A wall of bricks that a metal box hits (THESIS 6.1.7).

BRICK_LENGTH, BRICK_WIDTH, BRICK_HEIGHT = 0.215, 0.1, 0.065
"""Of a brick [m]."""
BOX_DISTANCE = 1.0
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
    pitch = BRICK_LENGTH + gap
    builder.ground(half_edge=columns * pitch, friction=friction)
    size = (0.5 * BRICK_LENGTH, 0.5 * BRICK_WIDTH, 0.5 * BRICK_HEIGHT)
    brick = Geom(form="box", size=size, mass=mass, friction=friction, color=CLAY)
    for course in range(courses):
        count = columns - course % 2
        z = (BRICK_HEIGHT + gap) * (course + 1) - 0.5 * BRICK_HEIGHT
        for k in range(count):
            builder.body([brick], (pitch * (k - 0.5 * (count - 1)), 0.0, z))
    metal = Geom(form="box", size=(0.5 * box_edge,) * 3, mass=box_mass, friction=friction, color=METAL)
    start = (0.0, -BOX_DISTANCE, 0.3 * courses * BRICK_HEIGHT + 0.5 * box_edge)
    builder.body([metal], start, velocity=(0.0, speed, 0.0), name="metal box")
    return builder.world(model=model, compliance=compliance, margin=SHARE_OF_GAP * gap)


# A wall of boxes that lie askew, so that friction has to hold it.
#
# In a wall with level beds normal forces alone can carry the weight. Here the bond is turned by beta: boxes with edges
# a along u = (cos beta, sin beta) and b along v = (-sin beta, cos beta) lie end to end in layers along u, and each
# layer is shifted against the one below by s, so that corners do not meet. A box has its neighbours at
#
#     e1 = a u            (up and to the right, the next one in its layer)
#     e2 = b v + s u      (up and to the left, in the layer above)
#
# and e1 - e2 is level if a sin(beta) = b cos(beta) + s sin(beta), that is tan(beta) = b / (a - s). Then the boxes form
# level courses as well, of period P = (a - s) cos(beta) + b sin(beta), and each of them sits in the notch between two
# of the course below, on faces that are as steep as beta and pi/2 - beta.
#
# The lowest course sits in the gaps of a row of boxes that stand on the ground. If a corner hangs in a gap to the depth
# h, its two faces meet the edges of the gap h tan(beta) to the left and h / tan(beta) to the right; the gap is as wide
# as both together. Every box is a wedge that drives those below apart; nothing but friction keeps the row on the
# ground.

WALL_EDGE = 0.5
"""a and b [m]."""
WALL_SHIFT = WALL_EDGE / 5.0
"""s [m]."""
DEPTH = 0.6
"""Across the wall [m]."""
WALL_HUNG = 0.3 * WALL_EDGE
"""h [m]."""
BASE_HEIGHT = 0.6 * WALL_EDGE
"""Of the boxes on the ground [m]."""
WALL_DENSITY = 10.0
"""[kg/m^3]"""


@scene("PGS-SM Fig. 2 (h)", dt=0.01, method="nncg", iterations=200, small={"base": 3, "courses": 2})
def wall_of_boxes(
    base: Annotated[int, About("boxes in the lowest course", 1, 200)] = 15,
    courses: Annotated[int, About("courses, each a box shorter than the one below", 1, 200)] = 8,
    *,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """A large wall of boxes, stacked so that nothing but friction holds it.

    A bond that is turned by 51 degrees: each box sits in the notch of two others and drives them apart, down to a row
    on the ground that would slide away. Of the arrangement the paper says no more than that it induces friction; this
    one is ours: 92 boxes of 0.5 m in eight courses, on 16 flat ones.
    """
    if courses > base:
        raise ValueError(f"courses is {courses}; at most {base}, as each is a box shorter than the one below")
    beta = np.arctan2(WALL_EDGE, WALL_EDGE - WALL_SHIFT)
    u = np.array([np.cos(beta), 0.0, np.sin(beta)])
    v = np.array([-np.sin(beta), 0.0, np.cos(beta)])
    up_right = WALL_EDGE * u  # e1
    along = up_right - (WALL_EDGE * v + WALL_SHIFT * u)  # e1 - e2
    period = along[0]  # P
    to_left, to_right = WALL_HUNG * np.tan(beta), WALL_HUNG / np.tan(beta)
    builder = RigidBuilder()
    builder.ground(friction=friction)
    width = period - to_left - to_right
    first = -period * base / 2.0  # of the boxes on the ground, the middle of the leftmost
    for k in range(base + 1):
        _add_box(builder, (width, DEPTH, BASE_HEIGHT), (first + k * period, 0.0, BASE_HEIGHT / 2.0), 0.0, friction)
    corner = np.array([first + width / 2.0 + to_left, 0.0, BASE_HEIGHT - WALL_HUNG])
    lowest = corner + WALL_EDGE / 2.0 * (u + v)
    for course in range(courses):  # box k of a course sits on k and k + 1 of the one below
        for k in range(base - course):
            _add_box(builder, (WALL_EDGE, DEPTH, WALL_EDGE), lowest + course * up_right + k * along, beta, friction)
    return builder.world(model=model)


def _add_box(
    builder: RigidBuilder,
    edges: tuple[float, float, float],
    place: Sequence[float] | NDArray[np.float64],
    angle: float,
    friction: float,
) -> None:
    half = tuple(edge / 2.0 for edge in edges)
    box = Geom(form="box", size=half, mass=WALL_DENSITY * float(np.prod(edges)), friction=friction)
    builder.body([box], place, turned(angle))
