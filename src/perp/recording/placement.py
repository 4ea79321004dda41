"""Where the shapes of bodies in space are in a frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perp.recording.frame import Frame
from perp.recording.shapes import Shape

Floats = NDArray[np.float64]


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
