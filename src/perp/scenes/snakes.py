"""Snakes: boxes in a row, a hinge with limits between neighbours, standing on the ground as an arch.

The axes of the n - 1 hinges are horizontal. Link k, k = 0..n-1, lies along the chord of direction

    theta_k = arc / 2 - k bend,    bend = arc / (n - 1),

so that the chain turns by `arc` from its first link to its last. Hinges sit in the middle of the faces, at the ends of
the chords, all of one length. Two boxes of height c that bend by phi about that point keep clear of one another if each
ends c/2 tan(phi/2) before it; phi is the largest bend that the limits allow.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Friction, Model
from perp.scenes.plane_turns import turned
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joints import Hinge
from perp.worlds.rigid3d.rigid_world import RigidWorld

CHORD = 0.5
"""From hinge to hinge [m]."""
WIDTH, HEIGHT = 0.6, 0.25
"""Of a link, across the arch and across its chord [m]."""
LINK_MASS = 1.0
"""[kg]"""
LOAD_EDGE = 0.8
"""[m]"""
LOAD_COLOR = (0.75, 0.30, 0.25)

Side = Annotated[int, About("links on each side of the one at the top", 1, 1000)]
Arc = Annotated[float, About("by how much the chain turns from its first link to its last [degrees]", 1.0, 180.0)]
Play = Annotated[
    float | None,
    About("how far a hinge turns either way from where it starts [degrees]; None: no limits", 0.0, 90.0),
]
MassRatio = Annotated[float, About("mass of the box over that of a link", 1e-6, 1e6)]


@scene("PGS-SM Fig. 2 (a)", dt=0.01, method="cone_newton", iterations=50, small={"side": 3})
def snake(
    side: Side = 7, *, arc: Arc = 150.0, play: Play = 3.0, friction: Friction = 0.5, model: Model = "box"
) -> RigidWorld:
    """An arched snake of boxes and hinges with limits settles on its two ends.

    Its own weight flattens the arch until limits hold it. Without limits it folds up. The paper prints no sizes: ours
    are fifteen links of 1 kg, 0.5 m from hinge to hinge.
    """
    builder = RigidBuilder()
    builder.ground(friction=friction)
    _add_arch(builder, side, arc, play, friction)
    return builder.world(model=model)


@scene("PGS-SM Fig. 2 (b)", dt=0.01, method="cone_newton", iterations=50, small={"side": 3, "mass_ratio": 10.0})
def snake_loaded(
    side: Side = 7,
    *,
    mass_ratio: MassRatio = 50.0,
    arc: Arc = 150.0,
    play: Play = 3.0,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """A heavy box lies on the top of an arched snake.

    The links of the `snake` carry a cube of 0.8 m, by default of fifty times the mass of a link (the paper says only
    that it is heavy): impulses must find their way down the hinges and limits to both ends.
    """
    builder = RigidBuilder()
    builder.ground(friction=friction)
    top = _add_arch(builder, side, arc, play, friction)
    half = LOAD_EDGE / 2.0
    load = Geom(form="box", size=(half, half, half), mass=mass_ratio * LINK_MASS, friction=friction, color=LOAD_COLOR)
    builder.body([load], (0.0, 0.0, top + half), name="load")
    return builder.world(model=model)


def _add_arch(builder: RigidBuilder, side: int, arc: float, play: float | None, friction: float) -> float:
    """Add the links and hinges; returns the height of the upper face of the link in the middle, which is level."""
    links = 2 * side + 1
    bend = np.radians(arc) / (links - 1)
    theta = np.radians(arc) / 2.0 - bend * np.arange(links)
    along = np.column_stack([np.cos(theta), np.zeros(links), np.sin(theta)])
    hinges = np.vstack([np.zeros(3), np.cumsum(CHORD * along, axis=0)])
    most_bent = bend + (0.0 if play is None else np.radians(play))
    half_length = CHORD / 2.0 - HEIGHT / 2.0 * np.tan(most_bent / 2.0)
    if half_length <= 0.0:
        raise ValueError(
            f"side = {side}, arc = {arc:g}, play = {play}: hinges that bend by {np.degrees(most_bent):.0f} degrees "
            "leave no room for links"
        )
    # the lower edge of the first link, which is turned up by theta_0, is to touch the ground: its corner lies
    # half_length back along the chord and HEIGHT / 2 down across it
    centres = (hinges[:-1] + hinges[1:]) / 2.0
    lowest = centres[0, 2] - half_length * np.sin(theta[0]) - HEIGHT / 2.0 * np.cos(theta[0])
    shift = np.array([-hinges[-1, 0] / 2.0, 0.0, -lowest])
    for k in range(links):
        link = Geom(form="box", size=(half_length, WIDTH / 2.0, HEIGHT / 2.0), mass=LINK_MASS, friction=friction)
        builder.body([link], centres[k] + shift, turned(theta[k]))
    limits = None if play is None else (-np.radians(play), np.radians(play))
    for k in range(links - 1):
        builder.join(Hinge(k, k + 1, hinges[k + 1] + shift, (0.0, 1.0, 0.0), limits=limits))
        builder.without_contact(k, k + 1)
    return float(centres[side, 2] + shift[2] + HEIGHT / 2.0)
