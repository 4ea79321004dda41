"""Universal joint: a cross of two axes, one fixed in each body. Links of a chain, cardan shafts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.worlds import joints
from perp.problems.inputs import Vector, freeze
from perp.worlds.rigid3d.joints.ball import held_point
from perp.worlds.rigid3d.joints.joint import BendingJoint, as_axis
from perp.worlds.rigid3d.joints.part import Part, Piece, Row, equation, local_vectors
from perp.worlds.rigid3d.poses import WithWorld

PARALLEL = 1e-6
"""The least sine of the angle between two axes: below it J has no digits left."""


@dataclass(frozen=True, eq=False)
class Universal(BendingJoint):
    """`Universal(body_a, body_b, anchor, axis_a, axis_b)`: three rows that hold the anchor, one that keeps the axes at
    the angle beta that they have when the joint is made, a right one as a rule.

    C = (R_a^T (p_b - p_a), (u_a . u_b - cos beta) / sin beta) [m, rad] (kernels: `perp.kernels.worlds.joints`).
    The bodies bend about both axes and transmit spin about the normal of their plane.
    """

    kind: ClassVar[str] = "universal"

    axis_a: Any
    axis_b: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("axis_a", "axis_b"):
            object.__setattr__(self, name, as_axis(getattr(self, name), name))
        sine = np.linalg.norm(np.cross(self.axis_a, self.axis_b))
        if sine < PARALLEL:
            raise InvalidProblem(
                f"axis_a {self.axis_a.tolist()} and axis_b {self.axis_b.tolist()} are parallel: use a Hinge"
            )

    def pieces(self) -> Iterator[Piece]:
        yield held_point(self)
        bend = self.bend_softness
        yield Piece(AxesAtAnAngle, (Row(equation(bend), "angle", "rad", bend),))


class AxesAtAnAngle(Part):
    """One row a joint."""

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        super().__init__(joints, rows, made)
        axes = np.array([(joint.axis_a, joint.axis_b) for joint in joints])
        self.directions: Vector = freeze(local_vectors(self.bodies, axes, made).reshape(-1))
        cosine = (axes[:, 0] * axes[:, 1]).sum(axis=1)
        sine = np.linalg.norm(np.cross(axes[:, 0], axes[:, 1]), axis=1)
        self.angle: Vector = freeze(np.column_stack([cosine, 1.0 / sine]).reshape(-1))

    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        rotation = poses.rotation.reshape(-1)
        joints.keep_angle(rotation, self.bodies, self.directions, self.angle, self.first_row, jacobian, value)
