"""Islands in the steps of a world: what is solved apart moves as what is solved together."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane

H = 1 / 60


def heaps_beside_a_disc_that_cannot_move():
    place = [(0.0, 1.0)]
    place += [(side * (2.3 + 1.05 * k), 1.3 + 1.1 * row) for side in (-1, 1) for k in range(3) for row in range(2)]
    mass = np.where(np.arange(len(place)) == 0, np.inf, 1.0 + 0.3 * np.arange(len(place)))
    radius = np.where(np.arange(len(place)) == 0, 1.5, 0.5)
    bodies = Discs(place, radius, mass, friction=0.4, restitution=0.2)
    return DiscWorld(bodies, [HalfPlane((0.0, 0.0), (0.0, 1.0), 0.4)])


def stacks_and_swings():
    pytest.importorskip("mujoco")
    from perp.worlds.rigid3d import Geom, Hinge, RigidBuilder

    builder = RigidBuilder()
    builder.ground()
    for x in (0.0, 3.0):
        for level in range(2):
            ball = Geom(form="sphere", size=(0.5,), mass=1.0 + level)
            builder.body([ball], (x, 0.0, 0.5 + level))
        swing = builder.body([Geom(form="box", size=(0.5, 0.1, 0.1), mass=1.0)], (x + 0.5, 2.0, 3.0))
        builder.join(Hinge(-1, swing, (x, 2.0, 3.0), (0.0, 1.0, 0.0), limits=(-0.3, 0.3)))
    first, second = (builder.body([Geom(form="sphere", size=(0.3,), mass=1.0)], (x, -3.0, 0.3)) for x in (0.0, 3.0))
    builder.join(Hinge(first, second, (1.5, -3.0, 0.3), (0.0, 1.0, 0.0)))  # far apart, and one island
    return builder.world(model="cone")


@pytest.mark.parametrize(
    ("make", "method", "islands"),
    [(heaps_beside_a_disc_that_cannot_move, "block_principal", 2), (stacks_and_swings, "cone_newton", 5)],
)
def test_a_hundred_steps_solved_by_island_are_those_solved_whole(make, method, islands):
    whole, apart = make(), make()
    most = 0
    for _ in range(100):
        one = whole.step(H, lambda p, x0: perp.solve(p, method, x0=x0, tol=1e-11))
        two = apart.step(H, lambda p, x0: perp.solve_islands(p, method, x0=x0, tol=1e-11, at_least=1))
        assert one.solution.success
        assert two.solution.success
        most = max(most, len(two.solution.parts))
    assert most >= islands
    for here, there in zip(whole.bodies(), apart.bodies(), strict=True):
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-8)
