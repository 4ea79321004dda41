"""The Fourier transform of a kernel, and products with it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfftn, next_fast_len, rfftn

from perp.problems.inputs import Vector

Kernel = NDArray[np.float64]


class Spectrum:
    """x -> the cells of `grid` of  F^-1 (symbol F x),  x extended by zeros to the sizes of the transform.

    `periodic` transforms the grid itself. Otherwise each axis of n cells gets at least 2n - 1, so that what leaves the
    grid on one side does not come in on the other, and a size that transforms quickly.
    """

    def __init__(self, kernel: Kernel, grid: tuple[int, ...], *, periodic: bool, symmetric: bool) -> None:
        self.grid = grid
        self.sizes = grid if periodic else tuple(int(next_fast_len(2 * size - 1, real=True)) for size in grid)
        self.symmetric = symmetric
        self.symbol = self._transform(spread(kernel, self.sizes))

    def _transform(self, field: Kernel) -> NDArray[Any]:
        symbol = rfftn(field)
        return np.ascontiguousarray(symbol.real) if self.symmetric else symbol  # of k[d] = k[-d] it is real

    def multiply(self, x: Vector, symbol: NDArray[Any] | None = None) -> Vector:
        """The product, as a new vector; `symbol` in the place of the kernel's."""
        waves = rfftn(x.reshape(self.grid), self.sizes)
        waves *= self.symbol if symbol is None else symbol
        product = irfftn(waves, self.sizes, overwrite_x=True)
        inside: Vector = product[tuple(slice(size) for size in self.grid)].reshape(-1)
        return inside

    @cached_property
    def transposed(self) -> NDArray[Any]:
        return self.symbol if self.symmetric else self.symbol.conj()

    @cached_property
    def largest(self) -> float:
        """max |symbol|: the norm of the periodic product, and at least that of the other one, which is a part of it."""
        return float(np.abs(self.symbol).max(initial=0.0))

    @property
    def work(self) -> int:
        """Multiplications of two real transforms."""
        cells = float(np.prod(self.sizes, dtype=np.float64))
        return int(5.0 * cells * max(1.0, np.log2(max(cells, 1.0))))


def spread(kernel: Kernel, sizes: tuple[int, ...]) -> Kernel:
    """The same kernel[d] on a larger grid, where negative d count from its end; zero between."""
    for axis, (have, want) in enumerate(zip(kernel.shape, sizes, strict=True)):
        if have != want:
            ahead = (have + 1) // 2
            parts = np.split(kernel, [ahead], axis=axis)
            missing = [want - have if k == axis else size for k, size in enumerate(kernel.shape)]
            kernel = np.concatenate([parts[0], np.zeros(missing), parts[1]], axis=axis)
    return kernel
