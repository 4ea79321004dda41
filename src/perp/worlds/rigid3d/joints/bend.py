"""Bend: a spring and a damper against the turning of one body against another; points are free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from perp.worlds.rigid3d.joints.fixed import EqualOrientations
from perp.worlds.rigid3d.joints.joint import AnchoredJoint
from perp.worlds.rigid3d.joints.part import Piece, Row, equation


@dataclass(frozen=True, eq=False)
class Bend(AnchoredJoint):
    """`Bend(body_a, body_b, anchor, stiffness=, damping=)`: three rows that hold the orientation, as soft as one likes.

    C = phi [rad], the rotation vector of b against a since the joint was made, along the axes of body a
    (`perp.kernels.joints_turns`). Its `stiffness` is in N m/rad, its `damping` in N m s/rad. Beside a ball or a
    universal joint it is the friction in it, or its elasticity; the anchor only says where the two meet.
    """

    kind: ClassVar[str] = "bend"

    def pieces(self) -> Iterator[Piece]:
        softness = self.softness
        rows = tuple(Row(equation(softness), f"turn {axis}", "rad", softness) for axis in "xyz")
        yield Piece(EqualOrientations, rows)
