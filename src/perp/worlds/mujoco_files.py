"""MJCF from a text or a file, read with limits: what a few lines can ask for is not bounded by their length.

MuJoCo's own parser limits the depth of elements and checks their meaning. Left to us are sizes: `<replicate>` and
`<composite>` make any number of bodies, a text may name files of the machine it is read on, and NaN is accepted.
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

from perp.errors import InvalidProblem
from perp.extras import mujoco

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
