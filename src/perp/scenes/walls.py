"""A wall of boxes that lie askew, so that friction has to hold it.

In a wall with level beds normal forces alone can carry the weight. Here the bond is turned by beta: boxes with edges a
along u = (cos beta, sin beta) and b along v = (-sin beta, cos beta) lie end to end in layers along u, and each layer is
shifted against the one below by s, so that corners do not meet. A box has its neighbours at

    e1 = a u            (up and to the right, the next one in its layer)
    e2 = b v + s u      (up and to the left, in the layer above)

and e1 - e2 is level if a sin(beta) = b cos(beta) + s sin(beta), that is tan(beta) = b / (a - s). Then the boxes form
level courses as well, of period P = (a - s) cos(beta) + b sin(beta), and each of them sits in the notch between two of
the course below, on faces that are as steep as beta and pi/2 - beta.

The lowest course sits in the gaps of a row of boxes that stand on the ground. If a corner hangs in a gap to the depth
h, its two faces meet the edges of the gap h tan(beta) to the left and h / tan(beta) to the right; the gap is as wide as
both together. Every box is a wedge that drives those below apart; nothing but friction keeps the row on the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Friction, Model
from perp.scenes.plane_turns import turned
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

EDGE = 0.5
"""a and b [m]."""
SHIFT = EDGE / 5.0
"""s [m]."""
DEPTH = 0.6
"""Across the wall [m]."""
HUNG = 0.3 * EDGE
"""h [m]."""
BASE_HEIGHT = 0.6 * EDGE
"""Of the boxes on the ground [m]."""
DENSITY = 10.0
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
    beta = np.arctan2(EDGE, EDGE - SHIFT)
    u = np.array([np.cos(beta), 0.0, np.sin(beta)])
    v = np.array([-np.sin(beta), 0.0, np.cos(beta)])
    up_right = EDGE * u  # e1
    along = up_right - (EDGE * v + SHIFT * u)  # e1 - e2
    period = along[0]  # P
    to_left, to_right = HUNG * np.tan(beta), HUNG / np.tan(beta)
    builder = RigidBuilder()
    builder.ground(friction=friction)
    width = period - to_left - to_right
    first = -period * base / 2.0  # of the boxes on the ground, the middle of the leftmost
    for k in range(base + 1):
        _add_box(builder, (width, DEPTH, BASE_HEIGHT), (first + k * period, 0.0, BASE_HEIGHT / 2.0), 0.0, friction)
    corner = np.array([first + width / 2.0 + to_left, 0.0, BASE_HEIGHT - HUNG])
    lowest = corner + EDGE / 2.0 * (u + v)
    for course in range(courses):  # box k of a course sits on k and k + 1 of the one below
        for k in range(base - course):
            _add_box(builder, (EDGE, DEPTH, EDGE), lowest + course * up_right + k * along, beta, friction)
    return builder.world(model=model)


def _add_box(
    builder: RigidBuilder,
    edges: tuple[float, float, float],
    place: Sequence[float] | NDArray[np.float64],
    angle: float,
    friction: float,
) -> None:
    half = tuple(edge / 2.0 for edge in edges)
    box = Geom(form="box", size=half, mass=DENSITY * float(np.prod(edges)), friction=friction)
    builder.body([box], place, turned(angle))
