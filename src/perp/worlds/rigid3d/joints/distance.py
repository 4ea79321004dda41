"""Rod and rope: two points at a distance, or no farther apart than that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.worlds import joints
from perp.problems.inputs import Vector, freeze, require_number
from perp.worlds.rigid3d.joints.joint import Joint, as_point
from perp.worlds.rigid3d.joints.part import Group, Part, Piece, Row, equation, local_anchors
from perp.worlds.rigid3d.poses import WithWorld


@dataclass(frozen=True, eq=False)
class Distance(Joint):
    """`Distance(body_a, body_b, anchor_a, anchor_b, length=None, rope=False)`: one row.

    A rod keeps |p_b - p_a| = `length` [m], C = |p_b - p_a| - length; a rope only pulls, length - |p_b - p_a| >= 0
    (`perp.kernels.worlds.joints`). Without `length` it is the distance when the joint is made.
    """

    kind: ClassVar[str] = "distance"

    anchor_a: Any
    anchor_b: Any
    length: float | None = None
    rope: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("anchor_a", "anchor_b"):
            object.__setattr__(self, name, as_point(getattr(self, name), name))
        if self.length is None:
            length = float(np.linalg.norm(self.anchor_b - self.anchor_a))
            if not 0.0 < length < np.inf:
                raise InvalidProblem(f"anchor_a and anchor_b are {length} m apart: give a length, or use a Ball")
            object.__setattr__(self, "length", length)
        require_number(self.length, "length", positive=True)
        if not isinstance(self.rope, bool):
            raise TypeError(f"rope is {self.rope!r}; True or False is needed")

    @property
    def anchors(self) -> tuple[Vector, Vector]:
        return self.anchor_a, self.anchor_b

    def pieces(self) -> Iterator[Piece]:
        softness = self.softness
        limit = Group.RIGID_LIMIT if softness.is_rigid else Group.SOFT_LIMIT
        group, label = (limit, "rope") if self.rope else (equation(softness), "rod")
        yield Piece(Distances, (Row(group, label, "m", softness),))


class Distances(Part):
    """One row a joint."""

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        super().__init__(joints, rows, made)
        self.arms: Vector = freeze(local_anchors(joints, made).reshape(-1))
        self.length: Vector = freeze(np.array([joint.length for joint in joints], dtype=np.float64))
        self.sign: Vector = freeze(np.array([-1.0 if joint.rope else 1.0 for joint in joints]))

    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        position, rotation = poses.position.reshape(-1), poses.rotation.reshape(-1)
        constants = (self.bodies, self.arms, self.length, self.sign, self.first_row)
        joints.keep_distance(position, rotation, *constants, jacobian, value)
