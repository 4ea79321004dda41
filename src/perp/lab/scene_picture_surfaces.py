"""The surfaces of shapes in space as triangles with normals.

Every shape but a mesh is a template, U, W and normals N, brought to its size: a vertex is (s_x U_x, s_y U_y, s_z U_z)
+ h W e_z, with scales s and a half length h, so that all shapes of a form are made at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from perp.lab.scene_picture_view import colour_of
from perp.recording.frame import Frame
from perp.recording.shapes import Shape, place_shapes

Floats = NDArray[np.float64]

FINE, COARSE, MANY = 36, 16, 150
"""Pieces of a circle: where there are few round shapes, and where there are many, which then are small."""

SOLID = ("box", "sphere", "ellipsoid", "capsule", "cylinder", "mesh")


@dataclass(frozen=True)
class Surface:
    """T triangles: corners and normals at them (T x 3 x 3), the shape that each belongs to, and whether it is closed
    (then what faces away from the viewer cannot be seen)."""

    corner: Floats
    normal: Floats
    shape: NDArray[np.int64]
    is_closed: NDArray[np.bool_]


@dataclass(frozen=True)
class _Template:
    unit: Floats
    """V x 3, U."""
    lengthwise: Floats
    """V, W."""
    normal: Floats
    """V x 3."""
    faces: NDArray[np.int64]


def make_surface(frame: Frame, shapes: Sequence[Shape]) -> Surface:
    """The triangles of all solid shapes; planes and what belongs to two dimensions have none."""
    origin, axes = place_shapes(frame, shapes)
    parts = []
    for form in SOLID:
        chosen = np.array([k for k, shape in enumerate(shapes) if shape.form == form], dtype=np.int64)
        if not chosen.size:
            continue
        own = [shapes[k] for k in chosen]
        if form == "mesh":
            corner, normal, owner = _meshes(own)
        else:
            corner, normal, owner = _scaled(form, own)
        turn = axes[chosen][owner]
        corner = np.einsum("tij,tcj->tci", turn, corner) + origin[chosen][owner][:, None]
        parts.append(
            (corner, np.einsum("tij,tcj->tci", turn, normal), chosen[owner], np.full(len(owner), form != "mesh"))
        )
    if not parts:
        nothing = np.empty((0, 3, 3))
        return Surface(nothing, nothing, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_))
    corner, normal, shape, is_closed = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Surface(corner, normal, shape, is_closed)


def colours(shapes: Sequence[Shape]) -> Floats:
    return np.array([colour_of(shape) for shape in shapes]).reshape(-1, 3)


def _scaled(form: str, shapes: Sequence[Shape]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    template = _template(form, FINE if len(shapes) <= MANY else COARSE)
    size = np.array([shape.size for shape in shapes], dtype=np.float64)
    is_round = form in ("sphere", "capsule", "cylinder")
    scale = np.repeat(size[:, :1], 3, axis=1) if is_round else size[:, :3]
    half = size[:, 1] if form in ("capsule", "cylinder") else np.zeros(len(shapes))
    vertex = scale[:, None] * template.unit
    vertex[:, :, 2] += half[:, None] * template.lengthwise
    normal = template.normal / scale[:, None] if form == "ellipsoid" else np.broadcast_to(template.normal, vertex.shape)
    normal = normal / np.linalg.norm(normal, axis=2, keepdims=True)
    owner = np.repeat(np.arange(len(shapes)), len(template.faces))
    return vertex[:, template.faces].reshape(-1, 3, 3), normal[:, template.faces].reshape(-1, 3, 3), owner


def _meshes(shapes: Sequence[Shape]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    corner = np.concatenate([shape.vertices[shape.faces] for shape in shapes])
    across = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(across, axis=1, keepdims=True)
    normal = np.where(length > 0.0, across / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
    owner = np.repeat(np.arange(len(shapes)), [len(shape.faces) for shape in shapes])
    return corner, np.repeat(normal[:, None], 3, axis=1), owner


def _grid(rows: int, columns: int) -> NDArray[np.int64]:
    """Two triangles for each cell of a grid of vertices, row by row."""
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    return np.concatenate([np.stack([a, a + columns, a + 1], 1), np.stack([a + 1, a + columns, a + columns + 1], 1)])


def _box() -> _Template:
    square = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    unit, normal = np.empty((6, 4, 3)), np.zeros((6, 4, 3))
    for side in range(6):
        axis, sign = side // 2, 1.0 - 2.0 * (side % 2)
        unit[side][:, axis] = normal[side][:, axis] = sign
        unit[side][:, [(axis + 1) % 3, (axis + 2) % 3]] = square[:: int(sign)]
    corners = 4 * np.arange(6)[:, None]
    faces = np.concatenate([corners + np.array([0, 1, 2]), corners + np.array([0, 2, 3])])
    return _Template(unit.reshape(-1, 3), np.zeros(24), normal.reshape(-1, 3), faces)


def _ball(pieces: int, lengthwise: bool) -> _Template:
    """Circles of latitude; a capsule has two at its middle, one for each end."""
    polar = np.linspace(0.0, np.pi, pieces // 2 + 1)
    ends = np.sign(np.cos(polar))
    if lengthwise:
        half = pieces // 4
        polar, ends = np.insert(polar, half, np.pi / 2), np.insert(ends, half, 1.0)
        ends[half], ends[half + 1] = 1.0, -1.0
    around = np.linspace(0.0, 2.0 * np.pi, pieces + 1)
    s = np.sin(polar)[:, None]
    unit = np.stack([s * np.cos(around), s * np.sin(around), np.cos(polar)[:, None] + 0.0 * around], axis=2)
    along = np.repeat(ends, pieces + 1) if lengthwise else np.zeros(unit.shape[0] * unit.shape[1])
    unit = unit.reshape(-1, 3)
    return _Template(unit, along, unit, _grid(len(polar), pieces + 1))


def _cylinder(pieces: int) -> _Template:
    around = np.linspace(0.0, 2.0 * np.pi, pieces + 1)
    ring = np.stack([np.cos(around), np.sin(around), 0.0 * around], axis=1)
    count, top, bottom = pieces + 1, np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])
    unit = np.concatenate([ring, ring, ring, np.zeros((1, 3)), ring, np.zeros((1, 3))])
    along = np.concatenate([np.ones(count), -np.ones(count), np.ones(count + 1), -np.ones(count + 1)])
    normal = np.concatenate([ring, ring, np.tile(top, (count + 1, 1)), np.tile(bottom, (count + 1, 1))])
    k = np.arange(pieces)
    upper, lower = 2 * count, 3 * count + 1
    caps = [
        np.stack([upper + k, upper + k + 1, np.full(pieces, upper + count)], axis=1),
        np.stack([lower + k + 1, lower + k, np.full(pieces, lower + count)], axis=1),
    ]
    return _Template(unit, along, normal, np.concatenate([_grid(2, count), *caps]))


@cache
def _template(form: str, pieces: int) -> _Template:
    if form == "box":
        return _box()
    return _cylinder(pieces) if form == "cylinder" else _ball(pieces, lengthwise=form == "capsule")
