"""All joints of a world, as rows of its problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.constraint_rows import JointRows, LimitRows, MotorRows, Rows
from perp.problems.inputs import Vector, freeze, reject_non_finite
from perp.worlds.rigid3d.joint import EQUATIONS, LIMITS, UNITS, Group, Joint, Part, Row, Unit, local_anchors
from perp.worlds.rigid3d.joints import HingeAngle
from perp.worlds.rigid3d.poses import Poses, WithWorld

UNIT_LENGTH = 1e-6
"""How far the length of a quaternion may be from 1."""


class Violation(NamedTuple):
    """The largest |C| of points [m] and of orientations [rad]; of limits and ropes what is beyond them."""

    metres: float
    radians: float


class JointSet:
    """`JointSet(joints, poses)`: joints that are made where the bodies are now.

    Rows come in groups: rigid equations, soft equations, rigid limits, soft limits, motors; within a group in the order
    of the joints. A group without rows is left out. Number and order are the same in every step, so that the impulses
    of one step are the start of the next. Kernels do the work of a step, one call for each kind of row.

    `bodies` (joints x 2) are the pairs that are joined, `owner` has the number of the joint of each row, and `hinges`
    the numbers of the joints that have an angle.
    """

    def __init__(self, joints: Iterable[Joint], poses: Poses) -> None:
        self.joints: tuple[Joint, ...] = tuple(joints)
        self._check(poses)
        self.body_count: int = len(poses)
        made = poses.with_world
        self.bodies: NDArray[np.int64] = freeze(
            np.array([(joint.body_a, joint.body_b) for joint in self.joints], dtype=np.int64).reshape(-1, 2)
        )
        self._arms = local_anchors(self.joints, made)
        self._lay_out(made)

    def _check(self, poses: Poses) -> None:
        if not isinstance(poses, Poses):
            raise TypeError(f"poses is {type(poses).__name__}; Poses are needed")
        for number, joint in enumerate(self.joints):
            if not isinstance(joint, Joint):
                raise TypeError(f"joints[{number}] is {type(joint).__name__}; Ball, Hinge, ... are needed")
            for name in ("body_a", "body_b"):
                body = getattr(joint, name)
                if body >= len(poses):
                    raise InvalidProblem(
                        f"{name} of joints[{number}] ({joint.kind}) is {body}, but there are {len(poses)} bodies"
                    )
        reject_non_finite(poses.position, "position")
        reject_non_finite(poses.orientation, "orientation")
        length = np.linalg.norm(poses.orientation, axis=1)
        wrong = np.flatnonzero(np.abs(length - 1.0) > UNIT_LENGTH)
        if wrong.size:
            raise InvalidProblem(f"orientation[{wrong[0]}] has length {length[wrong[0]]}; a unit quaternion is needed")

    def _lay_out(self, made: WithWorld) -> None:
        """Give every row its place."""
        entries: list[tuple[Row, int]] = []
        users: dict[type[Part], list[tuple[int, list[int]]]] = {}
        for number, joint in enumerate(self.joints):
            for piece in joint.pieces():
                drawn = []
                for row in piece.rows:
                    drawn.append(len(entries) if row is not None else -1)
                    if row is not None:
                        entries.append((row, number))
                users.setdefault(piece.part, []).append((number, drawn))
        order = sorted(range(len(entries)), key=lambda k: entries[k][0].group)  # a stable sort
        place = np.empty(len(entries) + 1, dtype=np.uint32)
        place[[*order, -1]] = np.arange(len(entries) + 1)  # entry -1, which is never read, comes last
        self._rows = [entries[k][0] for k in order]
        self.owner: NDArray[np.int64] = freeze(np.array([entries[k][1] for k in order], dtype=np.int64))
        self._parts = {
            part: part([self.joints[number] for number, _ in used], place[[drawn for _, drawn in used]], made)
            for part, used in users.items()
        }
        self.hinges: NDArray[np.int64] = freeze(
            np.array([number for number, _ in users.get(HingeAngle, [])], dtype=np.int64)
        )
        self._groups: list[RowGroup] = []
        for group, members in groupby(range(len(self._rows)), key=lambda k: self._rows[k].group):
            span = list(members)
            owners = [self.joints[self.owner[k]] for k in span]
            self._groups.append(row_group(group, span[0], [self._rows[k] for k in span], owners))

    def __len__(self) -> int:
        return len(self.joints)

    @property
    def row_count(self) -> int:
        return self.owner.size

    @cached_property
    def names(self) -> NDArray[np.str_]:
        """One a row, as 'hinge 3: low limit'."""
        pairs = zip(self.owner, self._rows, strict=True)
        return np.array([f"{self.joints[owner].kind} {owner}: {row.label}" for owner, row in pairs], dtype=np.str_)

    def rows(self, poses: Poses) -> list[Rows]:
        """The rows of a step that begins at these poses. Hinges count their turns from call to call."""
        blocks, value = self._evaluate(poses)
        return [group.make(blocks, value) for group in self._groups]

    def violation(self, poses: Poses) -> Violation:
        """How far the joints are from what they hold; soft ones, too, which give way on purpose."""
        value, _ = self._look(poses)
        far = {"m": 0.0, "rad": 0.0}
        for unit, chosen, is_limit in self._measures:
            found = np.maximum(-value[chosen], 0.0) if is_limit else np.abs(value[chosen])
            far[unit] = max(far[unit], float(found.max(initial=0.0)))
        return Violation(far["m"], far["rad"])

    def anchors(self, poses: Poses) -> NDArray[np.float64]:
        """The points that the joints hold, as points of body a and of body b: joints x 2 x 3, in the world [m]."""
        placed = self._placed(poses)
        arms: NDArray[np.float64] = np.einsum("jsik,jsk->jsi", placed.rotation[self.bodies], self._arms)
        return placed.position[self.bodies] + arms

    def hinge_angles(self, poses: Poses) -> Vector:
        """The angles [rad] of the joints `hinges`, whole turns as counted by the last `rows`."""
        return self._look(poses)[1]

    @property
    def counted_angles(self) -> Vector:
        """The angles of the joints `hinges` at the last `rows`. To go on from a stored state, write its angles here."""
        part = self._parts.get(HingeAngle)
        return part.angle if isinstance(part, HingeAngle) else np.empty(0)

    @cached_property
    def _measures(self) -> list[tuple[Unit, NDArray[np.intp], bool]]:
        """Which rows are equations or limits, in metres or radians."""
        kinds = {EQUATIONS: False, LIMITS: True}
        return [
            (unit, np.flatnonzero([row.unit == unit and row.group in groups for row in self._rows]), is_limit)
            for groups, is_limit in kinds.items()
            for unit in UNITS
        ]

    def _look(self, poses: Poses) -> tuple[Vector, Vector]:
        """C of every row and the angles of hinges, without counting turns."""
        counted = self.counted_angles
        before = counted.copy()
        _, value = self._evaluate(poses)
        now = counted.copy()
        counted[:] = before
        return value, now

    def _evaluate(self, poses: Poses) -> tuple[NDArray[np.float64], Vector]:
        """J (rows x 2 x 6) and C of every row."""
        placed = self._placed(poses)
        jacobian, value = np.zeros(12 * (self.row_count + 1)), np.empty(self.row_count + 1)
        for part in self._parts.values():
            part.fill(placed, jacobian, value)
        return jacobian.reshape(-1, 2, 6)[:-1], value[:-1]

    def _placed(self, poses: Poses) -> WithWorld:
        if len(poses) != self.body_count:
            raise InvalidProblem(f"poses has {len(poses)} bodies; the joints were made for {self.body_count}")
        return poses.with_world


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
