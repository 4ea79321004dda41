"""Shapes in space as triangles with normals, and triangles as pixels: which of them is nearest at each.

Every shape but a mesh is a template, U, W and normals N, brought to its size: a vertex is (s_x U_x, s_y U_y, s_z U_z)
+ h W e_z, with scales s and a half length h, so that all shapes of a form are made at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from perp.recording.frame import Frame, Shape, place_shapes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FINE, COARSE, MANY = 36, 16, 150
"""Pieces of a circle: where there are few round shapes, and where there are many, which then are small."""

SOLID = ("box", "sphere", "ellipsoid", "capsule", "cylinder", "mesh")

PIECE = 1 << 20
"""About so many pixels are worked on at a time."""

NOTHING = -1


@dataclass(frozen=True)
class Surface:
    """T triangles: corners and normals at them (T x 3 x 3), the shape that each belongs to, and whether it is closed
    (then what faces away from the viewer cannot be seen)."""

    corner: Floats
    normal: Floats
    shape: Integers
    is_closed: NDArray[np.bool_]


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


def find_nearest(corner: Floats, depth: Floats, width: int, height: int) -> Integers:
    """height x width numbers of the triangles nearest to the viewer, `NOTHING` where there is none.

    `corner` has T x 3 x 2 pixel coordinates, of which (0, 0) is the corner of the first pixel; `depth` has T x 3
    numbers, the larger the nearer.
    """
    nearest = np.full(height * width, -np.inf)
    number = np.full(height * width, NOTHING, dtype=np.int64)
    flat = linear_over(corner, depth[:, :, None])[:, :, 0]
    for triangle, x, y in _pixels(corner, width, height):
        z = flat[triangle, 0] + flat[triangle, 1] * (x + 0.5) + flat[triangle, 2] * (y + 0.5)
        place = y * width + x
        np.maximum.at(nearest, place, z)
        wins = z == nearest[place]
        number[place[wins]] = triangle[wins]
    return number.reshape(height, width)


def find_covered(corner: Floats, width: int, height: int) -> NDArray[np.bool_]:
    """height x width: whether any triangle is there."""
    covered = np.zeros(height * width, dtype=np.bool_)
    for _, x, y in _pixels(corner, width, height):
        covered[y * width + x] = True
    return covered.reshape(height, width)


def linear_over(corner: Floats, values: Floats) -> Floats:
    """T x 3 x k coefficients (c, cx, cy) of the functions c + cx x + cy y with these T x 3 x k values at the corners.

    Triangles without an area get the mean of their values.
    """
    (x0, y0), (x1, y1), (x2, y2) = corner.transpose(1, 2, 0)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    with np.errstate(all="ignore"):
        share = np.where(area == 0.0, 0.0, 1.0 / area)
    first, second = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    along_x = share[:, None] * (first * (y2 - y0)[:, None] - second * (y1 - y0)[:, None])
    along_y = share[:, None] * (second * (x1 - x0)[:, None] - first * (x2 - x0)[:, None])
    constant = values[:, 0] - along_x * x0[:, None] - along_y * y0[:, None]
    return np.stack([np.where(area[:, None] == 0.0, values.mean(axis=1), constant), along_x, along_y], axis=1)


def _pixels(corner: Floats, width: int, height: int) -> Iterator[tuple[Integers, Integers, Integers]]:
    """(triangle, x, y) of every pixel whose centre lies in a triangle, in pieces.

    Row by row: the sides that a row of centres crosses are found, and the pixels between them listed. A centre that
    lies on a side shared by two triangles belongs to one of them.
    """
    y = corner[:, :, 1]
    first = np.ceil(np.clip(y.min(axis=1), 0.0, height) - 0.5).astype(np.int64)
    last = np.ceil(np.clip(y.max(axis=1), 0.0, height) - 0.5).astype(np.int64)
    rows = np.maximum(last - first, 0)
    for some in _parts(rows):
        triangle, row = _spread(np.arange(some.start, some.stop), first[some], rows[some])
        left, right = _crossings(corner[triangle], row + 0.5)
        start = np.ceil(np.clip(left, 0.0, width) - 0.5).astype(np.int64)
        count = np.maximum(np.ceil(np.clip(right, 0.0, width) - 0.5).astype(np.int64) - start, 0)
        for part in _parts(count):
            line, x = _spread(np.arange(part.start, part.stop), start[part], count[part])
            yield triangle[line], x, row[line]


def _crossings(corner: Floats, y: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Where horizontal lines enter and leave their triangles; (inf, -inf) where they do not meet."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        (xa, ya), (xb, yb) = corner[:, a].T, corner[:, b].T
        meets = (ya <= y) != (yb <= y)
        with np.errstate(all="ignore"):
            x = xa + (y - ya) * (xb - xa) / (yb - ya)
        left, right = np.where(meets, np.minimum(left, x), left), np.where(meets, np.maximum(right, x), right)
    return left, right


def _spread(owner: Integers, start: Integers, count: Integers) -> tuple[Integers, Integers]:
    """Each owner as often as it counts, beside start, start + 1, ..."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    steps = np.arange(total) - np.repeat(ends - count, count)
    return np.repeat(owner, count), np.repeat(start, count) + steps


def _parts(count: Integers) -> Iterator[slice]:
    """Runs of entries that count about `PIECE` together."""
    ends = np.cumsum(count)
    begin = 0
    while begin < len(count):
        used = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, used + PIECE, side="right")))
        yield slice(begin, end)
        begin = end


@dataclass(frozen=True)
class _Template:
    unit: Floats
    """V x 3, U."""
    lengthwise: Floats
    """V, W."""
    normal: Floats
    """V x 3."""
    faces: Integers


def _scaled(form: str, shapes: Sequence[Shape]) -> tuple[Floats, Floats, Integers]:
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


def _meshes(shapes: Sequence[Shape]) -> tuple[Floats, Floats, Integers]:
    corner = np.concatenate([shape.vertices[shape.faces] for shape in shapes])
    across = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(across, axis=1, keepdims=True)
    normal = np.where(length > 0.0, across / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
    owner = np.repeat(np.arange(len(shapes)), [len(shape.faces) for shape in shapes])
    return corner, np.repeat(normal[:, None], 3, axis=1), owner


@cache
def _template(form: str, pieces: int) -> _Template:
    return _box() if form == "box" else _revolved(form, pieces)


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


def _revolved(form: str, pieces: int) -> _Template:
    """Circles of vertices from the top down; at the rims of a cylinder and in the middle of a capsule there are two."""
    if form == "cylinder":
        radius, height = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 0.0]), np.zeros(6)
        across, up = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0, -1.0, -1.0])
        lengthwise = np.repeat([1.0, -1.0], 3)
    else:
        half = pieces // 4
        polar = np.linspace(0.0, np.pi, 2 * half + 1)
        lengthwise = np.zeros(len(polar))
        if form == "capsule":
            polar, lengthwise = np.insert(polar, half, np.pi / 2), np.repeat([1.0, -1.0], half + 1)
        radius = across = np.sin(polar)
        height = up = np.cos(polar)
    turn = np.linspace(0.0, 2.0 * np.pi, pieces + 1)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    count = len(ring)
    unit, normal = (
        np.column_stack([(r[:, None, None] * ring).reshape(-1, 2), np.repeat(z, count)])
        for r, z in ((radius, height), (across, up))
    )
    if form == "cylinder":
        faces = np.concatenate([_grid(2, count) + 2 * count * part for part in range(3)])
    else:
        faces = _grid(len(radius), count)
    return _Template(unit, np.repeat(lengthwise, count), normal, faces)


def _grid(rows: int, columns: int) -> Integers:
    """Two triangles for each cell of a grid of vertices, row by row."""
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    return np.concatenate([np.stack([a, a + columns, a + 1], 1), np.stack([a + 1, a + columns, a + columns + 1], 1)])
