"""What projected multigrid needs of the finest level and of the space of corrections, whatever A is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector

Mask = NDArray[np.bool_]

PARALLEL = 1e-12
"""Two directions whose Gram determinant is so small a share of the product of their lengths are one."""

CYCLES = ("V", "F", "W")
"""In the order of `perp.kernels.multigrid.cycle`."""


@dataclass(frozen=True)
class Plane:
    """Of f(x) = 1/2 x^T A x + b^T x at a point with slack y, along two directions d and s."""

    slope_d: float
    """y^T d."""
    slope_s: float
    curvature_d: float
    """d^T A d."""
    mixed: float
    """d^T A s."""
    curvature_s: float

    def least(self) -> tuple[float, float]:
        """Where f is least, as multiples of d and s; along d alone where the two are nearly one."""
        area = self.curvature_d * self.curvature_s
        determinant = area - self.mixed * self.mixed
        if not determinant > PARALLEL * area:
            return (-self.slope_d / self.curvature_d if self.curvature_d > 0.0 else 0.0), 0.0
        along_d = (self.mixed * self.slope_s - self.curvature_s * self.slope_d) / determinant
        along_s = (self.mixed * self.slope_d - self.curvature_d * self.slope_s) / determinant
        return along_d, along_s


class LevelSpace(ABC):
    """Sweeps over x, and corrections of it from coarser levels that move the free rows only."""

    closed: int = 0
    """Parts of the free rows in which nothing holds a constant, as far as the levels show them."""

    @abstractmethod
    def sweep_and_look(self, count: int, y: Vector, free: Mask) -> int:
        """So many sweeps of projected Gauss-Seidel over x; then its slack and free rows. How many changed sides.

        Free are all rows but those at a bound whose slack keeps them there, and fixed ones.
        """

    @abstractmethod
    def follow(self, free: Mask) -> None:
        """Make the coarse levels for these rows (the truncated basis)."""

    @abstractmethod
    def solve_below(self, y: Vector) -> None:
        """The coarse levels' answer -v to A d = -y on the free rows, by one cycle."""

    @abstractmethod
    def propose(self, length: float, y: Vector, out: Vector) -> tuple[float, float, int]:
        """out = x + length v, projected, less x; y^T out, out^T A out, and how many rows met a bound."""

    @abstractmethod
    def step_and_sweep(self, length: float, d: Vector, count: int) -> None:
        """x += length d, then so many sweeps in the other order."""

    @abstractmethod
    def measure_plane(self, d: Vector, s: Vector) -> Plane:
        """Along d and s, at x."""
