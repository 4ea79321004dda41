"""Shapes as columns of numbers, and back; `layout` names the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.recording.layout import FORMS
from perp.recording.shapes import Shape

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
