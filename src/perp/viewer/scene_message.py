"""What the page must know of a world before its first frame: `SceneMessage` of `viewer/src/messages.ts`.

The camera of the page looks at the box that the world lies in at the beginning (`find_extent`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.recording.frame import Frame, LiquidFrame, LiquidGrid, Shape, place_shapes

Points = NDArray[np.float64]

ENDLESS = ("plane", "half_plane")
"""Forms without an end: sizes of planes are for drawing only."""

LARGE = 3.0
"""What does not move and is so many times as large as all that does need not be seen as a whole."""


def describe_world(
    name: str,
    frame: Frame | LiquidFrame,
    shapes: Sequence[Shape],
    grid: LiquidGrid | None,
    *,
    dt: float,
    seed: int,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Of the world's first frame; JSON has words for all of it."""
    dimension = frame.dimension
    meshes = _Meshes()
    low, high = find_extent(frame, shapes, grid)
    return {
        "type": "scene",
        "name": name,
        "kind": "liquid" if isinstance(frame, LiquidFrame) else "bodies",
        "dimension": dimension,
        "bodies": len(frame.position),
        "dt": float(dt),
        "seed": int(seed),
        "options": {str(key): plain(value) for key, value in options.items()},
        "shapes": [_describe_shape(shape, dimension, meshes) for shape in shapes],
        "meshes": meshes.described,
        "grid": None if grid is None else _describe_grid(grid),
        "low": low,
        "high": high,
    }


def plain(value: Any) -> Any:
    """The same in numbers, words and lists of JSON, which has no word for what is not finite: null."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


class _Meshes:
    """Vertices and faces, each once, however many shapes have them."""

    def __init__(self) -> None:
        self.described: list[dict[str, Any]] = []
        self._numbers: dict[tuple[bytes, bytes], int] = {}

    def number(self, shape: Shape) -> int | None:
        """Of the mesh that a shape has; None for one that its sizes tell."""
        if not len(shape.vertices):
            return None
        key = (shape.vertices.tobytes(), shape.faces.tobytes())
        if key not in self._numbers:
            self._numbers[key] = len(self.described)
            self.described.append({"vertices": shape.vertices.tolist(), "faces": shape.faces.tolist()})
        return self._numbers[key]


def _describe_shape(shape: Shape, dimension: int, meshes: _Meshes) -> dict[str, Any]:
    return {
        "form": shape.form,
        "body": int(shape.body),
        "size": [float(length) for length in shape.size],
        "position": shape.position[:dimension].tolist(),
        "orientation": shape.orientation.tolist(),
        "color": None if shape.color is None else [float(part) for part in shape.color],
        "name": shape.name,
        "mesh": meshes.number(shape),
    }


def _describe_grid(grid: LiquidGrid) -> dict[str, Any]:
    """The solid is drawn in the plane only."""
    return {
        "cells": list(grid.cells),
        "spacing": float(grid.spacing),
        "origin": grid.origin.tolist(),
        "solid": grid.solid.reshape(-1).tolist() if grid.dimension == 2 else None,
    }


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
