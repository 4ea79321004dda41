"""What a user says about a joint, how it is checked, and the parts that compute its rows.

A joint has bodies, points and axes of the world at the moment when it is made, and a way to give way. Rows that hold
points have `stiffness` [N/m], `damping` [N s/m] and `compliance` [(m/s)/(N s)]; rows that hold orientations have
`bend_stiffness` [N m/rad], `bend_damping` [N m s/rad] and `bend_compliance` [(rad/s)/(N m s)], and where none of these
three is given, the numbers of the points, in their own units. Without stiffness and damping rows are rigid and take
back the share `error_reduction` of their violation in a step (THESIS eq. 2.20-2.27, `perp.problems.constraint_rows`).

A `Part` has the rows of one kind, of all joints that have them: arrays that a kernel reads, filled once, when the
joints are made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import IntEnum
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.constraint_rows import CORRECTED, Softness
from perp.problems.inputs import Vector, as_vector, freeze, require_count, require_number, require_share
from perp.worlds.read_only_arrays import KeepsReadOnly
from perp.worlds.rigid3d.poses import WithWorld

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


class Group(IntEnum):
    """What rows become; this is their order in a problem."""

    RIGID = 0
    SOFT = 1
    RIGID_LIMIT = 2
    SOFT_LIMIT = 3
    MOTOR = 4


EQUATIONS = (Group.RIGID, Group.SOFT)
LIMITS = (Group.RIGID_LIMIT, Group.SOFT_LIMIT)

Unit = Literal["m", "rad"]
UNITS: tuple[Unit, ...] = ("m", "rad")


@dataclass(frozen=True)
class Row:
    """One row of one joint."""

    group: Group
    label: str
    unit: Unit
    softness: Softness


@dataclass(frozen=True)
class Piece:
    """Rows of one joint that one part computes; None where the joint has no such row."""

    part: type[Part]
    rows: tuple[Row | None, ...]


class Part(KeepsReadOnly, ABC):
    """Rows of one kind.

    `rows` (joints x width) says where they go in the arrays of a step: twelve numbers a row in `jacobian`, one in
    `value`. The rows that a joint does not have are written to the last place, which is never read.
    """

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        self.bodies: NDArray[np.uint32] = freeze(body_numbers(joints, len(made.position) - 1).reshape(-1))
        self.rows: NDArray[np.uint32] = freeze(rows.reshape(-1))
        self.first_row: NDArray[np.uint32] = freeze(np.ascontiguousarray(rows[:, 0]))

    @abstractmethod
    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        """Write J and C of these rows."""


def body_numbers(joints: Sequence[Joint], world: int) -> NDArray[np.uint32]:
    """Bodies a and b of each joint; the world has the number after the last body."""
    pairs = np.array([(joint.body_a, joint.body_b) for joint in joints], dtype=np.int64).reshape(-1, 2)
    return np.where(pairs < 0, world, pairs).astype(np.uint32)


def local_vectors(bodies: NDArray[np.uint32], vectors: Any, made: WithWorld) -> NDArray[np.float64]:
    """R^T u of vectors of the world, one a body."""
    turned: NDArray[np.float64] = np.einsum("mji,mj->mi", made.rotation[bodies], np.reshape(vectors, (-1, 3)))
    return turned


def local_anchors(joints: Sequence[Joint], made: WithWorld) -> NDArray[np.float64]:
    """Arms from the centres of mass to the anchors, in the frames of the bodies: joints x (a, b) x 3 [m]."""
    bodies = body_numbers(joints, len(made.position) - 1).reshape(-1)
    points = np.array([joint.anchors for joint in joints]).reshape(-1, 3)
    return local_vectors(bodies, points - made.position[bodies], made).reshape(-1, 2, 3)


def turns_back(bodies: NDArray[np.uint32], made: WithWorld) -> NDArray[np.float64]:
    """conj(q_b) q_a of pairs of bodies: four numbers a joint."""
    (s_a, *v_a), (s_b, *v_b) = (made.orientation[bodies[:, side]].T for side in (0, 1))
    vector_a, vector_b = np.array(v_a).T, np.array(v_b).T
    turn = np.empty((len(bodies), 4))
    turn[:, 0] = s_b * s_a + (vector_b * vector_a).sum(axis=1)
    turn[:, 1:] = s_b[:, None] * vector_a - s_a[:, None] * vector_b - np.cross(vector_b, vector_a)
    return turn


def equation(softness: Softness) -> Group:
    return Group.RIGID if softness.is_rigid else Group.SOFT
