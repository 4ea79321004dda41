"""H-matrices with a positive diagonal, by their comparison matrix.

<A> has |A_ii| on its diagonal and -|A_ij| elsewhere. A is an H+-matrix if A_ii > 0 and <A> is a nonsingular M-matrix,
which is so if and only if <A> v > 0 for some v > 0 (Berman & Plemmons 1994, theorem 6.2.3, I27). Then <A>^-1
has no negative entry, and so <A> t >= w implies <A>^-1 w <= t: a product proves that t is a bound, whoever found it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from perp.problems.inputs import Matrix, Vector
from perp.problems.rounding import gamma, raised


def comparison_matrix(A: Any) -> Any:
    """<A>, dense or sparse as A is."""
    size = abs(A)
    if isinstance(A, np.ndarray):
        compared = -size
        np.fill_diagonal(compared, size.diagonal())
        return compared
    return sparse.csr_array(sparse.diags_array(2.0 * size.diagonal()) - size)


def positive_witness(A: Matrix) -> Vector | None:
    """v > 0 with <A> v > 0, which proves that A is an H+-matrix; None where none was found."""
    if not (A.diagonal() > 0.0).all():
        return None
    compared = comparison_matrix(A)
    try:
        v = np.asarray(np.linalg.solve(compared, A.diagonal()), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(v).all() and (v > 0.0).all()):
        return None
    return v if (_product_below(compared, v) > 0.0).all() else None


def solve_above(A: Matrix, witness: Vector, w: Vector) -> Vector | None:
    """t >= <A>^-1 w for w >= 0 and an H+-matrix A, proved by <A> t >= w; None where rounding leaves no proof."""
    compared = comparison_matrix(A)
    surplus = _product_below(compared, witness)
    t: Vector = np.maximum(np.linalg.solve(compared, w), 0.0)
    for _ in range(4):
        missing = w - _product_below(compared, t)
        if (missing <= 0.0).all():
            return t
        if not np.isfinite(missing).all():
            return None
        # <A> witness >= surplus > 0: so many of it fill what is missing, and twice as many allow for rounding
        t = t + 2.0 * float(np.max(missing / surplus)) * witness
    return None


def _product_below(compared: Matrix, v: Vector) -> Vector:
    """A lower bound of <A> v for v >= 0."""
    n = v.size
    return np.asarray(compared @ v - raised(gamma(n + 4) * (np.abs(compared) @ v), 2 * n))
