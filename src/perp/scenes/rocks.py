"""A pile of rocks that a light shovel pushes (THESIS 6.1.6)."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from perp.errors import InvalidProblem
from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Compliance, Friction, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joints import Hinge
from perp.worlds.rigid3d.rigid_world import RigidWorld

GRANITE = 2600.0
"""[kg/m^3]"""
CORNERS = 14
"""Points whose convex hull is a rock."""
LONGEST = 1.4
"""The most by which one axis of a rock is longer than another."""
ARM = 4.0
"""Length of the shovel's handle [m]."""
BLADE = (0.03, 1.2, 0.35)
"""Half thickness, half width and half height [m]."""
CLEARANCE = 0.05
"""Below the blade [m]."""
MARGIN = 0.02
"""[m]"""
WAIT = 2.0
"""How long the rocks may fall and settle before the shovel comes to where they fell [s]."""
STEEL = (0.80, 0.62, 0.15)
LYING_ALONG_Y = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)


@scene("THESIS 6.1.6", dt=1 / 60, method="pgs_sm", iterations=10, small={"count": 8})
def rocks(
    *,
    count: Annotated[int, About("number of rocks", 2, 10_000)] = 110,
    lightest: Mass = 80.0,
    heaviest: Mass = 250.0,
    shovel_mass: Mass = 1.0,
    speed: Annotated[float, About("of the shovel [m/s]", 0.0, 1e3)] = 1.0,
    max_force: Annotated[float, About("with which the shovel can push [N]", 0.0)] = 1e5,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-8,
    model: Model = "box",
    seed: int = 0,
) -> RigidWorld:
    """A pile of rocks of 80 to 250 kg falls to the ground and is pushed by a shovel of 1 kg (THESIS "Rocks").

    Table 6.1: 1,800 constraints, mass ratio 250:1. The THESIS says neither how many rocks there are nor how the shovel
    is driven. Ours are convex hulls of random points on ellipsoids, with masses drawn evenly from 80 to 250 kg (one has
    the least, one the greatest mass), dropped layer by layer. The shovel is one rigid body: a blade, which collides,
    and a handle of 4 m, which does not. The end of the handle turns on a hinge with a motor, so that the blade sweeps
    over the ground at `speed`, with at most `max_force`; it comes to where the rocks fell two seconds after the start.
    """
    if lightest > heaviest:
        raise InvalidProblem(f"lightest is {lightest}, more than heaviest, {heaviest}")
    draw = np.random.default_rng(seed)
    mass = draw.uniform(lightest, heaviest, count)
    mass[[0, -1]] = lightest, heaviest
    corners = [rock_vertices(kilograms / GRANITE, draw) for kilograms in mass]
    pitch = 2.0 * max(float(np.linalg.norm(points, axis=1).max()) for points in corners)  # none touch, however turned
    columns = max(1, round(math.cbrt(count)))
    builder = RigidBuilder()
    builder.ground(half_edge=0.5 * columns * pitch + ARM, friction=friction)
    for k in range(count):
        level, place = divmod(k, columns**2)
        x, y = pitch * (np.array(divmod(place, columns)) - 0.5 * (columns - 1))
        rock = Geom(form="mesh", vertices=corners[k], mass=mass[k], friction=friction)
        builder.body([rock], (x, y, pitch * (level + 0.5)))
    _add_shovel(builder, 0.5 * columns * pitch + WAIT * speed, shovel_mass, speed, max_force, friction)
    return builder.world(model=model, compliance=compliance, margin=MARGIN)


def rock_vertices(volume: float, draw: np.random.Generator) -> NDArray[np.float64]:
    """Corners of a convex polyhedron of that volume [m^3], about the middle of the ellipsoid that they lie on."""
    direction = draw.standard_normal((CORNERS, 3))
    on_sphere = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    corners: NDArray[np.float64] = on_sphere * draw.uniform(1.0, LONGEST, 3)
    return corners * math.cbrt(volume / ConvexHull(corners).volume)


def _add_shovel(
    builder: RigidBuilder, distance: float, mass: float, speed: float, max_force: float, friction: float
) -> None:
    """At `distance` from the middle of the pile; half of the mass is the blade, half the handle."""
    height = BLADE[2] + CLEARANCE
    blade = Geom(form="box", size=BLADE, mass=0.5 * mass, friction=friction, color=STEEL)
    handle = Geom(
        form="capsule",
        size=(BLADE[0], 0.5 * ARM),
        position=(0.0, -0.5 * ARM, 0.0),
        orientation=LYING_ALONG_Y,
        mass=0.5 * mass,
        color=STEEL,
        collides=False,
    )
    shovel = builder.body([blade, handle], (-distance, 0.0, height), name="shovel")
    anchor, down = (-distance, -ARM, height), (0.0, 0.0, -1.0)
    builder.join(Hinge(-1, shovel, anchor, down, motor_speed=speed / ARM, max_torque=max_force * ARM))
