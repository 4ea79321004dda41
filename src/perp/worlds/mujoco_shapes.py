"""What the geoms of a MuJoCo model look like: shapes for a picture, in the frames that `perp.recording` wants."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.extras import mujoco
from perp.problems.inputs import Vector
from perp.recording.frame import Form, Shape

NO_COLOR = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's rgba of a geom that was given none; its material's color holds then."""
SIZES: dict[Form, int] = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
"""How many of a geom's three sizes mean something; they mean what those of a `Shape` do."""


def shapes_of(model: Any, number_of_body: NDArray[np.int64], centre_in_body: NDArray[np.float64]) -> tuple[Shape, ...]:
    """The visible geoms of the model, in its order.

    `number_of_body` has our number for each of MuJoCo's bodies, -1 for the world's; several may form one of ours, which
    then has the axes of the first of them. `centre_in_body` (n x 3 [m]) are our centres of mass in those axes.
    """
    carriers = {int(number): first for first, number in reversed(list(enumerate(number_of_body)))}
    shapes = []
    for geom in range(model.ngeom):
        if model.geom_rgba[geom, 3] == 0.0:
            continue
        number = int(number_of_body[model.geom_bodyid[geom]])
        position, orientation = _pose_in(model, geom, 0 if number < 0 else carriers[number])
        if number >= 0:
            position = position - centre_in_body[number]
        shapes.append(_shape(model, geom, number, position, orientation))
    return tuple(shapes)


def _shape(model: Any, geom: int, body: int, position: Vector, orientation: Vector) -> Shape:
    kind = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
    size = tuple(float(length) for length in model.geom_size[geom])
    vertices, faces = np.empty((0, 3)), np.empty((0, 3), dtype=np.int32)
    form: Form = kind
    if kind == "plane":
        size = tuple(length if length > 0.0 else 2.0 * float(model.stat.extent) for length in size[:2])
    elif kind in SIZES:
        size = size[: SIZES[form]]
    else:
        form, size = "mesh", ()
        vertices, faces = _height_field(model, geom) if kind == "hfield" else _mesh(model, geom)
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or ""
    return Shape(form, body, size, position, orientation, vertices, faces, _color(model, geom), name)


def _pose_in(model: Any, geom: int, carrier: int) -> tuple[Vector, Vector]:
    """Position and orientation of a geom in the frame of a body that it is fixed to, from body to parent body."""
    position, orientation = np.array(model.geom_pos[geom]), np.array(model.geom_quat[geom])
    body = int(model.geom_bodyid[geom])
    while body != carrier:
        turned, product = np.empty(3), np.empty(4)
        mujoco.mju_rotVecQuat(turned, position, model.body_quat[body])
        mujoco.mju_mulQuat(product, model.body_quat[body], orientation)
        position, orientation = model.body_pos[body] + turned, product
        body = int(model.body_parentid[body])
    return position, orientation


def _mesh(model: Any, geom: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    mesh = model.geom_dataid[geom]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    vertices = np.array(model.mesh_vert[first : first + count], dtype=np.float64)
    first, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    return vertices, np.array(model.mesh_face[first : first + count], dtype=np.int32)


def _height_field(model: Any, geom: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Two triangles for each rectangle of the grid; heights are given as shares of the greatest one."""
    field = model.geom_dataid[geom]
    rows, columns, start = model.hfield_nrow[field], model.hfield_ncol[field], model.hfield_adr[field]
    half_x, half_y, top, _ = model.hfield_size[field]
    y, x = np.meshgrid(np.linspace(-half_y, half_y, rows), np.linspace(-half_x, half_x, columns), indexing="ij")
    height = top * np.array(model.hfield_data[start : start + rows * columns], dtype=np.float64)
    vertices = np.column_stack([x.reshape(-1), y.reshape(-1), height])
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    lower = np.column_stack([corner, corner + 1, corner + columns + 1])
    upper = np.column_stack([corner, corner + columns + 1, corner + columns])
    return vertices, np.concatenate([lower, upper]).astype(np.int32)


def _color(model: Any, geom: int) -> tuple[float, float, float] | None:
    rgba = model.geom_rgba[geom]
    if np.allclose(rgba, NO_COLOR, atol=1e-6):
        if model.geom_matid[geom] < 0:
            return None
        rgba = model.mat_rgba[model.geom_matid[geom]]
    red, green, blue = (float(part) for part in rgba[:3])
    return red, green, blue
