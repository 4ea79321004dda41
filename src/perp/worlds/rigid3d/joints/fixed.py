"""Fixed joint: two bodies move as one, or nearly so. With softness, the links of a cable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.worlds import joints
from perp.problems.inputs import Vector, freeze
from perp.worlds.rigid3d.joints.ball import held_point
from perp.worlds.rigid3d.joints.joint import BendingJoint
from perp.worlds.rigid3d.joints.part import Part, Piece, Row, equation, turns_back
from perp.worlds.rigid3d.poses import WithWorld


@dataclass(frozen=True, eq=False)
class Fixed(BendingJoint):
    """`Fixed(body_a, body_b, anchor)`: three rows that hold the anchor, three that hold the orientation.

    C = (R_a^T (p_b - p_a), phi) [m, rad] with the rotation vector phi of b against a since the joint was made, along
    the axes of body a (kernels: `perp.kernels.worlds.joints`). A cable is a row of links with six soft rows between
    neighbours (THESIS 6.1): `stiffness` and `damping` against stretching and shearing, `bend_stiffness` and
    `bend_damping` against bending and twisting.
    """

    kind: ClassVar[str] = "fixed"

    def pieces(self) -> Iterator[Piece]:
        yield held_point(self)
        bend = self.bend_softness
        yield Piece(EqualOrientations, tuple(Row(equation(bend), f"turn {axis}", "rad", bend) for axis in "xyz"))


class EqualOrientations(Part):
    """Three rows a joint."""

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        super().__init__(joints, rows, made)
        self.rest: Vector = freeze(turns_back(self.bodies.reshape(-1, 2), made).reshape(-1))

    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        rotation, orientation = poses.rotation.reshape(-1), poses.orientation.reshape(-1)
        joints.keep_orientation(rotation, orientation, self.bodies, self.rest, self.first_row, jacobian, value)
