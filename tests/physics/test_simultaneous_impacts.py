"""Restitution where several contacts collide at once: closed forms, and energy."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.worlds.rigid2d import Discs, DiscWorld

H = 1 / 60


def exactly(problem, x0):
    return perp.solve(problem, "block_principal", x0=x0, tol=1e-11)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_row_of_balls_that_touch_share_an_impact_and_make_no_energy(dimension, restitution):
    """Newton's law for all contacts at once: the first ball has v (1 - 4 e) / 5 then, the others move as one."""
    place = 2.0 * np.arange(5.0) - np.eye(5)[0]
    if dimension == 2:
        velocity = np.outer(np.eye(5)[0], [2.0, 0.0])
        row = Discs(
            np.column_stack([place, 0.0 * place]), 1.0, velocity=velocity, friction=0.0, restitution=restitution
        )
        world = DiscWorld(row, gravity=(0.0, 0.0))
    else:
        pytest.importorskip("mujoco")
        from perp.worlds import rigid3d as made

        builder = made.RigidBuilder(gravity=(0.0, 0.0, 0.0))
        for k in range(5):
            ball = made.Geom(form="sphere", size=(1.0,), mass=1.0, friction=0.0, restitution=restitution)
            builder.body([ball], (place[k], 0.0, 0.0), velocity=(2.0 * (k == 0), 0.0, 0.0))
        world = builder.world()
    before = world.energy()
    for _ in range(60):
        world.step(H, lambda p, x0: perp.solve(p, "block_gauss_seidel", x0=x0, tol=1e-12, max_iterations=5000))
        assert world.energy() <= before * (1.0 + 1e-9)
    first = 2.0 * (1.0 - 4.0 * restitution) / 5.0
    others = (2.0 - first) / 4.0
    np.testing.assert_allclose(world.bodies()[2][:, 0], [first, *[others] * 4], atol=1e-8)
    assert world.energy() / before == pytest.approx((first**2 + 4.0 * others**2) / 4.0, rel=1e-8)


@pytest.mark.parametrize("restitution", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("seed", [0, 7, 21])
def test_discs_that_collide_all_at_once_gain_no_energy_but_what_taking_back_overlaps_costs(seed, restitution):
    """Without friction: rows that open have to follow the law of restitution, too (`perp.LimitRows`)."""
    draw = np.random.default_rng(seed)
    place = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    bodies = Discs(
        place,
        draw.uniform(0.2, 0.49, 9),
        10.0 ** draw.uniform(-1.0, 1.0, 9),
        velocity=-3.0 * (place - 1.0) + draw.uniform(-1.0, 1.0, (9, 2)),
        friction=0.0,
        restitution=restitution,
    )
    world = DiscWorld(bodies, gravity=(0.0, 0.0))
    overlaps = 0
    for _ in range(40):
        before = world.energy()
        report = world.step(H, exactly)
        taken_back = np.maximum(-report.contacts.gap, 0.0) * world.error_reduction / H
        overlaps += np.count_nonzero(taken_back)
        assert world.energy() - before <= report.x[::2] @ taken_back + 1e-10 * before
    assert overlaps


def test_a_pool_of_elastic_discs_stays_below_the_energy_that_it_starts_with():
    world = perp.scenes.make("pool1", restitution=1.0, friction=0.0).world
    before = world.energy()
    for _ in range(120):
        world.step(H, lambda problem, x0: perp.solve(problem, "pgs", x0=x0, max_iterations=100))
        assert world.energy() <= before
