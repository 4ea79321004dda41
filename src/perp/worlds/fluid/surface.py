"""Where the liquid is: the level of its free surface on the grid, from particles.

Each particle is a share of a cell. Spread over the middles of the cells around them, with linear weights, they make a
field that is 1 inside the liquid, 0 outside, and a smooth step between. Over a flat surface the step is made of two
parabolas (`fluid_surface.depth_of`), so that the field can be turned into the distance to the surface. Over a block
that was seeded evenly the surface is flat, and its distance exact where the block ends at the edge or in the middle of
cells.

At walls the field is divided by what it would be in a full vessel: the surface meets a wall as flat as it is elsewhere.
Unlike a distance to the nearest particle, the field is a density. Where particles thin out, the surface recedes; where
there are too many, that is seen, and can be put right.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.fluid import fields as fluid_transfer
from perp.kernels.fluid import pressure as fluid_surface
from perp.problems.inputs import Vector
from perp.worlds.fluid.pressure import Flags, for_kernels
from perp.worlds.fluid.vessel import Vessel

NARROW = 0.125
"""Cells that see less room than this ask their neighbours where the surface is."""
FLAT = 1e-9
"""In cells: a distance below is zero."""
IN_CELL = 0.5 - FLAT
"""In cells: a surface that is nearer to the middle of a cell than that goes through it; one that lies on its edge, up
to rounding errors, does not."""
MOST_EXCESS = 1.0
"""More than twice the liquid that fits is not taken into account: a few particles in a narrow place."""


def find_surface(vessel: Vessel, position: Vector, share: float) -> tuple[Vector, Flags, Vector]:
    """The distance to the free surface at the middle of cells [cells], which cells are liquid, and their excess.

    `share` is the part of a cell that a particle fills; the excess, also as a part of a cell, is how much more liquid
    there is in it than fits.
    """
    grid, middles = vessel.grid, vessel.grid.middles
    filled, level, excess = np.zeros(grid.size), np.empty(grid.size), np.empty(grid.size)
    liquid = np.empty(grid.size, dtype=np.uint8)
    dimension = np.uint64(grid.dimension)
    fluid_transfer.count_particles(position, dimension, grid.frame, middles.offset, middles.shape, share, filled)
    fractions = for_kernels(grid, vessel.fractions)
    fluid_surface.find_level(grid.shape, *fractions, filled, vessel.capacity, NARROW, FLAT, level, liquid)
    fluid_surface.find_excess(
        grid.shape, *fractions, filled, vessel.capacity, vessel.room, NARROW, MOST_EXCESS, liquid, excess
    )
    return level, liquid, excess


def find_attached(vessel: Vessel, level: Vector, liquid: Flags) -> Flags:
    """Which cells move with the liquid: its own, and those of air beside it that the surface goes through."""
    attached = np.empty(liquid.size, dtype=np.uint8)
    fractions = for_kernels(vessel.grid, vessel.fractions)
    fluid_surface.find_attached(vessel.grid.shape, *fractions, level, liquid, IN_CELL, attached)
    return attached
