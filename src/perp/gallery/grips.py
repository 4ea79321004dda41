"""Something held by friction alone: a capsule between two fingers."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from perp.gallery.blocks import GRAVITY, Model, PositiveFriction, Scene, TimeStep
from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import box_inertia, contact_jacobian
from perp.gallery.options import About
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import BodyMasses, FactoredOperator

MASS = 1.0  # [kg]
RADIUS, HALF_LENGTH = 0.1, 0.3  # [m], of the capsule and of the line along which a pad touches it
FINGER = np.array([0.1, 0.8, 0.2])  # edges [m]
CAPSULE, LEFT, RIGHT, WORLD = 0, 1, 2, -1
HELD = [1, 2, 3, 4]
"""Velocities of a finger that its joint stops: v_y, v_z, w_x, w_y."""


@catalogued(n=20)
def pinched_capsule(
    *,
    friction: PositiveFriction = 0.5,
    margin: Annotated[float, About("what friction could hold over the weight; below 1 the capsule slips", 1e-3)] = 20.0,
    finger_mass: Annotated[float, About("of each finger [kg]", 1e-3, 1e6)] = 5.0,
    model: Model = "box",
    dt: TimeStep = 0.01,
) -> Example:
    """A capsule pinched between two fingers that are free to close: friction holds it, or it slips.

    The capsule lies along y, gravity pulls along -z. Two fingers press from both sides along x with the force
    P = margin m g / (2 friction) [N] each; joints (four equations each) let them move along x and turn about z only.
    A pad touches the capsule at two points, x_n = P dt / 2 at each, and nothing moves as long as
    4 friction x_n >= m g dt. (Were the fingers not free to turn, one point of a pad might carry all of P: the capsule
    could swing about the line between two such points, and its motion would not be unique.)

    Below margin 1 the capsule falls from rest with u = (1 - margin) g dt. In the convex model it also pushes the
    fingers apart, with friction u each, so that 2 x_n = P dt + friction u finger_mass at a pad and

        u = (1 - margin) g dt / (1 + 2 friction^2 finger_mass / m).
    """
    squeeze = margin * MASS * GRAVITY * dt / (2.0 * friction)
    fall, apart = max(0.0, 1.0 - margin) * GRAVITY * dt, 0.0
    if model == "convex":
        fall /= 1.0 + 2.0 * friction**2 * finger_mass / MASS
        apart = friction * fall
    load = 0.5 * (squeeze + finger_mass * apart)
    hold = 0.25 * MASS * (GRAVITY * dt - fall)
    contacts = np.tile([load, hold, 0.0], 4)

    A = _gripper(finger_mass)
    push, after = np.zeros((3, 6)), np.zeros((3, 6))
    push[CAPSULE, 2], push[LEFT, 0], push[RIGHT, 0] = -GRAVITY * dt, squeeze / finger_mass, -squeeze / finger_mass
    after[CAPSULE, 2], after[LEFT, 0], after[RIGHT, 0] = -fall, -apart, apart
    impulse = A.J[:12].T @ contacts
    joints = -impulse.reshape(3, 6)[[LEFT, RIGHT]][:, HELD].reshape(-1)  # they take what the contacts give
    return Scene(
        ContactProblem(
            A, A.J @ push.reshape(-1), 0.5 * friction * squeeze if model == "disc" else friction, model, extra_rows=8
        ),
        freeze(np.concatenate([contacts, joints])),
        "infinitely_many",
        note="The impulses are not unique; the motion is.",
        before=freeze(np.zeros(18)),
        push=freeze(push.reshape(-1)),
        after=freeze(after.reshape(-1)),
    )


def _gripper(finger_mass: float) -> FactoredOperator:
    """Four contacts, two a finger (finger to capsule), and then four equations for each finger."""
    centre = np.zeros((3, 3))
    centre[[LEFT, RIGHT], 0] = np.array([-1.0, 1.0]) * (RADIUS + 0.5 * FINGER[0])
    finger = np.array([LEFT, LEFT, RIGHT, RIGHT])
    place = np.array([[side * RADIUS, end * HALF_LENGTH, 0.0] for side in (-1.0, 1.0) for end in (-1.0, 1.0)])
    frames: NDArray[np.float64] = np.tile(np.eye(3)[[0, 2, 1]], (4, 1, 1))
    frames[2:, 0] *= -1.0  # from the right finger to the capsule
    touching = contact_jacobian(frames, place - centre[finger], place - centre[CAPSULE])
    held = np.zeros((2, len(HELD), 2, 6))
    held[:, :, 1] = np.eye(6)[HELD]
    bodies = np.concatenate(
        [
            np.repeat(np.stack([finger, np.full(4, CAPSULE)], axis=1), 3, axis=0),
            np.repeat([[WORLD, LEFT], [WORLD, RIGHT]], len(HELD), axis=0),
        ]
    )
    fingers = np.full(2, finger_mass)
    inertia = np.concatenate([_capsule_inertia()[None], box_inertia(fingers, np.tile(FINGER, (2, 1)), np.eye(3))])
    masses = BodyMasses(np.array([MASS, *fingers]), inertia)
    return FactoredOperator.from_body_pairs(bodies, np.concatenate([touching, held.reshape(-1, 2, 6)]), masses)


def _capsule_inertia() -> NDArray[np.float64]:
    """Of a solid cylinder and two half balls [kg m^2]; axis along y."""
    length = 2.0 * HALF_LENGTH
    ball = 4.0 / 3.0 * RADIUS / (length + 4.0 / 3.0 * RADIUS) * MASS
    rod = MASS - ball
    along = 0.5 * rod * RADIUS**2 + 0.4 * ball * RADIUS**2
    across = rod * (length**2 / 12.0 + RADIUS**2 / 4.0) + ball * (
        0.4 * RADIUS**2 + length**2 / 4.0 + 3.0 / 8.0 * length * RADIUS
    )
    entries: Vector = np.array([across, along, across])
    return np.diag(entries)
