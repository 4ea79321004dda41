"""The angle of hinges: what limits and motors act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector, freeze
from perp.worlds.rigid3d.joints.part import Part, local_vectors, turns_back
from perp.worlds.rigid3d.poses import WithWorld


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
        from perp.kernels.worlds.joints_turns import follow_angle

        rotation, orientation = poses.rotation.reshape(-1), poses.orientation.reshape(-1)
        constants = (self.bodies, self.axis, self.rest, self.limits, self.rows)
        follow_angle(rotation, orientation, *constants, angle, jacobian, value)
