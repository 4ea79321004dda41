"""P-matrices, and what they become with free and fixed rows: all pieces of the natural map turn space the same way.

For two points x, x' the natural maps differ by (I - D + D A) (x - x') with a diagonal D, 0 <= d_i <= 1 (d_i is the
slope of the projection on [lower_i, upper_i] between the two; 1 for a row without bounds, 0 for a fixed one). The
determinant of I - D + D A is affine in every d_i, so it has one sign for all D if it has that sign at the corners
d_i in {0, 1}; without free and fixed rows the corners are the principal minors, and A is a P-matrix. Then

* there is one solution for every b (P: Cottle, Pang & Stone 1992, theorem 3.3.7; boxes: Robinson 1992, a normal map
  that is coherently oriented is a homeomorphism);
* u^T (I - D + D A)^-1 v is a quotient of functions that are affine in each d_i, with a denominator of one sign, so it
  is monotone in each d_i and greatest at a corner. Hence the largest norm, and the largest magnitude of every entry, of
  (I - D + D A)^-1 are found at the corners, and |x - x*| <= max over corners |(I - D + D A)^-1| |F(x)|.

The corners are 2^k for k rows with bounds, so this is for small k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix
from perp.problems.proofs.laws import Mask
from perp.problems.rounding import gamma, raised

MOST_CORNERS = 2**10
MOST_NUMBERS = 2**21
"""corners times n^2, at most."""


@dataclass(frozen=True)
class Orientation:
    """Proved for all D: I - D + D A is not singular."""

    inverse: Matrix
    """Bounds of the magnitudes of all entries of all inverses."""
    norm: float
    """A bound of the largest row sum of |(I - D + D A)^-1|, for one D at a time."""


def find_orientation(A: Matrix, free: Mask, fixed: Mask) -> Orientation | str:
    """Inverses at all corners, bounded, and the sign of their determinants; or why there is no proof."""
    n = A.shape[0]
    bounded = np.flatnonzero(~free & ~fixed)
    if 2**bounded.size > MOST_CORNERS or 2**bounded.size * n * n > MOST_NUMBERS:
        return f"{bounded.size} rows with bounds have too many corners"
    chosen = (np.arange(2**bounded.size)[:, None] >> np.arange(bounded.size)) & 1 == 1
    corners = np.empty((chosen.shape[0], n), dtype=np.bool_)
    corners[:] = free
    corners[:, bounded] = chosen
    matrices = np.where(corners[:, :, None], A, np.eye(n))
    try:
        inverses = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return "some principal minor is zero, or too nearly so for float64"
    distance = _distances(matrices, inverses)
    if not (distance < 0.5).all():
        return "some principal minor is zero, or too nearly so for float64"
    if not _have_one_sign(A, bounded, inverses, distance):
        return "not all principal minors are proved to have one sign"
    # M^-1 = (I - G)^-1 R with |G| <= distance in the row-sum norm: |M^-1 - R| <= distance / (1 - distance) max |R|,
    # column by column
    sizes = np.abs(inverses)
    spread = (distance / (1.0 - distance))[:, None] * sizes.max(axis=1, initial=0.0)
    entries = raised(sizes + raised(spread, 4)[:, None, :], 4)
    norms = raised(sizes.sum(axis=2).max(axis=1, initial=0.0) / (1.0 - distance), n + 8)
    return Orientation(entries.max(axis=0, initial=0.0), float(norms.max(initial=0.0)))


def _distances(matrices: NDArray[np.float64], inverses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds of the largest row sums of |I - R M|."""
    n = matrices.shape[1]
    away = np.abs(np.eye(n) - inverses @ matrices).sum(axis=2)
    sizes = np.abs(inverses) @ np.abs(matrices).sum(axis=2)[:, :, None]
    bound = raised(away, n + 2) + raised(gamma(n + 4) * sizes[:, :, 0], 3 * n)
    return np.asarray(bound.max(axis=1, initial=0.0))


def _have_one_sign(
    A: Matrix, bounded: NDArray[np.intp], inverses: NDArray[np.float64], distance: NDArray[np.float64]
) -> bool:
    """Setting d_i = 1 in a corner M, d_i = 0, multiplies its determinant by A_i M^-1 e_i: that must be positive."""
    n = A.shape[0]
    for k, i in enumerate(bounded):
        parents = np.flatnonzero((np.arange(inverses.shape[0]) >> k) & 1 == 0)
        column = inverses[parents, :, i]
        ratio = column @ A[i]
        largest = np.abs(column).max(axis=1) * (distance / (1.0 - distance))[parents]
        error = raised(gamma(n + 4) * (np.abs(column) @ np.abs(A[i])), n)
        error += raised(largest * np.abs(A[i]).sum(), n + 8)
        if not (ratio > raised(error, 4)).all():
            return False
    return True
