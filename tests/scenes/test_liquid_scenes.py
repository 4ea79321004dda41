"""Liquids of NOTES 4.2: what the scenes promise in their first words, measured."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.errors import InvalidProblem

LIQUIDS = ("dam_break", "ceiling_drop", "tilted_tank", "sphere_tank")


def solve(problem, x0):
    return perp.solve(problem, "mprgp", x0=x0)


def run(name, seconds, **options):
    scene = perp.scenes.make(name, **options)
    for _ in range(round(seconds / scene.dt)):
        report = scene.world.step(scene.dt, solve)
    return scene.world, report


def test_there_are_four_of_them():
    found = [kind for kind in perp.scenes.kinds().values() if kind.group == "liquids"]
    assert sorted(kind.name for kind in found) == sorted(LIQUIDS)
    assert all({"dim", "cells", "separation"} <= set(kind.options) for kind in found)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", LIQUIDS)
def test_grids_have_as_many_cells_a_metre_and_the_water_is_inside(name, dim):
    world = perp.scenes.make(name, dim=dim, cells=16).world
    grid = world.grid()
    assert (grid.cells[0], grid.spacing, grid.dimension) == (16, 1.0 / 16.0, dim)
    assert len(world.position) > 50
    assert world.position.shape[1] == dim
    cell = np.floor((world.position - grid.origin) / grid.spacing).astype(int)
    corners = [grid.solid[tuple((cell + np.array(step)).T)] for step in np.ndindex(*(2,) * dim)]
    assert np.max(corners, axis=0).min() > 0.0  # no particle sits in a cell that is all solid


def test_a_dam_falls_and_reaches_the_other_wall():
    world, _ = run("dam_break", 0.5, cells=24)
    assert world.position[:, 0].max() > 0.95
    assert world.position[:, 1].mean() < 0.15


def test_water_at_a_ceiling_falls_where_it_may_let_go_and_sticks_where_not():
    heights, separating = {}, {}
    for separation in ("none", "walls"):
        world, report = run("ceiling_drop", 0.5, cells=24, separation=separation)
        heights[separation] = world.position[:, 1].mean()
        separating[separation] = report.measures()["separating"]
    assert heights["walls"] < 0.5 < 0.6 < heights["none"]
    assert separating["none"] == 0.0


def test_water_in_a_turned_tank_stays_in_it_and_comes_back_to_about_its_height():
    world, report = run("tilted_tank", 1.0, cells=24)
    start = perp.scenes.make("tilted_tank", cells=24).world
    assert report.measures()["volume"] == pytest.approx(len(start.position) * start.particle_volume, rel=0.05)
    back = np.radians(-20.0)
    turn = np.array([[np.cos(back), -np.sin(back)], [np.sin(back), np.cos(back)]])
    own = (world.position - 0.5) @ turn.T  # in the axes of the tank
    assert np.abs(own).max(axis=0)[0] <= 0.36 + 1e-6 + world.grid().spacing / 4  # corners are cut off by the grid
    assert np.abs(own).max(axis=0)[1] <= 0.30 + 1e-6 + world.grid().spacing / 4


@pytest.mark.parametrize("dim", [2, 3])
def test_water_in_a_ball_stays_in_it(dim):
    world, _ = run("sphere_tank", 0.4, cells=16, dim=dim)
    assert np.linalg.norm(world.position - 0.5, axis=1).max() <= 0.48 + 1e-9
    assert world.position[:, 0].mean() > perp.scenes.make("sphere_tank", cells=16, dim=dim).world.position[:, 0].mean()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("dam_break", {"dim": 3, "cells": 1024}, "cells is 1024; at most 512 fit where dim is 3"),
        ("dam_break", {"width": 0.0}, "there is no water in 96 x 72 cells"),
        ("tilted_tank", {"fill": 0.0}, "there is no water"),
        ("sphere_tank", {"dim": 4}, "dim is 4"),
        ("ceiling_drop", {"separation": "wall"}, "did you mean 'walls'"),
        ("ceiling_drop", {"cells": 4}, "cells is 4"),
    ],
)
def test_what_makes_no_liquid_is_refused(name, options, message):
    with pytest.raises((InvalidProblem, ValueError), match=message):
        perp.scenes.make(name, **options)
