"""Liquids in vessels: NOTES 4.2, where walls that liquid may leave make the pressure a complementarity problem.

The notes show no scenes of their own; these four are what their equations are about. A dam that breaks is the common
test of free surfaces. Liquid at a ceiling shows what the complementarity problem is for: as a linear system
(`separation` "none") pressures may be negative, and hold the liquid up. A turned tank and a ball have walls that cut
through cells.

Grids have `cells` along each metre.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.worlds.fluid import BallTank, BoxTank, LiquidWorld, Turned, seed_particles

DT = 1 / 240
"""[s]: a stream of 5 m/s crosses two cells of 1/96 m. What meets in a step may overlap by as much as it moves in it,
and parts again in later ones: where the falling dam meets the wall 2.4 % of its volume are missing for a moment, with
twice this step 9 %."""
METHOD = "multigrid"
FINEST = {2: 4096, 3: 512}
"""Cells along a metre."""
BELOW = 0.8
"""Where the top of the block is that is thrown at the ceiling, which is at 1 [m]."""
ROOM = 0.96
"""The diameter of the ball [m]: there are cells all around it."""
TURNED_TANK = (0.72, 0.6)
"""[m], its width (in space its depth, too) and its height; turned by any angle, it stays in a grid of one metre."""

Points = NDArray[np.float64]
Truths = NDArray[np.bool_]

Dim = Annotated[Literal[2, 3], About("dimensions: a slice, or space")]
Cells = Annotated[int, About("cells along a metre, at most 512 in space", 8, 4096)]
Separation = Annotated[Literal["none", "walls", "everywhere"], About("where liquid may let go: p >= 0 is asked there")]
Flip = Annotated[float, About("share of a particle's own velocity that it keeps: 0 is PIC, 1 is FLIP", 0.0, 1.0)]


@scene("NOTES 4.2", dt=DT, method=METHOD, small={"cells": 16})
def dam_break(
    *,
    dim: Dim = 2,
    cells: Cells = 96,
    separation: Separation = "walls",
    width: Annotated[float, About("of the column [m]; the tank is 1 m wide", 0.0, 1.0)] = 0.3,
    height: Annotated[float, About("of the column [m]; the tank is 0.75 m high", 0.0, 0.75)] = 0.5,
    depth: Annotated[float, About("of the column [m] in space, where the tank is 0.5 m deep", 0.0, 0.5)] = 0.3,
    flip: Flip = 0.97,
) -> LiquidWorld:
    """A column of water at one side of a tank, which nothing holds.

    It falls, runs along the floor, and climbs the wall at the other side, from which it parts on its way down. In space
    it stands in a corner.
    """

    def column(at: Points) -> Truths:
        is_column = (at[:, 0] < width) & (at[:, -1] < height)
        return is_column & (at[:, 1] < depth) if dim == 3 else is_column

    return LiquidWorld(**_grid((1.0, 0.5, 0.75), dim, cells, column), separation=separation, flip=flip)


@scene("NOTES 4.2", dt=DT, method=METHOD, small={"cells": 16})
def ceiling_drop(
    *,
    dim: Dim = 2,
    cells: Cells = 96,
    separation: Separation = "walls",
    width: Annotated[float, About("of the block of liquid [m], in the middle of a tank 1 m wide", 0.0, 1.0)] = 0.5,
    height: Annotated[float, About("of the block [m]", 0.0, 0.5)] = 0.25,
    speed: Annotated[float, About("upwards, with which it is thrown [m/s]", 0.0, 100.0)] = 4.0,
    flip: Flip = 0.97,
) -> LiquidWorld:
    """A block of water thrown at the ceiling of a closed tank: it falls down, or it sticks (`separation` "none").

    The block begins 0.2 m below the ceiling, meets it, spreads, and falls. Where pressures may be negative they pull at
    it instead: it hangs there, and drips. In space tank and block are half as deep as they are wide.
    """

    def block(at: Points) -> Truths:
        beside, above = np.abs(at[:, 0] - 0.5), np.abs(at[:, -1] - (BELOW - 0.5 * height))
        is_block = (beside < 0.5 * width) & (above < 0.5 * height)
        return is_block & (np.abs(at[:, 1] - 0.25) < 0.25 * width) if dim == 3 else is_block

    upwards = np.array([*[0.0] * (dim - 1), speed])
    return LiquidWorld(**_grid((1.0, 0.5, 1.0), dim, cells, block), velocity=upwards, separation=separation, flip=flip)


@scene("NOTES 4.2", dt=DT, method=METHOD, small={"cells": 16})
def tilted_tank(
    *,
    dim: Dim = 2,
    cells: Cells = 96,
    separation: Separation = "walls",
    angle: Annotated[float, About("by which the tank is turned [degrees]", -180.0, 180.0)] = 20.0,
    fill: Annotated[float, About("share of the tank that is full", 0.0, 1.0)] = 0.4,
    flip: Flip = 0.97,
) -> LiquidWorld:
    """A tank that was just turned: no wall lies along the grid.

    The water stands as it did in the upright tank, 0.72 m wide and deep and 0.6 m high, and swashes from side to side.
    """
    centre, turn = np.full(dim, 0.5), np.radians(angle)
    half = 0.5 * np.array([*[TURNED_TANK[0]] * (dim - 1), TURNED_TANK[1]])
    tank = Turned(BoxTank(centre - half, centre + half), turn, centre)
    up = np.array([-np.sin(turn), *[0.0] * (dim - 2), np.cos(turn)])

    def water(at: Points) -> Truths:
        below: Truths = (at - centre) @ up < half[-1] * (2.0 * fill - 1.0)
        return (tank(at) > 0.0) & below

    return LiquidWorld(**_grid((1.0, 1.0, 1.0), dim, cells, water), solid=tank, separation=separation, flip=flip)


@scene("NOTES 4.2", dt=DT, method=METHOD, small={"cells": 16})
def sphere_tank(
    *,
    dim: Dim = 2,
    cells: Cells = 96,
    separation: Separation = "walls",
    fill: Annotated[float, About("share of the diameter that water takes at one side", 0.0, 1.0)] = 0.45,
    flip: Flip = 0.97,
) -> LiquidWorld:
    """Water in a hollow ball (in the plane a circle) of 0.96 m: walls curve through cells.

    It begins as the part of the ball on one side of an upright plane, and swings up the other side.
    """
    ball = BallTank(np.full(dim, 0.5), 0.5 * ROOM)

    def water(at: Points) -> Truths:
        return (ball(at) > 0.0) & (at[:, 0] < 0.5 + ROOM * (fill - 0.5))

    return LiquidWorld(**_grid((1.0, 1.0, 1.0), dim, cells, water), solid=ball, separation=separation, flip=flip)


def _grid(size: tuple[float, float, float], dim: int, cells: int, water: Callable[[Points], Truths]) -> dict[str, Any]:
    """Cells for a tank of this width, depth and height [m], and particles where there is water."""
    if cells > FINEST[dim]:
        raise InvalidProblem(f"cells is {cells}; at most {FINEST[dim]} fit where dim is {dim}")
    sides = size if dim == 3 else (size[0], size[2])
    counts = [max(1, round(cells * side)) for side in sides]
    position = seed_particles(water, counts, 1.0 / cells)
    if not len(position):
        raise InvalidProblem(
            f"there is no water in {' x '.join(map(str, counts))} cells: it must be larger, or they smaller"
        )
    return {"position": position, "cells": counts, "spacing": 1.0 / cells}
