"""The shapes that bodies have: enough for a picture, nothing for a collision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector

Form = Literal["disc", "segment", "half_plane", "box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh", "plane"]


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape of a body; `body` -1 belongs to the world and does not move. Lengths in [m].

    `size` is, by form: disc, sphere (radius); box (half edges, three); ellipsoid (half axes, three); capsule, cylinder
    (radius, half length along its own z); segment and half_plane none, as their points tell them; plane (half edges
    for drawing, two; normal along its own z); mesh none.

    In two dimensions a segment lies between two `vertices`; a half plane has one vertex on its edge and the outward
    normal as the second.
    """

    form: Form
    body: int
    size: tuple[float, ...] = ()
    position: Vector = field(default_factory=lambda: np.zeros(3))
    """Of the shape's origin in the frame of the body's centre of mass (two numbers in the plane)."""
    orientation: Vector = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    """Unit quaternion (w, x, y, z) in that frame; unused in the plane."""
    vertices: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    faces: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.int32))
    color: tuple[float, float, float] | None = None
    """Red, green, blue in 0..1, where the scene chose one."""
    name: str = ""
