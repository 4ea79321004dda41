"""Ball joint: a point of one body stays at a point of the other; both turn freely about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.worlds import joints
from perp.problems.inputs import Vector, freeze
from perp.worlds.rigid3d.joints.joint import AnchoredJoint
from perp.worlds.rigid3d.joints.part import Part, Piece, Row, equation, local_anchors
from perp.worlds.rigid3d.poses import WithWorld


@dataclass(frozen=True, eq=False)
class Ball(AnchoredJoint):
    """`Ball(body_a, body_b, anchor)`: three rows that hold the point `anchor` of both bodies together.

    C = R_a^T (p_b - p_a) [m], along the axes of body a; the derivation of J is in `perp.kernels.worlds.joints`.
    """

    kind: ClassVar[str] = "ball"

    def pieces(self) -> Iterator[Piece]:
        yield held_point(self)


def held_point(joint: AnchoredJoint) -> Piece:
    """The three rows of every joint that has an anchor."""
    softness = joint.softness
    return Piece(HeldPoints, tuple(Row(equation(softness), label, "m", softness) for label in "xyz"))


class HeldPoints(Part):
    """Three rows a joint."""

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        super().__init__(joints, rows, made)
        self.arms: Vector = freeze(local_anchors(joints, made).reshape(-1))

    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        position, rotation = poses.position.reshape(-1), poses.rotation.reshape(-1)
        joints.hold_points(position, rotation, self.bodies, self.arms, self.first_row, jacobian, value)
