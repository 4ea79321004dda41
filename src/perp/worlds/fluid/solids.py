"""Solid walls as signed distances: negative inside the solid, positive where there is room for liquid.

Any function of points (n x d, [m]) that returns n distances will do; these are ready-made. A tank is the inside of a
shape: all around it is solid.

    tank = Turned(BoxTank((0, 0), (1, 1)), angle=0.3, centre=(0.5, 0.5))
    tank_with_pillar = Union(tank, Ball((0.5, 0.2), 0.1))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_vector, freeze, require_number, require_real

Points = NDArray[np.float64]
Distance = Callable[[Points], Vector]


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Everything behind a plane (in two dimensions, a line) through `point`; `normal` points away from the solid."""

    point: Any
    normal: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", as_vector(self.point, "point"))
        normal = as_vector(self.normal, "normal", self.point.size)
        largest = float(np.abs(normal).max(initial=0.0))
        if not largest > 0.0:
            raise InvalidProblem(f"normal is {normal.tolist()}; a direction is needed")
        normal = normal / largest  # squares of what was given may be too large, or too small, for a number
        object.__setattr__(self, "normal", freeze(normal / np.linalg.norm(normal)))

    def __call__(self, points: Points) -> Vector:
        _require_axes(points, self.point)
        distance: Vector = (points - self.point) @ self.normal
        return distance


@dataclass(frozen=True, eq=False)
class Ball:
    """A solid ball (in two dimensions, a disc)."""

    centre: Any
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", as_vector(self.centre, "centre"))
        require_number(self.radius, "radius", positive=True)

    def __call__(self, points: Points) -> Vector:
        _require_axes(points, self.centre)
        distance: Vector = np.linalg.norm(points - self.centre, axis=1) - self.radius
        return distance


@dataclass(frozen=True, eq=False)
class Box:
    """A solid box between two corners."""

    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", as_vector(self.lower, "lower"))
        object.__setattr__(self, "upper", as_vector(self.upper, "upper", self.lower.size))
        flat = np.flatnonzero(~(self.lower < self.upper))
        if flat.size:
            i = flat[0]
            raise InvalidProblem(f"lower[{i}] is {self.lower[i]} and upper[{i}] {self.upper[i]}; a box has an inside")

    def __call__(self, points: Points) -> Vector:
        _require_axes(points, self.lower)
        beyond = np.maximum(self.lower - points, points - self.upper)  # along each axis, negative between the two
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        distance: Vector = outside + np.minimum(beyond.max(axis=1), 0.0)
        return distance


@dataclass(frozen=True)
class Complement:
    """Solid where another one is not: the inside of a ball becomes a tank."""

    solid: Distance

    def __call__(self, points: Points) -> Vector:
        return -self.solid(points)


@dataclass(frozen=True, init=False)
class Union:
    """Solid where one of several solids is. Outside of them the distance is exact."""

    solids: tuple[Distance, ...]

    def __init__(self, *solids: Distance) -> None:
        object.__setattr__(self, "solids", _at_least_one(solids))

    def __call__(self, points: Points) -> Vector:
        distance: Vector = np.min([solid(points) for solid in self.solids], axis=0)
        return distance


@dataclass(frozen=True, init=False)
class Intersection:
    """Solid where all of several solids are. Inside of them the distance is exact."""

    solids: tuple[Distance, ...]

    def __init__(self, *solids: Distance) -> None:
        object.__setattr__(self, "solids", _at_least_one(solids))

    def __call__(self, points: Points) -> Vector:
        distance: Vector = np.max([solid(points) for solid in self.solids], axis=0)
        return distance


@dataclass(frozen=True, eq=False)
class Turned:
    """A solid turned by `angle` [rad] about `centre`, from the first axis to the last one (`axes` names others)."""

    solid: Distance
    angle: float
    centre: Any
    axes: tuple[int, int] = (0, -1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", as_vector(self.centre, "centre"))
        require_real(self.angle, "angle")
        if not np.isfinite(self.angle):
            raise InvalidProblem(f"angle is {self.angle}; a finite number is needed")
        d = self.centre.size
        if len(self.axes) != 2 or not all(-d <= axis < d for axis in self.axes) or self.axes[0] % d == self.axes[1] % d:
            raise InvalidProblem(f"axes is {self.axes}; two of the {d} that centre has are needed")

    def __call__(self, points: Points) -> Vector:
        _require_axes(points, self.centre)
        first, second = self.axes
        cosine, sine = np.cos(self.angle), np.sin(self.angle)
        arm = points - self.centre
        back = arm.copy()
        back[:, first] = cosine * arm[:, first] + sine * arm[:, second]
        back[:, second] = cosine * arm[:, second] - sine * arm[:, first]
        return self.solid(back + self.centre)


def BoxTank(lower: Any, upper: Any) -> Complement:
    """The inside of a box; all around it is solid."""
    return Complement(Box(lower, upper))


def BallTank(centre: Any, radius: float) -> Complement:
    """The inside of a ball (in two dimensions, of a circle); all around it is solid."""
    return Complement(Ball(centre, radius))


def _require_axes(points: Points, place: Vector) -> None:
    if points.shape[1] != place.size:
        raise InvalidProblem(f"a solid at {place.tolist()} has {place.size} axes; points have {points.shape[1]}")


def _at_least_one(solids: tuple[Distance, ...]) -> tuple[Distance, ...]:
    if not solids:
        raise InvalidProblem("no solid is given; at least one is needed")
    return solids
