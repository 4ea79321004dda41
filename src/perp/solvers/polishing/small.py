"""Free rows of a small A, by LAPACK: so few that no BLAS shares the work among threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector

SMALL = 64
"""Rows up to which A_FF is inverted by LAPACK; beyond, OpenBLAS may share the work among threads."""

RANK = 1e-11
"""Singular values below this share of the largest are zero up to rounding."""


class SmallSystem:
    """By the inverse of A_FF, which raises LinAlgError where there is none; refinement makes it accurate."""

    def __init__(self, rows: NDArray[np.intp], inside: NDArray[np.float64]) -> None:
        self._rows, self._inverse = rows, self._invert(inside)
        self.complaint = ""

    def _invert(self, inside: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.inv(inside), dtype=np.float64)

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        dx[self._rows] = self._inverse @ r[self._rows]
        return dx


class SmallLeastSquares(SmallSystem):
    """By the pseudo-inverse of D A_FF D, D_ii the power of two nearest to 1/sqrt of the largest entry of row i."""

    def _invert(self, inside: NDArray[np.float64]) -> NDArray[np.float64]:
        size = np.abs(inside).max(axis=1, initial=0.0)
        scale = np.exp2(np.rint(-0.5 * np.log2(np.where(size > 0.0, size, 1.0))))
        both = scale[:, None] * scale
        return np.asarray(both * np.linalg.pinv(both * inside, rcond=RANK))
