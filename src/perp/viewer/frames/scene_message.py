"""What the page must know of a world before its first frame: `SceneMessage` of `viewer/src/messages.ts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from perp.recording.frame import Frame, LiquidFrame, LiquidGrid
from perp.recording.shapes import Shape
from perp.viewer.frames.scene_extent import find_extent


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
