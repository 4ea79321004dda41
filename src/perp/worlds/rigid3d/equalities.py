"""Equalities of a MuJoCo model as joints: connect is a ball, weld holds all six directions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from perp.errors import InvalidProblem
from perp.worlds.rigid3d.joints import Ball, Fixed, Joint
from perp.worlds.rigid3d.mujoco_bodies import MujocoBodies

AS_PLACED = 1e-6
"""How far the pose that a weld asks for may be from the one that the bodies start in [m, or of a unit quaternion]."""


def joints_of(bodies: MujocoBodies) -> Iterator[Joint]:
    """A joint for each active equality, where the bodies are placed now."""
    model, data, mujoco = bodies.model, bodies.data, bodies.mujoco
    for k in np.flatnonzero(np.asarray(model.eq_active0)):
        first, second = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        body_a, body_b = int(bodies.number_of_body[first]), int(bodies.number_of_body[second])
        numbers = np.asarray(model.eq_data[k])
        turn = np.asarray(data.xmat[first]).reshape(3, 3)
        if int(model.eq_type[k]) == int(mujoco.mjtEq.mjEQ_CONNECT):
            yield Ball(body_a, body_b, anchor=data.xpos[first] + turn @ numbers[:3])
            continue
        wanted = data.xpos[first] + turn @ numbers[3:6]
        anchor = data.xpos[second] + np.asarray(data.xmat[second]).reshape(3, 3) @ numbers[:3]
        aim = np.empty(4)
        mujoco.mju_mulQuat(aim, data.xquat[first], numbers[6:10])
        apart = max(np.abs(wanted - anchor).max(), 1.0 - abs(float(aim @ data.xquat[second])))
        if apart > AS_PLACED:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, int(k)) or f"number {k}"
            raise InvalidProblem(f"weld {name} asks for another pose than the bodies start in, which is not supported")
        yield Fixed(body_a, body_b, anchor=anchor)
