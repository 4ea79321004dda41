"""Rows of one kind, of all joints that have them: arrays that a kernel reads, filled once, when the joints are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from perp.problems.constraint_rows import Softness
from perp.problems.inputs import Vector, freeze
from perp.worlds.read_only_arrays import KeepsReadOnly
from perp.worlds.rigid3d.poses import WithWorld

if TYPE_CHECKING:
    from perp.worlds.rigid3d.joints.joint import Joint


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
    `value`. The rows that a joint does not have are written to the last place, which nobody reads.
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
