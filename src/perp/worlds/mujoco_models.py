"""MuJoCo models: MJCF from a text or a file, read with limits, and what the geoms of a model look like.

What a few lines of MJCF can ask for is not bounded by their length. MuJoCo's own parser limits the depth of elements
and checks their meaning. Left to us are sizes: `<replicate>` and `<composite>` make any number of bodies, a text may
name files of the machine it is read on, and NaN is accepted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.extras import mujoco
from perp.problems.inputs import Vector
from perp.recording.frame import Form, Shape

MAX_BYTES = 2**26
"""Of one MJCF file or text."""
MAX_FILES = 100
"""That include one another."""
MAX_DEPTH = 400
"""Of elements within elements; MuJoCo's own limit is 500."""
MAX_BODIES = 10_000

LEAST_FRICTION = 1e-5
"""MuJoCo raises smaller coefficients, zero as well, to this one; in perp's worlds they are zero."""


def load_model(source: str | os.PathLike[str]) -> Any:
    """The compiled model (`mujoco.MjModel`) of an MJCF text (it has a "<"), or of a file with such a text."""
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source is {type(source).__name__}; an MJCF text or the path of a file is needed")
    is_text = isinstance(source, str) and "<" in source
    try:
        if is_text:
            text = str(source)
            _scan(_limited(text.encode("utf-8", errors="replace"), "the MJCF text"), None)
            model = mujoco.MjModel.from_xml_string(text)
        else:
            path = Path(source)
            _scan(_read(path), path)
            model = mujoco.MjModel.from_xml_path(str(path))
    except InvalidProblem:
        raise
    except (ValueError, mujoco.FatalError) as error:
        raise InvalidProblem(f"MuJoCo does not read this model: {str(error).strip()}") from None
    require_sound(model)
    return model


def require_sound(model: Any) -> None:
    """Finite numbers wherever a step reads them, and not more bodies than `MAX_BODIES`."""
    if model.nbody - 1 > MAX_BODIES:
        raise InvalidProblem(f"the model has {model.nbody - 1} bodies; at most {MAX_BODIES} are taken")
    for name in ("qpos0", "body_pos", "body_quat", "body_mass", "body_inertia", "geom_pos", "geom_quat", "geom_size"):
        numbers = np.asarray(getattr(model, name))
        if not np.isfinite(numbers).all():
            place = np.argwhere(~np.isfinite(numbers))[0]
            raise InvalidProblem(f"{name}[{','.join(map(str, place))}] of the model is {numbers[tuple(place)]}")


def _scan(content: bytes, path: Path | None) -> None:
    """Raise where the text, or a file that it includes, is too deep, asks for too many bodies, or has a NaN."""
    pending, files, bodies = [(content, path)], 1, 0
    while pending:
        content, place = pending.pop()
        for element, copies in _elements(content, "the MJCF text" if place is None else place.name):
            if element.tag == "body":
                bodies += copies
            elif element.tag == "composite":
                bodies += copies * prod(max(1, _whole(word)) for word in element.get("count", "1").split())
            elif element.tag == "include":
                if place is None:
                    raise InvalidProblem("an MJCF text must not <include> files: give the path of a file instead")
                pending.append((_read(_path_of(element, place)), place))
                files += 1
            if bodies > MAX_BODIES or files > MAX_FILES:
                what = f"{MAX_BODIES} bodies" if bodies > MAX_BODIES else f"{MAX_FILES} included files"
                raise InvalidProblem(f"the model has more than {what}")


def _path_of(include: ElementTree.Element, place: Path) -> Path:
    """MuJoCo looks for every included file from the folder of the first one."""
    return place.parent / include.get("file", "")


def _elements(content: bytes, name: str) -> Iterator[tuple[ElementTree.Element, int]]:
    """Every element as it begins, and how often `<replicate>` elements around it repeat it."""
    copies = [1]
    try:
        for event, element in ElementTree.iterparse(BytesIO(content), events=("start", "end")):
            if event == "end":
                copies.pop()
                element.clear()
                continue
            if len(copies) > MAX_DEPTH:
                raise InvalidProblem(f"{name}: elements are nested more than {MAX_DEPTH} deep")
            for attribute, value in element.attrib.items():
                if "nan" in value.lower().split():
                    raise InvalidProblem(f"{name}: {attribute} of <{element.tag}> is {value!r}")
            yield element, copies[-1]
            repeats = _whole(element.get("count", "1")) if element.tag == "replicate" else 1
            copies.append(copies[-1] * max(1, repeats))
    except ElementTree.ParseError as error:
        raise InvalidProblem(f"{name} is not XML: {error}") from None


def _whole(word: str) -> int:
    """What MuJoCo will read, or 1 where it will refuse the word itself."""
    try:
        return int(float(word))
    except (ValueError, OverflowError):
        return 1


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidProblem(f"{path.name} has more than {MAX_BYTES // 2**20} MiB")
        return _limited(path.read_bytes(), path.name)
    except OSError as error:
        raise InvalidProblem(f"{path} cannot be read: {error.strerror}") from None


def _limited(content: bytes, name: str) -> bytes:
    if len(content) > MAX_BYTES:
        raise InvalidProblem(f"{name} has more than {MAX_BYTES // 2**20} MiB")
    return content


# What the geoms of a model look like: shapes for a picture, in the frames that `perp.recording` wants.

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
