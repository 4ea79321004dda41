"""Load every compiled kernel that a step of a world uses, so that no later step pays for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.errors import MissingExtra
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.worlds.contact_world import ContactWorld
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment
from perp.worlds.rigid3d import Distance, Fixed, Geom, Hinge, RigidBuilder, Universal


@dataclass(frozen=True)
class Guess:
    """Impulses that nobody has solved for."""

    x: Vector


def warm_up() -> None:
    """Step tiny worlds, without a solver; those in space only where MuJoCo is installed."""
    discs = Discs([[0.0, 0.1], [0.19, 0.1], [0.4, 0.1]], 0.1, 1.0)
    _step(DiscWorld(discs, [HalfPlane((0.0, 0.0), (0.0, 1.0)), Segment((0.0, 0.0), (1.0, 0.0))]))
    try:
        builder = RigidBuilder()
    except MissingExtra:
        return
    builder.ground()
    first, second = (
        builder.body([Geom(form="box", size=(0.5, 0.5, 0.5), mass=1.0)], (0.0, 0.0, height)) for height in (0.5, 1.5)
    )
    anchor = (0.0, 0.0, 1.0)
    builder.join(Fixed(first, second, anchor))
    builder.join(Hinge(first, second, anchor, (0, 0, 1), limits=(-1.0, 1.0), motor_speed=0.0))
    builder.join(Universal(first, second, anchor, (1, 0, 0), (0, 1, 0)))
    builder.join(Distance(first, second, (0.0, 0.0, 0.5), (0.0, 0.0, 1.5)))
    _step(builder.world())


def _step(world: ContactWorld) -> None:
    """Twice, so that contacts are looked for among those of a step before."""
    for _ in range(2):
        world.step(1e-3, _guess)
    world.energy()


def _guess(problem: ContactProblem, x0: Vector | None) -> Guess:
    return Guess(problem.project(np.full(problem.n, 1e-3)))
