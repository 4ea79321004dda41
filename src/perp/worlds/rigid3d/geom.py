"""One shape of a body as a user says it, and how it is checked before MuJoCo hears of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem, suggest

Numbers = Sequence[float] | NDArray[np.float64]

SIZES = {
    "box": ("half edge along x", "half edge along y", "half edge along z"),
    "sphere": ("radius",),
    "capsule": ("radius", "half length along z"),
    "cylinder": ("radius", "half length along z"),
    "ellipsoid": ("half axis along x", "half axis along y", "half axis along z"),
    "plane": ("half edge along x", "half edge along y"),
}
"""What the numbers of `size` mean; a mesh has none."""

GROUPS = 31
"""Of shapes: the bits of a positive number of MuJoCo's."""

GRID = 0.1
"""A third number that MuJoCo wants of a plane: the spacing of its picture's lines."""

SHORTEST = 1e-10
"""MuJoCo makes quaternions unit ones, but takes shorter ones for no turn at all."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Geom:
    """One shape of a body. `form`: "box" (half edges), "sphere" (radius), "capsule" and "cylinder" (radius, half length
    along z), "ellipsoid" (half axes), "plane" (fixed bodies only), "mesh" (the convex hull of `vertices`)."""

    form: str
    size: Numbers | float = ()
    """[m]; a sphere may have its radius alone, without brackets."""
    position: Numbers = (0.0, 0.0, 0.0)
    """In the frame of the body [m]."""
    orientation: Numbers = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion (w, x, y, z) in that frame."""
    mass: float | None = None
    """[kg]; needed for bodies that move."""
    friction: float = 0.5
    """Coefficient; of two shapes the larger one counts."""
    restitution: float = 0.0
    """Of two shapes the larger one counts."""
    vertices: Any = None
    """m x 3 [m], for a mesh."""
    color: Sequence[float] | None = None
    """Red, green, blue in 0..1."""
    collides: bool = True
    group: int = 0
    """0..30. Two shapes pass through one another if each avoids the group of the other, as the links of a cable."""
    avoids: Sequence[int] = ()
    """Groups; its own may be among them."""


@dataclass(frozen=True, eq=False)
class CheckedGeom:
    """A shape that nothing is wrong with."""

    form: str
    words: dict[str, Any]
    """For MuJoCo's `add_geom`, but for type and names."""
    restitution: float
    vertices: NDArray[np.float64] | None


def as_list(geoms: Geom | Sequence[Geom]) -> list[Geom]:
    """One shape is a list of one."""
    listed = [geoms] if isinstance(geoms, Geom) else list(geoms)
    for place, geom in enumerate(listed):
        if not isinstance(geom, Geom):
            raise TypeError(f"geoms[{place}] is {geom!r}; a Geom is needed")
    return listed


def check_geom(geom: Geom, owner: str, *, moves: bool) -> CheckedGeom:
    """Raise where a number is missing or makes no sense; the message begins with the owner's name."""
    form = geom.form
    if form not in SIZES and form != "mesh":
        raise InvalidProblem(f"{owner}: form {form!r} is unknown{suggest(str(form), [*SIZES, 'mesh'])}")
    if moves and form == "plane":
        raise InvalidProblem(f"{owner}: a plane cannot move")
    what = f"of a {form}"
    if moves and not (_is_number(geom.mass) and float(geom.mass or 0.0) > 0.0):
        raise InvalidProblem(f"{owner}: mass {what} is {geom.mass}; a positive number is needed")
    if geom.mass is not None and not (_is_number(geom.mass) and float(geom.mass) >= 0.0):
        raise InvalidProblem(f"{owner}: mass {what} is {geom.mass}; a positive number is needed")
    if not (_is_number(geom.friction) and geom.friction >= 0.0):
        raise InvalidProblem(f"{owner}: friction {what} is {geom.friction}; a coefficient must not be negative")
    if not (_is_number(geom.restitution) and 0.0 <= geom.restitution <= 1.0):
        raise InvalidProblem(f"{owner}: restitution {what} is {geom.restitution}; a number in 0..1 is needed")
    meets, met = _collision_bits(geom, owner)
    words: dict[str, Any] = {
        "pos": finite(geom.position, f"{owner}: position {what}", 3),
        "quat": turn(geom.orientation, f"{owner}: orientation {what}"),
        "friction": [float(geom.friction), 0.0, 0.0],
        "condim": 3,
        "contype": meets,
        "conaffinity": met,
    }
    if geom.mass is not None:
        words["mass"] = float(geom.mass)
    if geom.color is not None:
        words["rgba"] = [*finite(geom.color, f"{owner}: color {what}", 3), 1.0]
    if form == "mesh":
        return CheckedGeom(form, words, float(geom.restitution), _vertices(geom.vertices, owner))
    words["size"] = _size(geom, owner)
    return CheckedGeom(form, words, float(geom.restitution), None)


def finite(value: Any, name: str, size: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; {size} numbers are needed") from None
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise InvalidProblem(f"{name} is {value}; {size} finite numbers are needed")
    return numbers


def turn(value: Any, name: str) -> NDArray[np.float64]:
    """A quaternion (w, x, y, z) of any length but zero."""
    quaternion = finite(value, name, 4)
    if np.linalg.norm(quaternion) < SHORTEST:
        raise InvalidProblem(f"{name} is {value}; a unit quaternion is needed, (1, 0, 0, 0) for no turn")
    return quaternion


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and bool(np.isfinite(float(value)))


def _size(geom: Geom, owner: str) -> list[float]:
    """The three numbers that MuJoCo wants, of those that the form has."""
    meaning = SIZES[geom.form]
    needed = f"a {geom.form} needs {len(meaning)} number{'s' if len(meaning) > 1 else ''}: {', '.join(meaning)} [m]"
    try:
        size = np.atleast_1d(np.asarray(geom.size, dtype=np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: size is {geom.size!r}; {needed}") from None
    if size.shape != (len(meaning),):
        raise InvalidProblem(f"{owner}: size is {geom.size}; {needed}")
    if not (np.isfinite(size).all() and (size > 0.0).all()):
        raise InvalidProblem(f"{owner}: size of a {geom.form} is {geom.size}; positive lengths are needed")
    return [*size, *([GRID] if geom.form == "plane" else [0.0] * (3 - size.size))]


def _vertices(value: Any, owner: str) -> NDArray[np.float64]:
    try:
        points = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
        raise InvalidProblem(f"{owner}: a mesh needs at least four vertices, finite, m x 3")
    return points


def _collision_bits(geom: Geom, owner: str) -> tuple[int, int]:
    """What a shape is, and what it meets: MuJoCo lets two of them collide if either one meets the other."""
    if isinstance(geom.avoids, Integral | str):
        raise TypeError(f"{owner}: avoids is {geom.avoids!r}; a list of groups is needed, as [{geom.avoids}]")
    groups: list[Any] = [geom.group, *geom.avoids]
    for number in groups:
        if not isinstance(number, Integral) or not 0 <= int(number) < GROUPS:
            raise InvalidProblem(
                f"{owner}: group {number} of a {geom.form} is unknown; there are groups 0 to {GROUPS - 1}"
            )
    if not geom.collides:
        return 0, 0
    avoided = 0
    for group in geom.avoids:
        avoided |= 1 << group
    return 1 << geom.group, ((1 << GROUPS) - 1) & ~avoided
