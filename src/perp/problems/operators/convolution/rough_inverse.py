"""An inverse that is nearly one: of the circulant matrix that is nearest to a convolution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfftn, rfftn

from perp.problems.inputs import Vector

LEAST = 1e-6
"""Waves of which A makes less than this share of what it makes of others are left small: to restore them is noise."""

ROUNDING = 1e-12
"""A wave whose energy is below zero by more than this share of the largest shows that A is not semi-definite."""


class CirculantInverse:
    """C^-1, where C is the circulant matrix (one level an axis) nearest to a symmetric A = K + diag(added):

        C[d] = mean of the A_ij with i - j = d modulo the grid                        (Chan 1988; Chan & Olkin 1994)

    Its eigenvalue for a wave f is f* A f / f* f, so that C is positive definite where A is. For a periodic A with an
    even diagonal C = A. Rows that are left out of r, and of what comes back, leave it definite, too: preconditioners
    of a free set are made so in contact problems (Vollebregt 2014).
    """

    def __init__(self, kernel: NDArray[np.float64], grid: tuple[int, ...], added: float) -> None:
        values = rfftn(wrap_around(kernel, grid)).real + added
        largest = float(values.max())
        self.is_definite = bool(largest > 0.0 and values.min() >= -ROUNDING * largest)
        self._grid = grid
        self._symbol = 1.0 / np.where(values > LEAST * largest, values, largest) if self.is_definite else values

    def __call__(self, r: Vector) -> Vector:
        waves: NDArray[Any] = rfftn(r.reshape(self._grid))
        waves *= self._symbol
        product: Vector = irfftn(waves, self._grid, overwrite_x=True).reshape(-1)
        return product


def wrap_around(kernel: NDArray[np.float64], grid: tuple[int, ...]) -> NDArray[np.float64]:
    """The means of kernel[d] and kernel[d - n], in the shares in which a row of n cells has them: n - d and d of n."""
    for axis, size in enumerate(grid):
        if kernel.shape[axis] != size:  # a free boundary: 2n - 1 offsets
            place = np.arange(size)
            share = (place / size).reshape([-1 if k == axis else 1 for k in range(kernel.ndim)])
            ahead, behind = np.take(kernel, place, axis), np.take(kernel, place - size, axis)
            kernel = (1.0 - share) * ahead + share * behind
    return kernel
