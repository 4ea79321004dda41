"""A sphere that is thrown along the ground: it slides, and then it rolls."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from perp.gallery.catalogue import catalogued
from perp.gallery.contact_jacobian import contact_jacobian
from perp.gallery.example import Example
from perp.gallery.options import About
from perp.gallery.scene import GRAVITY, Friction, Heading, Model, Scene, TimeStep, pressed_contact
from perp.problems.friction import ContactProblem
from perp.problems.inputs import freeze
from perp.problems.operators import BodyMasses, FactoredOperator

MASS = 3.0  # [kg]
RADIUS = 0.2  # [m]


@catalogued(n=3)
def rolling_sphere(
    *,
    friction: Friction = 0.3,
    speed: Annotated[float, About("of the centre at the beginning [m/s]", 0.0)] = 1.0,
    spin: Annotated[float, About("of the beginning, over that of a sphere which rolls", -1e3, 1e3)] = 0.0,
    heading: Heading = 0.5,
    model: Model = "cone",
    dt: TimeStep = 0.01,
) -> Example:
    """A solid sphere on level ground with its slip: it slides, loses friction g dt a step, and rolls in the end.

    The ground feels the mass m along the normal and k = 1 / (1/m + r^2 / I) = 2/7 m along tangents, so a step ends in
    rolling where the slip is at most 7/2 friction g dt. Friction keeps v + 2/5 r w: thrown without spin, the sphere
    rolls with 5/7 of its speed from the time 2 v / (7 friction g) on, and friction then has nothing to do.
    """
    frame = np.eye(3)[[2, 0, 1]]
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    before = speed * np.concatenate([along, spin / RADIUS * np.array([-along[1], along[0], 0.0])])
    push = np.array([0.0, 0.0, -GRAVITY * dt, 0.0, 0.0, 0.0])
    arm = np.array([[0.0, 0.0, -RADIUS]])
    jacobian = contact_jacobian(frame[None], np.zeros((1, 3)), arm)
    inertia = 0.4 * MASS * RADIUS**2 * np.eye(3)
    A = FactoredOperator.from_body_pairs([[-1, 0]] * 3, jacobian, BodyMasses([MASS], [inertia]))
    free = np.concatenate([[push[2]], (1.0 - spin) * speed * along[:2]])
    x = freeze(pressed_contact(free, MASS, 2.0 / 7.0 * MASS, friction, model))

    impulse = x[[1, 2, 0]]
    after = before + push
    after[:3] += impulse / MASS
    after[3:] += np.cross(arm[0], impulse) / inertia[0, 0]
    return Scene(
        ContactProblem(A, free, friction * MASS * GRAVITY * dt if model == "disc" else friction, model),
        x,
        solutions=(x,),
        before=freeze(before),
        push=freeze(push),
        after=freeze(after),
    )
