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
"""In the order of `perp.kernels.multigrid_cycle`."""


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
        determinant = area - self.mixed**2
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
    def sweep(self, count: int, backward: bool) -> None:
        """So many sweeps of projected Gauss-Seidel over x."""

    @abstractmethod
    def follow(self, free: Mask) -> None:
        """Make the coarse levels for these rows (the truncated basis)."""

    @abstractmethod
    def correct(self, y: Vector, out: Vector) -> None:
        """out = minus the coarse levels' answer to A d = y on the free rows, 0 elsewhere, by one cycle."""

    @abstractmethod
    def measure_line(self, y: Vector, d: Vector) -> tuple[float, float]:
        """y^T d and d^T A d."""

    @abstractmethod
    def measure_plane(self, d: Vector, s: Vector) -> Plane:
        """Along d and s, at x."""
