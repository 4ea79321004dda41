"""The kinds of joints. Every body keeps its six velocities (maximal coordinates), and joints are rows between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.worlds import joints
from perp.problems.constraint_rows import Softness
from perp.problems.inputs import Vector, freeze, require_number, require_real
from perp.worlds.rigid3d.joint import (
    AnchoredJoint,
    BendingJoint,
    Group,
    Joint,
    Part,
    Piece,
    Row,
    as_axis,
    as_point,
    equation,
    local_anchors,
    local_vectors,
    turns_back,
)
from perp.worlds.rigid3d.poses import WithWorld

# Ball joint: a point of one body stays at a point of the other; both turn freely about it.


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


# Hinge: two bodies turn against one another about one axis, within limits, driven by a motor.


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


# Universal joint: a cross of two axes, one fixed in each body. Links of a chain, cardan shafts.

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


# Fixed joint: two bodies move as one, or nearly so. With softness, the links of a cable.


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


# Bend: springs and dampers against the bending of two bodies about one another; points and twist are free.


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


# Rod and rope: two points at a distance, or no farther apart than that.


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
