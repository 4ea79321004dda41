"""Liquid that is at rest stays there: particles and all, for a hundred steps."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.worlds.fluid import BoxTank, LiquidWorld, Turned, seed_particles

G = 9.80665
DT = 1 / 60


def exactly(problem, x0):
    result = perp.solve(problem, "block_principal", x0=x0, tol=1e-11)
    assert result.success, result
    return result


@pytest.mark.parametrize("separation", ["none", "walls", "everywhere"])
@pytest.mark.parametrize(("top", "per_axis"), [(4.0, 2), (4.5, 2), (3.75, 4), (4.25, 4)])
def test_a_column_keeps_every_particle_in_its_place(separation, top, per_axis):
    """Wherever the surface lies in its cell: p is linear, so nothing but rounding errors moves, for 100 steps."""
    cells, spacing = (8, 8), 0.125
    position = seed_particles(lambda p: p[:, 1] < top * spacing, cells, spacing, per_axis=per_axis)
    world = LiquidWorld(position, cells, spacing, separation=separation, per_axis=per_axis)
    for _ in range(100):
        report = world.step(DT, exactly)
    # a rounding error of dt g, times the condition of A for eight cells of depth (below 100), a hundred times
    error = 100 * 100 * 2.0**-52 * G * DT
    assert np.abs(world.velocity).max() < error
    assert np.abs(world.position - position).max() < 100 * DT * error
    depth = np.maximum(top - (np.arange(8) + 0.5), 0.0) * spacing
    np.testing.assert_allclose(report.pressure[3], 1000.0 * G * depth, rtol=1e-9, atol=1e-9)


def test_a_column_in_space_keeps_every_particle_in_its_place():
    position = seed_particles(lambda p: p[:, 2] < 0.5, (4, 3, 6), 0.25)
    world = LiquidWorld(position, (4, 3, 6), 0.25)
    for _ in range(100):
        world.step(DT, exactly)
    assert np.abs(world.velocity).max() < 1e-11
    assert np.abs(world.position - position).max() < 1e-11


def test_in_a_slanted_tank_liquid_stays_where_it_is_to_a_twentieth_of_a_cell():
    """The surface meets slanted walls not exactly where it should: half a cell off in one cell at each end, of some
    twenty across, is a twentieth of a cell on average. No more than a fall by that much is released, neither as height
    nor as speed.
    """
    n = 24
    spacing = 1.0 / n
    tank = Turned(BoxTank((0.2, 0.2), (0.8, 0.8)), 0.3, (0.5, 0.5))
    position = seed_particles(lambda p: (p[:, 1] < 0.5) & (tank(p) > 0.0), (n, n), spacing)
    world = LiquidWorld(position, (n, n), spacing, solid=tank)
    heights, energies = [world.position[:, 1].mean()], [world.energy()]
    for _ in range(100):
        world.step(DT, exactly)
        heights.append(world.position[:, 1].mean())
        energies.append(world.energy())
    heights = np.array(heights)
    assert np.abs(heights - heights[0]).max() < spacing / 20
    assert 0.5 * np.square(world.velocity).sum(axis=1).mean() < G * spacing / 20
    mass = world.mass * len(position)
    assert max(energies) - energies[0] < mass * G * spacing / 20


def test_a_full_closed_vessel_stays_full():
    position = seed_particles(lambda p: p[:, 0] < np.inf, (6, 6), 0.25)
    for separation in ("none", "walls", "everywhere"):
        world = LiquidWorld(position, (6, 6), 0.25, separation=separation)
        for _ in range(20):
            report = world.step(DT, exactly)
        assert np.abs(world.velocity).max() < 1e-11
        assert report.measures()["volume"] == pytest.approx(1.5**2)
