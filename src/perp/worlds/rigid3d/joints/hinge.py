"""Hinge: two bodies turn against one another about one axis, within limits, driven by a motor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.worlds import joints
from perp.problems.constraint_rows import Softness
from perp.problems.inputs import Vector, freeze, require_real
from perp.worlds.rigid3d.joints.ball import held_point
from perp.worlds.rigid3d.joints.joint import BendingJoint, as_axis
from perp.worlds.rigid3d.joints.part import Group, Part, Piece, Row, equation, local_vectors, turns_back
from perp.worlds.rigid3d.poses import WithWorld


@dataclass(frozen=True, eq=False)
class Hinge(BendingJoint):
    """`Hinge(body_a, body_b, anchor, axis)`: three rows that hold the anchor, two that hold the axis.

    C = (R_a^T (p_b - p_a), t_1 . u_b, t_2 . u_b) [m, rad] with the axis u of body b and two directions t across the
    axis of body a (`perp.kernels.worlds.joints`).

    The angle is that of b against a about the axis by the right-hand rule, zero when the joint is made, and counts
    whole turns. `limits` (low, high) [rad] hold it between them, a rigid one-sided row each (one that is infinite has
    no row). A motor drives the angle at `motor_speed` [rad/s], with at most `max_torque` [N m] either way; a speed of 0
    is dry friction (hinges with limits: PGS-SM section 5; rows with bounds: THESIS eq. 2.35).
    """

    kind: ClassVar[str] = "hinge"

    axis: Any
    limits: tuple[float, float] | None = None
    motor_speed: float | None = None
    max_torque: float = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", as_axis(self.axis, "axis"))
        if self.limits is not None:
            object.__setattr__(self, "limits", _checked_limits(self.limits))
        if self.motor_speed is not None:
            require_real(self.motor_speed, "motor_speed")
            if not np.isfinite(self.motor_speed):
                raise InvalidProblem(f"motor_speed is {self.motor_speed}; a finite number is needed")
        require_real(self.max_torque, "max_torque")
        if not self.max_torque >= 0.0:
            raise InvalidProblem(f"max_torque is {self.max_torque}; a number >= 0 (or inf) is needed")

    def pieces(self) -> Iterator[Piece]:
        yield held_point(self)
        bend = self.bend_softness
        yield Piece(ParallelAxes, tuple(Row(equation(bend), label, "rad", bend) for label in ("tilt 1", "tilt 2")))
        rigid = Softness(error_reduction=self.error_reduction, compliance=bend.compliance)
        low, high = (-np.inf, np.inf) if self.limits is None else self.limits
        rows = (
            Row(Group.RIGID_LIMIT, "low limit", "rad", rigid) if low > -np.inf else None,
            Row(Group.RIGID_LIMIT, "high limit", "rad", rigid) if high < np.inf else None,
            Row(Group.MOTOR, "motor", "rad", rigid) if self.motor_speed is not None else None,
        )
        yield Piece(HingeAngle, rows)


def _checked_limits(limits: Any) -> tuple[float, float]:
    try:
        low, high = limits
    except (TypeError, ValueError):
        raise TypeError(f"limits is {limits!r}; a pair (low, high) is needed") from None
    for name, value in (("limits[0]", low), ("limits[1]", high)):
        require_real(value, name)
        if np.isnan(value):
            raise InvalidProblem(f"{name} is {value}; a number is needed")
    if low > high or low == np.inf or high == -np.inf:
        raise InvalidProblem(f"limits is ({low}, {high}): no angle lies between them")
    return float(low), float(high)


class ParallelAxes(Part):
    """Two rows a joint."""

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        super().__init__(joints, rows, made)
        axis = np.array([joint.axis for joint in joints])
        pairs = self.bodies.reshape(-1, 2)
        directions = np.empty((len(joints), 3, 3))
        for column, vectors in enumerate(across(axis)):
            directions[:, column] = local_vectors(pairs[:, 0], vectors, made)
        directions[:, 2] = local_vectors(pairs[:, 1], axis, made)
        self.directions: Vector = freeze(directions.reshape(-1))

    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        joints.keep_parallel(poses.rotation.reshape(-1), self.bodies, self.directions, self.first_row, jacobian, value)


def across(axis: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two unit vectors t_1, t_2 for each unit axis u such that t_1 x t_2 = u."""
    least = np.eye(3)[np.argmin(np.abs(axis), axis=1)]  # the coordinate axis that is farthest from u
    first = np.cross(axis, least)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(axis, first)


class HingeAngle(Part):
    """Up to three rows a hinge: low limit, high limit, motor.

    A pose tells an angle up to whole turns. The part remembers the angles of the last step, in `angle` [rad], and takes
    the one nearest to that; so a hinge may make less than half a turn from one step to the next.
    """

    def __init__(self, joints: Sequence[Any], rows: NDArray[np.uint32], made: WithWorld) -> None:
        super().__init__(joints, rows, made)
        pairs = self.bodies.reshape(-1, 2)
        axis = local_vectors(pairs[:, 0], [joint.axis for joint in joints], made)
        self.axis: Vector = freeze(axis.reshape(-1))
        self.rest: Vector = freeze(turns_back(pairs, made).reshape(-1))
        limits = np.array([(0.0, 0.0) if joint.limits is None else joint.limits for joint in joints])
        self.limits: Vector = freeze(limits.reshape(-1))
        self.angle: Vector = np.zeros(len(joints))

    def fill(self, poses: WithWorld, jacobian: Vector, value: Vector) -> None:
        self.follow(poses, self.angle, jacobian, value)

    def follow(self, poses: WithWorld, angle: Vector, jacobian: Vector, value: Vector) -> None:
        """Bring `angle` up to date, and write the rows."""
        rotation, orientation = poses.rotation.reshape(-1), poses.orientation.reshape(-1)
        constants = (self.bodies, self.axis, self.rest, self.limits, self.rows)
        joints.follow_angle(rotation, orientation, *constants, angle, jacobian, value)
