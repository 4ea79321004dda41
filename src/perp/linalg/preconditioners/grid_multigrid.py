"""Geometric multigrid for stencils: levels that follow another set of free cells in a few passes over the grid."""

from __future__ import annotations

import numpy as np

from perp.linalg.multigrid import GridHierarchy
from perp.linalg.preconditioners.base import Mask, Preconditioner
from perp.problems.inputs import Vector
from perp.problems.operators import StencilOperator


class GridMultigrid(Preconditioner):
    """One V-cycle of `GridHierarchy`."""

    def __init__(self, A: StencilOperator, sweeps: int) -> None:
        self._hierarchy = GridHierarchy(A)
        self._sweeps = sweeps
        self._free: Mask | None = None
        self._shift: Vector | None = None
        """None where it is zero everywhere."""

    def follow(self, free: Mask, shift: Vector) -> None:
        new_shift = shift if shift.any() else None
        if self._free is not None and np.array_equal(free, self._free) and self._is_same(new_shift):
            return
        self._free, self._shift = free.copy(), None if new_shift is None else new_shift.copy()
        self._hierarchy.follow(self._free, self._shift)

    def _is_same(self, shift: Vector | None) -> bool:
        if shift is None or self._shift is None:
            return shift is self._shift
        return np.array_equal(shift, self._shift)

    def apply(self, r: Vector) -> Vector:
        z = np.empty(r.size)
        self._hierarchy.cycle(r, z, self._sweeps)
        return z

    def report(self) -> dict[str, float]:
        return {"nonzeros": self._hierarchy.stored, "levels": self._hierarchy.levels}
