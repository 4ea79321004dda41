"""What does not move: half-planes and segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, freeze, require_number, require_share
from perp.recording.frame import Shape
from perp.worlds.read_only_arrays import KeepsReadOnly
from perp.worlds.rigid2d.numbers import one_point, pack


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
