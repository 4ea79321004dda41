"""The contacts that a world found, one entry each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector


@dataclass(frozen=True, eq=False)
class Contacts:
    """m contacts in d = 2 or 3 dimensions, each between body a and body b, either of which may be the world."""

    bodies: NDArray[np.int64]
    """m x 2, numbers of a and b; -1 is the world."""
    point: NDArray[np.float64]
    """m x d [m], in the world."""
    frame: NDArray[np.float64]
    """m x d x d: rows are unit vectors, the normal from a to b first, then the tangents."""
    gap: Vector
    """m [m]; negative where the bodies overlap."""
    friction: Vector
    """m coefficients."""
    restitution: Vector
    """m, in 0..1."""

    def __len__(self) -> int:
        return self.gap.size

    @property
    def dimension(self) -> int:
        return int(self.point.shape[1])

    @property
    def penetration(self) -> float:
        """The deepest overlap [m]; 0 where there is none."""
        return float(max(0.0, -self.gap.min(initial=0.0)))

    def impulses(self, x: Vector) -> NDArray[np.float64]:
        """m x d impulses on body b [N s] as vectors of the world, from those in the contacts' own frames."""
        d = self.dimension
        world: NDArray[np.float64] = np.einsum("mk,mkj->mj", x[: d * len(self)].reshape(-1, d), self.frame)
        return world
