"""Products with the free part of a matrix, for Krylov methods on large grids: no vector is made on the way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator

Mask = NDArray[np.bool_]


class FreeProduct:
    """z -> R (A_FF + diag(shift)_FF) C z with diagonal R and C, for a z that is zero outside F.

    It is the same array each time. `follow` says which rows are free; R and C are None where they are the identity.
    """

    def __init__(self, A: Operator, rows: Vector | None = None, columns: Vector | None = None) -> None:
        self._A, self._rows, self._columns = A, rows, columns
        self._zero, self._out = freeze(np.zeros(A.n)), np.empty(A.n)
        self._free: Mask = np.ones(A.n, dtype=np.bool_)
        self._shift: Vector | None = None

    def follow(self, free: Mask, shift: Vector | None = None) -> None:
        """The mask is kept, not copied."""
        self._free, self._shift = free, shift

    def __call__(self, z: Vector) -> Vector:
        from perp.kernels.newton import policies

        x = z if self._columns is None else self._columns * z
        self._A.slack(x, self._zero, self._out)
        if self._shift is not None:
            self._out += self._shift * x
        if self._rows is not None:
            self._out *= self._rows
        policies.keep(self._free, self._out)
        return self._out
