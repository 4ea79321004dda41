"""One moment of a world: where the bodies are, how they move, where they touch, and what the solver did."""

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
