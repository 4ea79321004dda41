"""What no x can take away from b: a proof where equations contradict each other, or where a region is closed.

r = b + A x with |r| as small as it gets is orthogonal to the range of A: A^T r = 0 and b^T r = |r|^2. So u = -r
separates where the signs of the rows allow it, as they always do for equations. LSMR (Fong & Saunders 2011) finds r
with products with A and A^T alone.

For a square A of moderate size, inverse iteration with an LU factor of A^T gives a u with A^T u = 0 at once. If there
is only one, it names the rows that depend on each other, or is the constant pressure of a closed vessel in any units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse.linalg import lsmr

from perp.problems.deadline import Pace, watched
from perp.problems.inputs import Matrix, Vector

MOST_STEPS = 1500

REPEATS = 3
"""r is projected again: each time takes back the rounding errors of the one before."""

GONE = 1e-10
"""Below this share of b nothing is left of it."""

ORTHOGONAL = 1e-6
"""A^T r must be as small as this share of its terms for r to be worth a try."""


ELIMINATION = Pace(1e10)
"""Operations a second of LAPACK's LU."""


def leave_over(A: Any, b: Vector) -> Vector | None:
    """r, zero where b is in the range of A; None where the iteration comes to no end. A is sparse, of any shape."""
    scale = float(np.abs(b).max(initial=0.0))
    if scale == 0.0:
        return np.zeros(b.size)
    left = b / scale
    with np.errstate(all="ignore"):
        for _ in range(REPEATS):
            left = left - A @ lsmr(watched(A), left, atol=1e-14, btol=1e-14, maxiter=MOST_STEPS)[0]
            if not np.isfinite(left).all():
                return None
            if np.abs(left).max() <= GONE:
                return np.zeros(b.size)
        return left if _pull(A, left) <= ORTHOGONAL else None


def find_dependent_rows(A: Matrix) -> Vector | None:
    """A u with A^T u = 0 but for rounding, if A is singular; by two steps of inverse iteration (Wielandt 1944)."""
    largest = np.abs(A).max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return None
    with ELIMINATION.work(2.0 / 3.0 * A.shape[0] ** 3):
        factor, order, _ = dgetrf(A.T / largest)
    pivots = factor.diagonal()
    least = 2.0**-50 * np.abs(pivots).max()
    np.fill_diagonal(factor, np.where(np.abs(pivots) < least, least, pivots))
    u = np.cos(np.arange(A.shape[0]))  # nothing special, and the same every time
    for _ in range(2):
        u = dgetrs(factor, order, u)[0]
        if not np.isfinite(u).all() or not u.any():
            return None
        u = u / np.abs(u).max()
    return u if _pull(A, u) <= ORTHOGONAL else None


def _pull(A: Any, r: Vector) -> float:
    """|A^T r| as a share of the terms that it is added up from, at worst."""
    terms = abs(A).T @ np.abs(r)
    return float(np.divide(np.abs(A.T @ r), terms, out=np.zeros(terms.size), where=terms > 0.0).max(initial=0.0))
