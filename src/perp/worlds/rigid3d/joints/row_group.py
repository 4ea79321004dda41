"""Rows of all joints that become one group of a problem: what does not change from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.constraint_rows import JointRows, LimitRows, MotorRows, Rows
from perp.problems.inputs import Vector, freeze
from perp.worlds.rigid3d.joints.joint import Joint
from perp.worlds.rigid3d.joints.part import EQUATIONS, Group, Row


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Rows `span` of a step."""

    group: Group
    span: slice
    bodies: NDArray[np.int64]
    options: dict[str, Vector]

    def make(self, blocks: NDArray[np.float64], value: Vector) -> Rows:
        """The rows of a step, from J (rows x 2 x 6) and C of all rows."""
        J: Any = (self.bodies, blocks[self.span])
        if self.group is Group.MOTOR:
            return MotorRows(J, **self.options)
        if self.group in EQUATIONS:
            return JointRows(J, violation=value[self.span], **self.options)
        return LimitRows(J, gap=value[self.span], **self.options)


def row_group(group: Group, start: int, rows: Sequence[Row], owners: Sequence[Joint]) -> RowGroup:
    """`rows` of the joints `owners`, one each, that begin at `start`."""
    bodies = np.array([(joint.body_a, joint.body_b) for joint in owners], dtype=np.int64)
    if group is Group.MOTOR:
        values = {"speed": [_of_hinge(joint, "motor_speed") for joint in owners]}
        values["max_force"] = [_of_hinge(joint, "max_torque") for joint in owners]
    else:
        rigid = group in (Group.RIGID, Group.RIGID_LIMIT)
        names = ("error_reduction", "compliance") if rigid else ("stiffness", "damping")
        values = {name: [float(getattr(row.softness, name) or 0.0) for row in rows] for name in names}
    options = {name: freeze(np.array(numbers)) for name, numbers in values.items()}
    return RowGroup(group, slice(start, start + len(rows)), freeze(bodies), options)


def _of_hinge(joint: Joint, name: str) -> float:
    return float(getattr(joint, name))
