"""Boxes that fall and form separate stacks (THESIS 6.1.1)."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Compliance, Friction, Length, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

PITCH = 2.5
"""From stack to stack, in edges of a box: islands that never meet."""
MARGIN = 0.04
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
    builder.ground(half_edge=0.5 * PITCH * edge * (columns + 1), friction=friction)
    box = Geom(form="box", size=(0.5 * edge,) * 3, mass=mass, friction=friction)
    for stack in range(stacks):
        place = PITCH * edge * (np.array(divmod(stack, columns)) - 0.5 * (columns - 1))
        for k in level:
            builder.body([box], (*(place + shift[stack, k]), middle[k]))
    return builder.world(model=model, compliance=compliance, margin=MARGIN)
