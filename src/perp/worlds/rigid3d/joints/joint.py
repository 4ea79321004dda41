"""What a user says about a joint, and how it is checked.

A joint has bodies, points and axes of the world at the moment when it is made, and a way to give way. Rows that hold
points have `stiffness` [N/m], `damping` [N s/m] and `compliance` [(m/s)/(N s)]; rows that hold orientations have
`bend_stiffness` [N m/rad], `bend_damping` [N m s/rad] and `bend_compliance` [(rad/s)/(N m s)], and where none of these
three is given, the numbers of the points, in their own units. Without stiffness and damping rows are rigid and take
back the share `error_reduction` of their violation in a step (THESIS eq. 2.20-2.27, `perp.problems.constraint_rows`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.constraint_rows import CORRECTED, Softness
from perp.problems.inputs import Vector, as_vector, freeze, require_count, require_number, require_share
from perp.worlds.rigid3d.joints.part import Piece

WORLD = -1


@dataclass(frozen=True, eq=False)
class Joint(ABC):
    """Two different bodies, of which one may be the world (-1)."""

    kind: ClassVar[str]

    body_a: int
    body_b: int
    _: KW_ONLY
    stiffness: float | None = None
    damping: float | None = None
    compliance: float = 0.0
    error_reduction: float = CORRECTED

    def __post_init__(self) -> None:
        for name in ("body_a", "body_b"):
            body = getattr(self, name)
            require_count(body, name, least=WORLD)
            object.__setattr__(self, name, int(body))
        if self.body_a == self.body_b:
            what = "the world" if self.body_a == WORLD else f"body {self.body_a}"
            raise InvalidProblem(f"body_a and body_b are both {self.body_a}: {what} cannot be joined to itself")
        require_share(self.error_reduction, "error_reduction")
        check_softness(self.softness, "")

    @property
    def softness(self) -> Softness:
        """How points give way."""
        return Softness(
            stiffness=self.stiffness,
            damping=self.damping,
            error_reduction=self.error_reduction,
            compliance=self.compliance,
        )

    @property
    @abstractmethod
    def anchors(self) -> tuple[Vector, Vector]:
        """The points of a and of b that it joins, in the world when it was made [m]."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Its rows."""


@dataclass(frozen=True, eq=False)
class AnchoredJoint(Joint):
    """A joint that holds a point of a and a point of b together."""

    anchor: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "anchor", as_point(self.anchor, "anchor"))

    @property
    def anchors(self) -> tuple[Vector, Vector]:
        return self.anchor, self.anchor


@dataclass(frozen=True, eq=False)
class BendingJoint(AnchoredJoint):
    """A joint that holds orientations as well."""

    _: KW_ONLY
    bend_stiffness: float | None = None
    bend_damping: float | None = None
    bend_compliance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_softness(self.bend_softness, "bend_")

    @property
    def bend_softness(self) -> Softness:
        """How orientations give way."""
        if self.bend_stiffness is None and self.bend_damping is None and self.bend_compliance is None:
            return self.softness
        return Softness(
            stiffness=self.bend_stiffness,
            damping=self.bend_damping,
            error_reduction=self.error_reduction,
            compliance=0.0 if self.bend_compliance is None else self.bend_compliance,
        )


def as_point(value: Any, name: str) -> Vector:
    point = as_vector(value, name)
    if point.size != 3:
        raise InvalidProblem(f"{name} has {point.size} numbers; three are needed")
    return point


def as_axis(value: Any, name: str) -> Vector:
    """A direction, brought to length one."""
    axis = as_point(value, name)
    largest = np.abs(axis).max()
    if largest == 0.0:
        raise InvalidProblem(f"{name} is {axis.tolist()}: a zero vector has no direction")
    scaled = axis / largest  # first, because squares of tiny and of huge numbers are no numbers
    return freeze(scaled / np.linalg.norm(scaled))


def check_softness(softness: Softness, prefix: str) -> None:
    """Raise where `JointRows` would, but when the joint is made."""
    for name in ("stiffness", "damping", "compliance"):
        value = getattr(softness, name)
        if value is not None:
            require_number(value, prefix + name)
    if softness.is_rigid:
        return
    if softness.compliance != 0.0:
        raise InvalidProblem(
            f"{prefix}compliance is {softness.compliance}, but stiffness and damping give a row its own: leave it at 0"
        )
    if not (softness.stiffness or softness.damping):
        raise InvalidProblem(f"{prefix}stiffness and {prefix}damping are both zero: such a joint does nothing")
