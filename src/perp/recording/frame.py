"""One moment of a world: of bodies their motion and contacts, of a liquid its particles and the pressure on its grid.

What the solver did is in the `statistics` of both. Axes of arrays on the grid of a liquid are coordinates in their
order, (x, y) or (x, y, z); the last one points up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector


@dataclass(frozen=True, eq=False, repr=False)
class ContactFrame:
    """The contacts of one step, d = 2 or 3 coordinates each."""

    bodies: NDArray[np.int64]
    """m x 2; -1 is the world."""
    point: NDArray[np.float64]
    """m x d [m]."""
    normal: NDArray[np.float64]
    """m x d, from the first body to the second."""
    gap: Vector
    """m [m], before the step."""
    impulse: NDArray[np.float64]
    """m x d [N s], as a vector of the world, on the second body."""

    def __repr__(self) -> str:
        return f"<ContactFrame: {self.gap.size:,} contacts>"

    @staticmethod
    def none(dimension: int) -> ContactFrame:
        vectors = np.empty((0, dimension))
        return ContactFrame(np.empty((0, 2), dtype=np.int64), vectors, vectors, np.empty(0), vectors)


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """The state of n bodies after a step, and the contacts that the step had."""

    step: int
    """How many steps were taken; 0 is the beginning."""
    time: float
    """[s]"""
    position: NDArray[np.float64]
    """n x d [m], centres of mass."""
    orientation: NDArray[np.float64]
    """Three dimensions: n x 4 unit quaternions (w, x, y, z). Two: n x 1 angles [rad]."""
    velocity: NDArray[np.float64]
    """n x d [m/s]."""
    spin: NDArray[np.float64]
    """n x 3 [rad/s], or n x 1 in two dimensions."""
    contacts: ContactFrame
    statistics: Mapping[str, float] = field(default_factory=dict)
    """What the step measured, by name: residual, iterations, seconds, energy, ..."""

    def __repr__(self) -> str:
        held = f"{len(self.position):,} bodies in {self.dimension} dimensions, {self.contacts.gap.size:,} contacts"
        return f"<Frame: step {self.step:,}, t = {self.time:.6g} s, {held}, {len(self.statistics)} statistics>"

    @property
    def dimension(self) -> int:
        return int(self.position.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class LiquidGrid:
    """The cells that a liquid moves in, and the solid around them: what does not change from step to step."""

    cells: tuple[int, ...]
    """How many along each of the d = 2 or 3 axes."""
    spacing: float
    """The edge of a cell [m]."""
    origin: NDArray[np.float64]
    """d [m], the lower corner of the first cell."""
    solid: NDArray[np.float64]
    """Signed distance to the solid at the nodes [m], negative inside it; one number more along each axis than cells."""

    def __repr__(self) -> str:
        shape = " x ".join(f"{count:,}" for count in self.cells)
        return f"<LiquidGrid: {shape} cells of {self.spacing:.6g} m>"

    @property
    def dimension(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, eq=False, repr=False)
class LiquidFrame:
    """The state of n particles after a step, and the pressure that the step had."""

    step: int
    """How many steps were taken; 0 is the beginning."""
    time: float
    """[s]"""
    position: NDArray[np.float64]
    """n x d [m]; n may differ from frame to frame."""
    velocity: NDArray[np.float64]
    """n x d [m/s]."""
    pressure: NDArray[np.float64]
    """Of each cell [Pa]; 0 where there is no liquid."""
    liquid: NDArray[np.bool_]
    """Which cells had liquid in the step."""
    separating: NDArray[np.bool_]
    """Which of them were at their bound, p = 0, where the liquid may leave the wall."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """What the step measured, by name: residual, iterations, seconds, volume, ..."""

    def __repr__(self) -> str:
        held = f"{len(self.position):,} particles in {self.dimension} dimensions"
        wet = f"{np.count_nonzero(self.liquid):,} of {self.liquid.size:,} cells with liquid"
        told = f"{held}, {wet}, {np.count_nonzero(self.separating):,} separating"
        return f"<LiquidFrame: step {self.step:,}, t = {self.time:.6g} s, {told}, {len(self.statistics)} statistics>"

    @property
    def dimension(self) -> int:
        return int(self.position.shape[1])
