"""The box that a world lies in at the beginning: what the camera of the page looks at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perp.recording.frame import Frame, LiquidFrame, LiquidGrid
from perp.recording.shapes import Shape, place_shapes

Points = NDArray[np.float64]

ENDLESS = ("plane", "half_plane")
"""Forms without an end: sizes of planes are for drawing only."""

LARGE = 3.0
"""What does not move and is so many times as large as all that does need not be seen as a whole."""


def find_extent(
    frame: Frame | LiquidFrame, shapes: Sequence[Shape], grid: LiquidGrid | None
) -> tuple[list[float], list[float]]:
    """Lower and upper corner [m]: of the grid, or around all bodies and what stands still and is not much larger."""
    if grid is not None:
        low, high = grid.origin, grid.origin + grid.spacing * np.array(grid.cells)
    elif isinstance(frame, LiquidFrame):
        low, high = _around(frame.position, frame.position, frame.dimension)
    else:
        low, high = _around_bodies(frame, [shape for shape in shapes if shape.form not in ENDLESS])
    return low.tolist(), high.tolist()


def _around_bodies(frame: Frame, shapes: Sequence[Shape]) -> tuple[Points, Points]:
    lower, upper = _planar_boxes(frame, shapes) if frame.dimension == 2 else _boxes(frame, shapes)
    moves = np.array([shape.body >= 0 for shape in shapes], dtype=np.bool_)
    centres = frame.position
    low, high = _around(
        np.concatenate([lower[moves], centres]), np.concatenate([upper[moves], centres]), frame.dimension
    )
    size = (upper - lower).max(axis=1, initial=0.0)
    shown = ~moves & (size <= LARGE * (high - low).max())
    return _around(np.vstack([lower[shown], low]), np.vstack([upper[shown], high]), frame.dimension)


def _around(lower: Points, upper: Points, dimension: int) -> tuple[Points, Points]:
    """Around all of these boxes that are finite; a box around the origin where there are none."""
    sound = np.isfinite(lower).all(axis=1) & np.isfinite(upper).all(axis=1)
    if not sound.any():
        return np.full(dimension, -1.0), np.full(dimension, 1.0)
    return lower[sound].min(axis=0), upper[sound].max(axis=0)


def _planar_boxes(frame: Frame, shapes: Sequence[Shape]) -> tuple[Points, Points]:
    """Of discs and segments; the only shapes beside discs are those of the world."""
    lower, upper = np.empty((len(shapes), 2)), np.empty((len(shapes), 2))
    for k, shape in enumerate(shapes):
        if shape.form == "segment":
            lower[k], upper[k] = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
        else:
            centre = shape.position[:2] + (frame.position[shape.body] if shape.body >= 0 else 0.0)
            lower[k], upper[k] = centre - shape.size[0], centre + shape.size[0]
    return lower, upper


def _boxes(frame: Frame, shapes: Sequence[Shape]) -> tuple[Points, Points]:
    """Of shapes in space, along the axes of the world."""
    origin, axes = place_shapes(frame, shapes)
    centre, half, rounding = np.zeros((len(shapes), 3)), np.zeros((len(shapes), 3)), np.zeros((len(shapes), 1))
    for k, shape in enumerate(shapes):
        if shape.form == "sphere":
            rounding[k] = shape.size[0]
        elif shape.form == "capsule":
            rounding[k], half[k, 2] = shape.size
        elif shape.form == "cylinder":
            half[k] = (shape.size[0], shape.size[0], shape.size[1])
        elif shape.form == "mesh":
            low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
            centre[k], half[k] = 0.5 * (low + high), 0.5 * (high - low)
        else:
            half[k] = shape.size
    middle = origin + np.einsum("kij,kj->ki", axes, centre)
    reach = np.einsum("kij,kj->ki", np.abs(axes), half) + rounding
    return middle - reach, middle + reach
