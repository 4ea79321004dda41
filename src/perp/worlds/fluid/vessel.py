"""The room that a liquid has: a grid, the solid in it, and what is open of faces and cells."""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector, freeze
from perp.worlds.fluid.grid import StaggeredGrid
from perp.worlds.fluid.openings import open_fractions
from perp.worlds.fluid.solids import Distance, sample_solid
from perp.worlds.read_only_arrays import KeepsReadOnly

POINTS_PER_AXIS = 4
"""In a cell that a wall goes through, to measure its room."""


class Vessel(KeepsReadOnly):
    """Walls do not move: all this is found once."""

    def __init__(self, grid: StaggeredGrid, solid: Distance | None = None) -> None:
        from perp.kernels.fluid import walls as fluid_walls

        self.grid = grid
        self.solid: Vector = sample_solid(solid, grid)
        """Signed distance at the nodes [m], in C order."""
        self._openings: Vector = freeze(np.concatenate(open_fractions(grid, self.solid)))
        room, capacity = np.zeros(grid.size), np.zeros(grid.size)
        fluid_walls.measure_room(grid.shape, grid.nodes, self.solid, np.uint64(POINTS_PER_AXIS), room, capacity)
        self.room: Vector = freeze(room)
        """The open share of each cell."""
        self.capacity: Vector = freeze(capacity)
        """How much liquid a full vessel has around the middle of each cell, with linear weights: 1 far from walls."""

    @property
    def fractions(self) -> tuple[Vector, ...]:
        """For each axis the open share of the faces across it, in C order."""
        ends = np.cumsum([faces.size for faces in self.grid.faces])
        return tuple(np.split(self._openings, ends[:-1]))

    def volume_below(self, level: Vector) -> float:
        """Of the liquid [m^d]; a cell is full if the surface is half a cell or more above its middle."""
        return float(np.sum(self.room * np.clip(0.5 - level, 0.0, 1.0))) * self.grid.spacing**self.grid.dimension
