"""The shapes that bodies have, and where they are in a frame: enough for a picture, nothing for a collision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.recording.frame import Frame

Form = Literal["disc", "segment", "half_plane", "box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh", "plane"]

Floats = NDArray[np.float64]


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


def rotation_matrices(quaternion: Floats) -> Floats:
    """k x 3 x 3 from k x 4 unit quaternions (w, x, y, z)."""
    w, x, y, z = quaternion.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def place_shapes(frame: Frame, shapes: Sequence[Shape]) -> tuple[Floats, Floats]:
    """Origins (k x 3) and axes (k x 3 x 3, columns) of the shapes in the world."""
    body = np.array([shape.body for shape in shapes], dtype=np.int64)
    own_position = np.array([shape.position for shape in shapes], dtype=np.float64).reshape(-1, 3)
    own_axes = rotation_matrices(np.array([shape.orientation for shape in shapes], dtype=np.float64).reshape(-1, 4))
    moves = body >= 0
    axes = np.where(moves[:, None, None], rotation_matrices(frame.orientation)[body], np.eye(3))
    origin = np.where(moves[:, None], frame.position[body], 0.0)
    return origin + np.einsum("kij,kj->ki", axes, own_position), axes @ own_axes
