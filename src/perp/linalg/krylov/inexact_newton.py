"""What an inexact Newton method brings to a Krylov method: a tolerance, and products with the free part of a matrix.

An inexact Newton method asks of its linear solver only ||F + F' dx|| <= gamma ||F|| (NOTES eq. 71 and 105), so the
absolute `tolerance` that the methods of this folder take is gamma ||F||. Products with free rows make no vector on the
way, for large grids.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.kernels.newton import minimum_map
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator

GREATEST = 0.9
"""No forcing term is larger: the linear model has to be reduced at all."""

SAFEGUARD = 0.1
"""Above this, a forcing term does not fall faster than the square of the last one."""

Mask = NDArray[np.bool_]


def forcing(gamma: float, norm: float) -> float:
    """The tolerance of an inexact Newton step: gamma ||F|| (NOTES eq. 71, 105)."""
    return gamma * norm


def next_gamma(norm: float, previous_norm: float, previous_gamma: float) -> float:
    """gamma = 0.9 (||F_k|| / ||F_{k-1}||)^2 with its safeguard (Eisenstat & Walker 1996, choice 2).

    Rough while far from the solution, tight enough for quadratic convergence close to it.
    """
    if previous_norm <= 0.0:
        return GREATEST
    gamma = GREATEST * (norm / previous_norm) ** 2
    floor = GREATEST * previous_gamma**2
    if floor > SAFEGUARD:
        gamma = max(gamma, floor)
    return min(gamma, GREATEST)


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
        x = z if self._columns is None else self._columns * z
        self._A.slack(x, self._zero, self._out)
        if self._shift is not None:
            self._out += self._shift * x
        if self._rows is not None:
            self._out *= self._rows
        minimum_map.keep(self._free, self._out)
        return self._out
