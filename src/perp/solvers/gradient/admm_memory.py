"""Anderson's acceleration of the fixed point that ADMM looks for (Anderson 1965; Fu, Zhang & Boyd 2020).

With T one plain iteration and r_k = T(u_k) - u_k, the next point is

    u = T(u_k) - sum_j share_j (T(u_{j+1}) - T(u_j)),       share = argmin |r_k - sum_j share_j (r_{j+1} - r_j)|,

in the metric of the penalties. Where T is affine, which it is once no contact changes its state, these are the steps of
GMRES. A point from which the plain step is much longer than the shortest so far is not trusted: the memory is
forgotten, and the plain step that it was made of is taken instead.

(`perp.solvers.anderson` accelerates iterations that are whole solves, and takes more trouble over each step. Here an
iteration costs a few sweeps, so differences are kept in place and mixed by kernels, in a metric that changes with the
penalties.)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from perp.problems.inputs import Vector

REGULARISATION = 1e-10
"""Added to the normal equations, as a share of their trace."""

MOST_GROWTH = 10.0
"""A plain step may be so many times as long as the shortest since the memory was last empty."""


@dataclass
class Memory:
    """The last changes of u and T(u); `rows` of them, and none are ever used where that is 0."""

    rows: int
    last_image: Vector
    """Where the last plain step led, or would have led."""
    last_way: Vector
    images: Vector
    ways: Vector
    gram: Vector
    factor: Vector
    share: Vector
    is_begun: bool = False
    """Whether there is a last point to take differences from."""
    stored: int = 0
    """Differences taken since the memory was empty."""
    shortest: float = inf
    """The square of the shortest plain step since then."""
    is_mixed: bool = False
    """Whether u was last mixed, rather than reached by a plain step."""

    @staticmethod
    def of_size(rows: int, n: int) -> Memory:
        vectors, kept, small = ([np.zeros(size) for _ in range(2)] for size in (n, n * rows, rows * rows))
        return Memory(rows, vectors[0], vectors[1], kept[0], kept[1], small[0], small[1], np.zeros(rows))

    def forget(self) -> None:
        self.is_begun, self.stored, self.shortest, self.is_mixed = False, 0, inf, False

    def distrusts(self, way: float) -> bool:
        """Whether a plain step whose square is `way` shows that the last mixing went wrong."""
        return self.is_mixed and not way <= MOST_GROWTH**2 * self.shortest

    def mix(self, u: Vector, image: Vector, way: float, weight: Vector) -> None:
        """u <- the point to go to from u, whose plain step leads to `image`; `way` is its square."""
        from perp.kernels.gradient import admm as kernels

        if self.rows == 0:
            np.copyto(u, image)
            return
        self.shortest = min(self.shortest, way)
        if not self.is_begun:
            np.copyto(self.last_image, image)
            np.subtract(image, u, out=self.last_way)
            np.copyto(u, image)
            self.is_begun, self.is_mixed = True, False
            return
        slot, self.stored = np.uint64(self.stored % self.rows), self.stored + 1
        count, rows = np.uint64(min(self.stored, self.rows)), np.uint64(self.rows)
        last, kept = (self.last_image, self.last_way), (self.images, self.ways, self.gram)
        kernels.remember(slot, count, rows, u, image, weight, *last, *kept)
        np.copyto(u, image)
        kernels.mix(count, rows, REGULARISATION, weight, self.last_way, *kept, self.factor, self.share, u)
        self.is_mixed = True

    @staticmethod
    def load_kernels() -> None:
        """Two points of no rows: both kernels."""
        nothing = Memory.of_size(1, 0)
        for _ in range(2):
            nothing.mix(np.empty(0), np.empty(0), 0.0, np.empty(0))
