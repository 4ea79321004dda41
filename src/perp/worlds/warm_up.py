"""Load every compiled kernel that a step of a world uses, so that no later step pays for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.errors import MissingExtra
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.worlds.fluid import LiquidWorld, seed_particles
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment
from perp.worlds.rigid3d import Distance, Fixed, Geom, Hinge, RigidBuilder, Universal
from perp.worlds.world import World


@dataclass(frozen=True)
class Guess:
    """Impulses, or pressures, without a solve."""

    x: Vector


def warm_up() -> None:
    """Step tiny worlds, without a solver; bodies in space only where MuJoCo is installed."""
    discs = Discs([[0.0, 0.1], [0.19, 0.1], [0.4, 0.1]], 0.1, 1.0)
    _step(DiscWorld(discs, [HalfPlane((0.0, 0.0), (0.0, 1.0)), Segment((0.0, 0.0), (1.0, 0.0))]))
    for form in ("stencil", "sparse"):
        _step(LiquidWorld(seed_particles(_below_the_middle, (2, 2), 0.5), (2, 2), 0.5, form=form))
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


def _step(world: World) -> None:
    """Twice, so that contacts (or pressures) of a step before are looked for."""
    for _ in range(2):
        world.step(1e-3, _guess)
    world.energy()


def _below_the_middle(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    below: NDArray[np.bool_] = points[:, -1] < 0.5
    return below


def _guess(problem: Problem, x0: Vector | None) -> Guess:
    return Guess(problem.project(np.full(problem.n, 1e-3)))
