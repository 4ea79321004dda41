"""Finding the contacts of discs: a grid for pairs, every wall for every disc; and finding them again."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from perp.kernels.worlds import discs
from perp.problems.inputs import Vector
from perp.worlds.contacts import Contacts
from perp.worlds.rigid2d.discs import Discs
from perp.worlds.rigid2d.walls import Walls

MUCH_LARGER = 4.0
"""Discs of more than so many median radii do not set the width of the cells, unless there are many such."""
MUCH_FARTHER = 2.0
"""Nor do discs that reach farther than so many of the largest radii that remain, being fast."""
SAMPLE = 31
"""How many discs are asked for their velocity to find out what is usual."""
FEW = 64
"""There is room for at least so many contacts from the beginning; it grows where there are more."""


@dataclass(frozen=True, eq=False, repr=False)
class DiscContacts(Contacts):
    """Contacts in the order of their identities: pairs of discs i < j, then discs and walls."""

    identity: NDArray[np.int64]
    """A number that two contacts of different steps share if they are of the same discs, or disc and wall."""


class Collision:
    """What stays from step to step: cells, and how many contacts to expect."""

    discs: Discs
    walls: Walls
    margin: float
    sample: Vector
    reach: Vector
    members: NDArray[np.uint32]
    sorted_discs: Vector

    def __init__(self, discs: Discs, walls: Walls, margin: float) -> None:
        self.discs, self.walls, self.margin = discs, walls, margin
        n = len(discs)
        self.limit: float = MUCH_FARTHER * _ordinary_radius(discs.radius) + 0.5 * margin
        self.sample, self.reach = np.zeros(SAMPLE), np.zeros(n)
        self.far: NDArray[np.uint32] = np.zeros(n, dtype=np.uint32)
        self.bits: np.uint64 = np.uint64(max(4, (2 * n - 1).bit_length()))
        self.cells: NDArray[np.int64] = np.zeros(2 * n, dtype=np.int64)
        self.starts: NDArray[np.uint32] = np.zeros(2 ** int(self.bits) + 1, dtype=np.uint32)
        self.members, self.sorted_discs = np.zeros(n, dtype=np.uint32), np.zeros(3 * n)
        self.pairs: NDArray[np.uint32] = np.zeros(2 * max(FEW, 4 * n), dtype=np.uint32)
        self.touched: NDArray[np.uint32] = np.zeros(2 * max(FEW, n), dtype=np.uint32)

    def find(self, position: Vector, velocity: Vector, dt: float) -> DiscContacts:
        """Contacts with a gap of at most the margin, and of what a step of dt closes at these velocities (flat)."""
        between = self._find_pairs(position, velocity, dt)
        beside = self._find_touched_walls(position, velocity, dt)
        count = between + beside
        bodies, identity = np.empty(2 * count, dtype=np.int64), np.empty(count, dtype=np.int64)
        point, frame = np.empty(2 * count), np.empty(4 * count)
        gap, friction, restitution = np.empty(count), np.empty(count), np.empty(count)
        known = (position, self.discs.radius, self.discs.surface)
        written = (bodies, point, frame, gap, friction, restitution, identity)
        first, last = np.uint64(between), np.uint64(count)
        discs.describe_pairs(self.pairs, first, *known, *written)
        walls = (self.walls.numbers, self.walls.is_segment, self.walls.surface)
        discs.describe_touched_walls(self.touched, first, last, *known, *walls, *written)
        return DiscContacts(
            bodies.reshape(-1, 2),
            point.reshape(-1, 2),
            frame.reshape(-1, 2, 2),
            gap,
            friction,
            restitution,
            identity,
        )

    def _find_pairs(self, position: Vector, velocity: Vector, dt: float) -> int:
        radius, step = self.discs.radius, (self.margin, dt, self.limit)
        if not radius.size:
            return 0
        far_count, width = discs.measure_reach(velocity, radius, *step, self.sample, self.reach, self.far)
        grid = (self.bits, self.cells, self.starts, self.members, self.sorted_discs)
        discs.sort_into_cells(position, self.reach, self.limit, width, *grid)
        known = (position, velocity, radius, self.reach, self.discs.inverse_mass, *step, self.far, np.uint64(far_count))
        while True:
            found = int(discs.find_pairs(*known, *grid, self.pairs))
            if 2 * found <= self.pairs.size:
                return found
            self.pairs = np.zeros(3 * found, dtype=np.uint32)  # and room for half as many more

    def _find_touched_walls(self, position: Vector, velocity: Vector, dt: float) -> int:
        known = (position, velocity, self.discs.radius, self.discs.inverse_mass)
        walls = (self.walls.numbers, self.walls.is_segment)
        while True:
            found = int(discs.find_touched_walls(*known, *walls, self.margin, dt, self.touched))
            if 2 * found <= self.touched.size:
                return found
            self.touched = np.zeros(3 * found, dtype=np.uint32)


def _ordinary_radius(radius: Vector) -> float:
    """The largest radius but for those of a few discs that are much larger than the others."""
    if not radius.size:
        return 0.0
    ordinary = radius <= MUCH_LARGER * np.median(radius)
    few = isqrt(radius.size)  # so many can be compared with all others
    return float((radius[ordinary] if np.count_nonzero(~ordinary) <= few else radius).max())


def match(old: DiscContacts, new: DiscContacts) -> NDArray[np.int64]:
    """For each new contact the number of the old one of the same identity, or -1."""
    numbers = np.empty(len(new), dtype=np.int64)
    discs.match_sorted(old.identity, new.identity, numbers)
    return numbers
