"""The discs of a world and how they start, the walls that do not move, and numbers of both as a caller gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_matrix, as_vector, freeze, require_number, require_share
from perp.recording.frame import Shape
from perp.vocabulary import explains_arguments
from perp.worlds.read_only_arrays import KeepsReadOnly


@explains_arguments()
class Discs(KeepsReadOnly):
    """n discs in the plane. All but `position` may be one number (or one vector) for all.

    Parameters
    ----------
    position
        n x 2 centres [m].
    radius, mass
        [m], [kg]; a disc with mass inf does not move.
    inertia
        About the centre [kg m^2]; that of a solid disc, 1/2 m r^2, where none is given.
    angle, velocity, spin
        [rad], n x 2 [m/s], [rad/s] at the beginning.
    friction, restitution
        Of the surface. Two surfaces have the geometric mean of their coefficients of friction, so that one without
        friction slides on everything, and the larger restitution of the two.
    """

    def __init__(
        self,
        position: Any,
        radius: Any,
        mass: Any = 1.0,
        *,
        inertia: Any = None,
        angle: Any = 0.0,
        velocity: Any = 0.0,
        spin: Any = 0.0,
        friction: Any = 0.5,
        restitution: Any = 0.0,
    ) -> None:
        self.position: NDArray[np.float64] = points(position, "position")
        n = len(self.position)
        self.radius: Vector = one_each_positive(radius, "radius", n)
        self.mass: Vector = one_each_positive(mass, "mass", n, infinite=True)
        self.moves: NDArray[np.bool_] = freeze(np.isfinite(self.mass))
        solid = np.where(self.moves, 0.5 * self.mass * self.radius**2, np.inf) if inertia is None else inertia
        given = one_each_positive(solid, "inertia", n, infinite=True)
        self.inertia: Vector = freeze(np.where(self.moves, given, np.inf))
        self.angle: Vector = one_each(angle, "angle", n)
        self.velocity: NDArray[np.float64] = points(velocity, "velocity", n)
        self.spin: Vector = one_each(spin, "spin", n)
        driven = np.flatnonzero(~self.moves & (self.velocity.any(axis=1) | (self.spin != 0.0)))
        if driven.size:
            raise InvalidProblem(f"velocity[{driven[0]}] is not zero, but mass[{driven[0]}] is inf: it does not move")
        self.friction: Vector = one_each_within(friction, "friction", n, 0.0)
        self.restitution: Vector = one_each_within(restitution, "restitution", n, 0.0, 1.0)
        self.surface: Vector = pack(self.friction, self.restitution)
        self.inverse_mass: Vector = freeze(1.0 / self.mass)

    def __len__(self) -> int:
        return self.radius.size


# What does not move: half-planes and segments.


@explains_arguments()
@dataclass(frozen=True, eq=False)
class HalfPlane:
    """Everything behind a straight edge: solid however deep a disc is in it.

    `point` lies on the edge [m], `normal` points outward (it may have any length); `friction` is a coefficient,
    `restitution` lies in 0..1.
    """

    point: Any
    normal: Any
    friction: float = 0.5
    restitution: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", one_point(self.point, "point"))
        normal = one_point(self.normal, "normal")
        length = float(np.hypot(*normal))
        if not (0.0 < length < np.inf and np.isfinite(1.0 / length)):
            raise InvalidProblem(f"normal is {normal.tolist()}; a direction is needed")
        object.__setattr__(self, "normal", freeze(normal / length))
        _require_surface(self)

    @property
    def shape(self) -> Shape:
        return Shape("half_plane", -1, position=np.zeros(2), vertices=np.stack([self.point, self.normal]))


@explains_arguments()
@dataclass(frozen=True, eq=False)
class Segment:
    """A line between two points, without thickness: discs touch it from both sides, and at its ends.

    `start` and `end` in [m]; `friction` is a coefficient, `restitution` lies in 0..1. A disc that crosses more than its
    radius in one step is on the other side then.
    """

    start: Any
    end: Any
    friction: float = 0.5
    restitution: float = 0.0

    def __post_init__(self) -> None:
        start, end = one_point(self.start, "start"), one_point(self.end, "end")
        squared = float(np.sum((end - start) ** 2))
        if not (squared > 0.0 and np.isfinite(squared) and np.isfinite(1.0 / squared)):
            raise InvalidProblem(f"start is {start.tolist()} and end {end.tolist()}; two different points are needed")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)
        _require_surface(self)

    @property
    def shape(self) -> Shape:
        return Shape("segment", -1, position=np.zeros(2), vertices=np.stack([self.start, self.end]))


Wall = HalfPlane | Segment


class Walls(KeepsReadOnly):
    """All walls of a world, as kernels read them."""

    def __init__(self, walls: Sequence[Wall]) -> None:
        for place, wall in enumerate(walls):
            if not isinstance(wall, Wall):
                raise TypeError(f"walls[{place}] is {type(wall).__name__}; HalfPlane or Segment is needed")
        self.walls: tuple[Wall, ...] = tuple(walls)
        ends = [(*w.start, *w.end) if isinstance(w, Segment) else (*w.point, *w.normal) for w in self.walls]
        self.numbers: Vector = freeze(np.array(ends, dtype=np.float64).reshape(-1))
        self.is_segment: NDArray[np.bool_] = freeze(np.array([isinstance(w, Segment) for w in self.walls], dtype=bool))
        surfaces = np.array([(w.friction, w.restitution) for w in self.walls], dtype=np.float64).reshape(-1, 2)
        self.surface: Vector = pack(surfaces[:, 0], surfaces[:, 1])

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(wall.shape for wall in self.walls)


def _require_surface(wall: Wall) -> None:
    require_number(wall.friction, "friction")
    require_share(wall.restitution, "restitution")


# Numbers of bodies and walls: one for all or one each; checked, then read-only.


def one_each(value: Any, name: str, count: int, *, infinite: bool = False) -> Vector:
    """A number for all, or `count` of them."""
    return as_vector(np.full(count, value) if np.ndim(value) == 0 else value, name, count, infinite=infinite)


def one_each_within(value: Any, name: str, count: int, least: float, most: float = np.inf) -> Vector:
    """The same, each of at least `least` and at most `most`."""
    numbers = one_each(value, name, count)
    bad = np.flatnonzero((numbers < least) | (numbers > most))
    if bad.size:
        limits = f"at least {least:g}" if np.isinf(most) else f"in {least:g}..{most:g}"
        raise InvalidProblem(f"{name}[{bad[0]}] is {numbers[bad[0]]}; a number {limits} is needed")
    return numbers


def one_each_positive(value: Any, name: str, count: int, *, infinite: bool = False) -> Vector:
    """The same, each above zero, and not so near to it that its inverse would be infinite."""
    numbers = one_each(value, name, count, infinite=infinite)
    with np.errstate(divide="ignore", over="ignore"):
        bad = np.flatnonzero(~((numbers > 0.0) & np.isfinite(1.0 / numbers)))
    if bad.size:
        raise InvalidProblem(f"{name}[{bad[0]}] is {numbers[bad[0]]}; a positive number is needed")
    return numbers


def points(value: Any, name: str, count: int | None = None) -> NDArray[np.float64]:
    """One point (x, y) each; for a given count also one vector for all, or the number zero."""
    if count is not None and np.ndim(value) < 2:
        given = np.asarray(value)
        if given.ndim == 0 and given != 0:
            raise TypeError(f"{name} is {value!r}; vectors (x, y) are needed")
        value = np.tile(given if given.ndim else np.zeros(2), (count, 1))
    matrix = as_matrix(value, name)
    if matrix.shape[1] != 2 or (count is not None and matrix.shape[0] != count):
        raise InvalidProblem(f"{name} has shape {matrix.shape}; {'n' if count is None else count} x 2 is needed")
    return matrix


def one_point(value: Any, name: str) -> Vector:
    return as_vector(value, name, 2)


def pack(*columns: Vector) -> Vector:
    """Columns side by side, flat and read-only: what kernels read."""
    return freeze(np.column_stack(columns).reshape(-1).astype(np.float64))
