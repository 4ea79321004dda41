"""Two boxes on top of each other, the heavier one above: the least stack that makes sweeps slow."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from perp.gallery.blocks import GRAVITY, Friction, Model, Scene, TimeStep
from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import POINTS, box_inertia, contact_jacobian, tower
from perp.gallery.options import About
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import BodyMasses, FactoredOperator


@catalogued(n=24)
def heavy_on_light(
    *,
    mass_ratio: Annotated[float, About("mass of the upper box over that of the lower one", 1e-8, 1e8)] = 1e4,
    friction: Friction = 0.5,
    model: Model = "box",
    dt: TimeStep = 0.01,
) -> Example:
    """A heavy box at rest on a light one (1 kg), four contact points a face: nothing moves.

    Each point of the upper face carries m_2 g dt / 4, each of the lower one (m_1 + m_2) g dt / 4; these are the
    shortest impulses. The slowest error of a sweep is that both boxes sink together: it shrinks by about
    1 - 1 / mass_ratio.
    """
    layout = tower(2)
    mass = np.array([1.0, mass_ratio])
    frame = np.eye(3)[[2, 0, 1]]
    offset = np.pad(POINTS[4][None] * layout.extent[:, None, :], ((0, 0), (0, 0), (0, 1)))
    place = (layout.middle[:, None, :] + offset).reshape(-1, 3)
    below, above = np.repeat(layout.below, 4), np.repeat(layout.above, 4)
    jacobian = contact_jacobian(
        np.broadcast_to(frame, (8, 3, 3)), place - layout.centre[below], place - layout.centre[above]
    )
    bodies = np.repeat(np.stack([below, above], axis=1), 3, axis=0)
    A = FactoredOperator.from_body_pairs(bodies, jacobian, BodyMasses(mass, box_inertia(mass, layout.size, np.eye(3))))
    load = 0.25 * GRAVITY * dt * np.repeat([mass.sum(), mass[1]], 4)
    x: Vector = np.kron(load, np.array([1.0, 0.0, 0.0]))
    push = np.tile([0.0, 0.0, -GRAVITY * dt, 0.0, 0.0, 0.0], 2)
    return Scene(
        ContactProblem(A, A.J @ push, friction * load if model == "disc" else friction, model),
        freeze(x),
        "infinitely_many",
        note="The impulses are not unique; the motion is.",
        before=freeze(np.zeros(12)),
        push=freeze(push),
        after=freeze(np.zeros(12)),
    )
