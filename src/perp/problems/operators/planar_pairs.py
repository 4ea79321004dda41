"""J with at most two bodies a row, where bodies move in a plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.kernels.storages import planar_pairs
from perp.problems.inputs import Vector
from perp.problems.operators.masses import PlanarMasses
from perp.problems.operators.pairs import Pairs


class PlanarPairs(Pairs):
    """Rigid bodies in a plane: six numbers a row, two a body (`perp.kernels.storages.planar_pairs`)."""

    width = 3
    masses = PlanarMasses

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        blocks = np.empty((count, size, size))
        planar_pairs.diagonal_blocks(np.uint64(size), self.bodies, self.jacobian, self.inverse_mass, blocks.reshape(-1))
        return blocks

    def velocity(self, x: Vector) -> Vector:
        v = np.empty(3 * (self.body_count + 1))
        planar_pairs.velocity(self.bodies, self.jacobian, self.inverse_mass, x, v)
        return v

    def _times(self, v: Vector, out: Vector) -> None:
        planar_pairs.times_planar(self.bodies, self.jacobian, v, out)

    def slack(self, compliance: Vector, b: Vector, x: Vector, out: Vector) -> None:
        work = np.empty(3 * (self.body_count + 1))
        planar_pairs.slack(self.bodies, self.jacobian, self.inverse_mass, compliance, b, x, work, out)
