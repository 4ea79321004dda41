"""Bend: springs and dampers against the bending of two bodies about one another; points and twist are free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from perp.worlds.rigid3d.joints.hinge import ParallelAxes
from perp.worlds.rigid3d.joints.joint import AnchoredJoint, as_axis
from perp.worlds.rigid3d.joints.part import Piece, Row, equation


@dataclass(frozen=True, eq=False)
class Bend(AnchoredJoint):
    """`Bend(body_a, body_b, anchor, axis, stiffness=, damping=)`: two rows that keep an axis of both parallel, as soft
    as one likes.

    C = (t_1 . u_b, t_2 . u_b) [rad], as in a `Hinge`: the axis u of body b and two directions t across the axis of body
    a (`perp.kernels.worlds.joints`); for small angles the bending about t_2 and t_1. `stiffness` is in N m/rad,
    `damping` in N m s/rad. Beside the four rows of a `Universal` with both axes across this one, it is the friction or
    the elasticity of that joint. The anchor only says where the two bodies meet.
    """

    kind: ClassVar[str] = "bend"

    axis: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", as_axis(self.axis, "axis"))

    def pieces(self) -> Iterator[Piece]:
        softness = self.softness
        rows = tuple(Row(equation(softness), label, "rad", softness) for label in ("tilt 1", "tilt 2"))
        yield Piece(ParallelAxes, rows)
