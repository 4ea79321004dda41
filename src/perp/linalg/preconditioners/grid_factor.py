"""Incomplete Cholesky factors of a stencil, free cells only: one number a cell is stored, and A is never formed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perp.kernels.grid import cholesky as kernels
from perp.linalg.cholesky import dependence
from perp.linalg.preconditioners.base import Mask, Preconditioner
from perp.linalg.preconditioners.incomplete_factor import WORST
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import StencilOperator

MOST_AXES = 3


def line_couplings(A: StencilOperator) -> tuple[Any, ...]:
    """Shape, step and couplings as `perp.kernels.grid.cholesky` reads them; axes of size one come before the others."""
    missing = MOST_AXES - len(A.grid)
    sizes = [np.uint64(size) for size in (1,) * missing + A.grid]
    if A.faces is not None:
        weights, step = list(A.faces), 1
    else:
        assert A.couplings is not None
        lines = np.outer(A.couplings, np.ones(A.grid[-1] + 1))
        lines[-1, [0, -1]] = 0.0
        weights, step = [freeze(line.copy()) for line in lines], 0
    return *sizes, np.uint64(step), *weights[:1] * missing, *weights


def is_dominant(A: StencilOperator) -> bool:
    """Whether no coupling is positive and no row sum negative, beyond rounding: pivots then stay positive, and no
    substitution amplifies."""
    most = max((float(np.max(A.between(axis), initial=-np.inf)) for axis in range(len(A.grid))), default=0.0)
    if most > 0.0:
        return False
    sums = A.slack(np.ones(A.n), freeze(np.zeros(A.n)), np.empty(A.n))
    return bool((sums >= -dependence(2 * len(A.grid)) * A.centre).all())


class GridFactor(Preconditioner):
    """P = (E + L) E^-1 (E + L^T) on the free cells (`perp.kernels.grid.cholesky`).

    Where a pivot is of no use, or P would be singular to working precision, `otherwise` makes the preconditioner that
    takes over for these cells: the same one for a matrix that is given by its entries, which knows what to do.
    """

    def __init__(
        self, A: StencilOperator, tau: float, least: float, mends: bool, otherwise: Callable[[], Preconditioner]
    ) -> None:
        self._A, self._options = A, (float(tau), float(least), mends)
        self._grid = line_couplings(A)
        self._is_dominant = is_dominant(A)
        self._free: Mask = np.zeros(A.n, dtype=np.bool_)
        self._shift = np.zeros(A.n)
        self._inverse = np.zeros(A.n)
        self._make_other = otherwise
        self._other: Preconditioner | None = None
        self._has_factor = True
        self._followed = False

    def follow(self, free: Mask, shift: Vector) -> None:
        if self._followed and np.array_equal(free, self._free) and np.array_equal(shift, self._shift):
            return
        self._free[:], self._shift[:], self._followed = free, shift, True
        numbers = (self._A.centre, self._free, self._shift, *self._options, self._inverse)
        lost = kernels.factor(*self._grid, *numbers)
        is_safe = self._is_dominant and not shift.min(initial=0.0) < 0.0
        self._has_factor = lost == 0 and (is_safe or self._is_sound())
        if not self._has_factor:
            self._other = self._other or self._make_other()
            self._other.follow(free, shift)

    def _is_sound(self) -> bool:
        """Whether P^-1 of a probe, in units of the diagonal, is no larger than working precision allows."""
        root = np.sqrt(np.abs(self._A.centre + self._shift))
        probe = self._substitute(root * np.cos(np.arange(root.size)))
        return bool(np.abs(probe * root).max(initial=0.0) <= WORST)

    def _substitute(self, r: Vector) -> Vector:
        z = np.empty(r.size)
        if z.size:
            kernels.substitute(*self._grid, self._inverse, r, z)
        return z

    def apply(self, r: Vector) -> Vector:
        if not self._has_factor:
            assert self._other is not None
            return self._other.apply(r)
        return self._substitute(r)

    @property
    def pivots(self) -> Vector:
        """E, zero where a cell is not free."""
        e = np.zeros(self._inverse.size)
        np.divide(1.0, self._inverse, out=e, where=self._free)
        return e

    def report(self) -> dict[str, float]:
        if not self._has_factor:
            assert self._other is not None
            return self._other.report()
        cells, faces = self._free.reshape(self._A.grid), 0
        for axis in range(len(self._A.grid)):
            ahead, behind = cells.swapaxes(0, axis)[1:], cells.swapaxes(0, axis)[:-1]
            coupled = np.swapaxes(
                np.broadcast_to(np.not_equal(self._A.between(axis), 0.0), _ahead(self._A, axis)), 0, axis
            )
            faces += int(np.count_nonzero(ahead & behind & coupled))
        nothing = ("shifts", "compensation", "imaginary_columns", "small_pivots", "decoupled_rows")
        return {"nonzeros": float(np.count_nonzero(cells) + faces)} | dict.fromkeys(nothing, 0.0)


def _ahead(A: StencilOperator, axis: int) -> tuple[int, ...]:
    """The shape of the couplings across an axis."""
    return tuple(size - (k == axis) for k, size in enumerate(A.grid))
