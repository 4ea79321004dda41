"""How a recording lies in its HDF5 file. Every one has T frames, in d = 2 or 3 dimensions:

    /                    attributes: format, dimension (integers), dt [s] (number); scene, method (text);
                         options, seed, versions (JSON text)
    frames               (1)        int64    T, how many frames are whole: it is written after them
    step                 (T)        int64    steps taken
    time                 (T)        float64  [s]
    statistics/<name>    (T)        float64  what the steps measured; NaN where step 0 has nothing to say

Format 1 is that of n bodies with s shapes and C contacts in all:

    /                    attribute: bodies (integer), n
    position             (T, n, d)  float64  [m], centres of mass
    orientation          (T, n, q)  float64  q = 4: unit quaternions (w, x, y, z); in the plane q = 1: angles [rad]
    velocity             (T, n, d)  float64  [m/s]
    spin                 (T, n, w)  float64  [rad/s], w = 3, in the plane 1
    contacts/end         (T)        int64    frame i owns the contacts end[i - 1] (0 for the first) to end[i]
    contacts/bodies      (C, 2)     int32    -1 is the world
    contacts/point       (C, d)     float64  [m]
    contacts/normal      (C, d)     float64  from the first body to the second
    contacts/gap         (C)        float64  [m], before the step
    contacts/impulse     (C, d)     float64  [N s], on the second body, along the axes of the world
    shapes/form          (s)        int8     a number of `FORMS`
    shapes/body          (s)        int32    -1 is the world
    shapes/size          (s, 3)     float64  see `Shape`; NaN after those numbers that the form has
    shapes/position      (s, d)     float64  [m], in the frame of the body's centre of mass
    shapes/orientation   (s, 4)     float64  unit quaternions in that frame
    shapes/color         (s, 3)     float64  red, green, blue in 0..1; NaN where the scene chose none
    shapes/vertices      (v, d)     float64  of all shapes; shape i owns vertex_end[i - 1] to vertex_end[i]
    shapes/faces         (f, 3)     int32    triangles, numbers of the shape's own vertices; likewise with face_end
    shapes/names         (c)        uint8    UTF-8; likewise with name_end

Format 2 is that of a liquid in c_1 x ... x c_d cells, with P particles in all frames together. Numbers are rounded to
single precision, which is far finer than the grid and halves the file:

    /                    attribute: spacing (number), the edge of a cell [m]
    grid/cells           (d)        int64    c_1, ..., c_d
    grid/origin          (d)        float64  [m], the lower corner of the first cell
    grid/solid           (c_1 + 1, ..., c_d + 1)
                                    float64  signed distance to the solid at the nodes [m], negative inside it
    particles/end        (T)        int64    frame i owns the particles end[i - 1] (0 for the first) to end[i]
    particles/position   (P, d)     float32  [m]
    particles/velocity   (P, d)     float32  [m/s]
    cells/pressure       (T, c_1, ..., c_d)
                                    float32  [Pa]
    cells/state          (T, c_1, ..., c_d)
                                    uint8    the sum of 1 where there is liquid and 2 where it is separating

Datasets may be longer than the counts say: what stands behind them is of a frame that was never finished, and is not to
be read. No filters, no links but hard ones.

A recording is written in HDF5's mode of one writer and many readers, which keeps the file whole at every moment: other
programs may follow it while it grows, and a process that is killed leaves every frame up to its last `flush` readable.
HDF5 then still marks the file as open for writing. `Recording` reads it nevertheless (`guarded_columns`), h5py with
`swmr=True`, any other program after `h5clear -s FILE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from perp.recording.frame import Form, Shape

BODIES, LIQUID = 1, 2
"""Formats. A change that an older reader would misread gets a number of its own, the next one."""

FORMS: tuple[Form, ...] = get_args(Form)

STATE = ("position", "orientation", "velocity", "spin")


def state_width(name: str, dimension: int) -> int:
    """How many numbers of this part of the state a body has."""
    if name in ("position", "velocity"):
        return dimension
    return 1 if dimension == 2 else {"orientation": 4, "spin": 3}[name]


def contact_widths(dimension: int) -> dict[str, tuple[int, ...]]:
    """The shape of one contact's row in each dataset of `contacts`, but for `end`."""
    vector = (dimension,)
    return {"bodies": (2,), "point": vector, "normal": vector, "gap": (), "impulse": vector}


IS_LIQUID, IS_SEPARATING = 1, 2
"""The bits of `cells/state`."""


# Shapes as columns of numbers, and back.

MOST_SIZES = 3


def column_types(dimension: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and row of each column; those of the second group are ragged, a column `*_end` says where each ends."""
    one_a_shape = {
        "form": ("int8", ()),
        "body": ("int32", ()),
        "size": ("float64", (MOST_SIZES,)),
        "position": ("float64", (dimension,)),
        "orientation": ("float64", (4,)),
        "color": ("float64", (3,)),
        "vertex_end": ("int64", ()),
        "face_end": ("int64", ()),
        "name_end": ("int64", ()),
    }
    ragged = {"vertices": ("float64", (dimension,)), "faces": ("int32", (3,)), "names": ("uint8", ())}
    return one_a_shape | ragged


RAGGED = {"vertices": "vertex_end", "faces": "face_end", "names": "name_end"}


def shape_columns(shapes: Sequence[Shape], dimension: int) -> dict[str, NDArray[Any]]:
    """The columns of these shapes; ValueError where one is not of this dimension."""
    rows: dict[str, list[Any]] = {name: [] for name in column_types(dimension)}
    ends = dict.fromkeys(RAGGED, 0)
    for number, shape in enumerate(shapes):
        for name, value in _row(shape, number, dimension).items():
            rows[name].append(value)
            if name in RAGGED:
                ends[name] += len(value)
                rows[RAGGED[name]].append(ends[name])
    columns = {}
    for name, (kind, width) in column_types(dimension).items():
        parts = rows[name]
        if name in RAGGED:
            columns[name] = np.concatenate([np.empty((0, *width), dtype=kind), *parts]).astype(kind)
        else:
            columns[name] = np.array(parts, dtype=kind).reshape(len(shapes), *width)
    return columns


def _row(shape: Shape, number: int, dimension: int) -> dict[str, Any]:
    if shape.form not in FORMS:
        raise ValueError(f"shapes[{number}].form is {shape.form!r}; one of {', '.join(FORMS)} is needed")
    if len(shape.size) > MOST_SIZES:
        raise ValueError(f"shapes[{number}].size has {len(shape.size)} numbers; at most {MOST_SIZES} are needed")
    vertices = np.asarray(shape.vertices, dtype=np.float64)
    if len(vertices) == 0:
        vertices = np.empty((0, dimension))
    if vertices.ndim != 2 or vertices.shape[1] != dimension:
        raise ValueError(f"shapes[{number}].vertices has the shape {vertices.shape}; {dimension} columns are needed")
    position = np.asarray(shape.position, dtype=np.float64)
    if position.size < dimension:
        raise ValueError(f"shapes[{number}].position has {position.size} numbers; {dimension} are needed")
    return {
        "form": FORMS.index(shape.form),
        "body": shape.body,
        "size": [*shape.size, *[np.nan] * (MOST_SIZES - len(shape.size))],
        "position": position[:dimension],
        "orientation": shape.orientation,
        "color": [np.nan] * 3 if shape.color is None else shape.color,
        "vertices": vertices,
        "faces": np.asarray(shape.faces).reshape(-1, 3),
        "names": np.frombuffer(shape.name.encode(), dtype=np.uint8),
    }


def shapes_of(columns: Mapping[str, NDArray[Any]], bodies: int) -> tuple[Shape, ...]:
    """The shapes of such columns; ValueError, with the column and the row, where a number makes no sense."""
    count = len(columns["form"])
    _require(columns["form"], 0, len(FORMS) - 1, "form")
    _require(columns["body"], -1, bodies - 1, "body")
    spans = {name: _spans(columns[end], len(columns[name]), end) for name, end in RAGGED.items()}
    for name in ("position", "orientation", "vertices"):
        if not np.isfinite(columns[name]).all():
            raise ValueError(f"{name}: a number is not finite")
    made = []
    for i in range(count):
        own = {name: columns[name][slice(*spans[name][i])] for name in RAGGED}
        _require(own["faces"], 0, len(own["vertices"]) - 1, f"faces of shape {i}")
        size, color = columns["size"][i], columns["color"][i]
        made.append(
            Shape(
                form=FORMS[columns["form"][i]],
                body=int(columns["body"][i]),
                size=tuple(float(value) for value in size[np.isfinite(size)]),
                position=columns["position"][i].copy(),
                orientation=columns["orientation"][i].copy(),
                vertices=own["vertices"].copy(),
                faces=own["faces"].copy(),
                color=(float(color[0]), float(color[1]), float(color[2])) if np.isfinite(color).all() else None,
                name=own["names"].tobytes().decode(errors="replace"),
            )
        )
    return tuple(made)


def _spans(ends: NDArray[np.int64], total: int, name: str) -> NDArray[np.int64]:
    begins = np.concatenate([[0], ends[:-1]]) if ends.size else ends
    if ends.size and (np.any(ends < begins) or ends[0] < 0 or ends[-1] > total):
        raise ValueError(f"{name}: the ends must rise from 0 to {total}")
    return np.stack([begins, ends], axis=1)


def _require(values: NDArray[Any], least: int, most: int, name: str) -> None:
    wrong = np.flatnonzero((values.ravel() < least) | (values.ravel() > most))
    if wrong.size:
        raise ValueError(f"{name}: entry {wrong[0]} is {values.ravel()[wrong[0]]}; it must lie in {least}..{most}")
