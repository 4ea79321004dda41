"""Rigorous tests of matrices: bounds of eigenvalues, H-matrices by their comparison matrix, and P-matrices.

**Eigenvalues** of symmetric matrices, and of the symmetric part of any matrix. For any triangular L and any number s,
the matrix L L^T has no negative eigenvalue, so

    lambda_min(H)  >=  s - |E|,        E = H - s I - L L^T,

with any operator norm of the symmetric matrix E; here the largest row sum. Nothing needs to be known of how L was found
(by a Cholesky factorisation, with s a little below an approximate eigenvalue), only E must be bounded, rounding
included. Rump 2006, *Verification of positive definiteness*, bounds E beforehand; computing it afterwards costs a
product of matrices and does not depend on the implementation of the factorisation.

**Comparison.** <A> has |A_ii| on its diagonal and -|A_ij| elsewhere. A is an H+-matrix if A_ii > 0 and <A> is a
nonsingular M-matrix, which is so if and only if <A> v > 0 for some v > 0 (Berman & Plemmons 1994, theorem 6.2.3, I27).
Then <A>^-1 has no negative entry, and so <A> t >= w implies <A>^-1 w <= t: a product proves that t is a bound, whoever
found it.

**Orientation**: P-matrices, and what they become with free and fixed rows: all pieces of the natural map turn space the
same way. For two points x, x' the natural maps differ by (I - D + D A) (x - x') with a diagonal D, 0 <= d_i <= 1 (d_i
is the slope of the projection on [lower_i, upper_i] between the two; 1 for a row without bounds, 0 for a fixed one).
The determinant of I - D + D A is affine in every d_i, so it has one sign for all D if it has that sign at the corners
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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.exact_elimination import is_definite
from perp.problems.inputs import Matrix, Vector
from perp.problems.proofs.exact_solution import MOST_WORK, exact, work
from perp.problems.proofs.laws import Mask
from perp.problems.rounding import TINY, gamma, product_rows, raised

# -- eigenvalues -------------------------------------------------------------------------------------------------------


MOST_EXACT_ROWS = 60

MOST_CORNERS = 2**10
MOST_NUMBERS = 2**21
"""corners times n^2, at most."""


def smallest_eigenvalue(A: Matrix) -> float:
    """A number that the smallest eigenvalue of (A + A^T) / 2 is proved not to be below; -inf: nothing is proved."""
    near_one, exponent = _near_one(A)
    return float(np.nextafter(np.ldexp(_floor(near_one), exponent), -np.inf)) if A.size else np.inf


def _floor(A: Matrix) -> float:
    n = A.shape[0]
    symmetric = 0.5 * A + 0.5 * A.T
    lost = 0.0
    if not np.array_equal(symmetric, A):
        lost = float(np.abs(symmetric).sum(axis=1).max()) * gamma(n + 4) + n * TINY
    try:
        eigenvalues = np.linalg.eigvalsh(symmetric)
    except np.linalg.LinAlgError:
        return -np.inf
    size = float(np.abs(eigenvalues).max())
    for factor in (4.0, 64.0, 1024.0):  # of the rounding errors to be expected, below the approximate eigenvalue
        shift = float(eigenvalues[0]) - factor * n * 2.0**-53 * size
        try:
            root = np.linalg.cholesky(symmetric - shift * np.eye(n))
        except np.linalg.LinAlgError:
            continue
        bound = shift - _distance(symmetric, shift, root) - lost
        if np.isfinite(bound):
            return float(np.nextafter(np.nextafter(bound, -np.inf), -np.inf))
    return -np.inf


def _near_one(A: Matrix) -> tuple[Matrix, int]:
    """A = 2^exponent times a matrix whose largest entry is near 1, so that nothing underflows; A itself (exponent 0)
    where that would round something."""
    exponent = int(np.frexp(np.abs(A).max(initial=0.0))[1])
    scaled = np.ldexp(A, -exponent)
    return (scaled, exponent) if np.array_equal(np.ldexp(scaled, exponent), A) else (A, 0)


def largest_eigenvalue(A: Matrix) -> float:
    """A number that the largest eigenvalue of (A + A^T) / 2 is proved not to exceed."""
    return -smallest_eigenvalue(-A)


def _distance(symmetric: Matrix, shift: float, root: Matrix) -> float:
    """A bound of the largest row sum of |H - s I - L L^T|."""
    n = symmetric.shape[0]
    rest = (symmetric - root @ root.T) - shift * np.eye(n)
    ones = np.ones(n)
    rounding = np.abs(rest).sum(axis=1) + 2.0 * np.abs(symmetric).sum(axis=1) + 2.0 * abs(shift)
    bound = np.abs(rest).sum(axis=1) + gamma(2) * rounding + product_rows(root, root.T, ones)
    return float(raised(bound, 4 * n).max())


def spectral_norm(A: Matrix) -> float:
    """An upper bound of the largest singular value: by the eigenvalues of a symmetric A, else of A^T A."""
    n = A.shape[0]
    if not n:
        return 0.0
    near_one, exponent = _near_one(A)
    sizes = np.abs(near_one)
    # |A|_2^2 <= |A|_1 |A|_inf; the square roots apart, for their product may underflow
    bound = float(np.sqrt(sizes.sum(axis=0).max()) * np.sqrt(sizes.sum(axis=1).max())) * (1.0 + gamma(4 * n + 8))
    if np.array_equal(A, A.T):
        bound = min(bound, max(largest_eigenvalue(near_one), -smallest_eigenvalue(near_one)))
    else:
        square = largest_eigenvalue(near_one.T @ near_one) + float(product_rows(near_one.T, near_one, np.ones(n)).max())
        if square >= 0.0:
            bound = min(bound, float(np.sqrt(square)) * (1.0 + gamma(8)))
    return float(np.nextafter(np.ldexp(bound, exponent), np.inf))


def balanced(A: Matrix) -> Matrix:
    """D A D with powers of two that bring the diagonal near 1: definite if and only if A is.

    A itself where the diagonal has a zero or negative entry, or something would be rounded.
    """
    diagonal = A.diagonal()
    if not (diagonal > 0.0).all():
        return A
    half = -np.frexp(diagonal)[1] // 2
    scaled = np.ldexp(np.ldexp(A, half[:, None]), half[None, :])
    back = np.ldexp(np.ldexp(scaled, -half[:, None]), -half[None, :])
    return scaled if np.isfinite(scaled).all() and np.array_equal(back, A) else A


def is_exactly_definite(A: Matrix) -> bool:
    """Whether (A + A^T) / 2 is positive definite, in exact arithmetic. False where it is too large to tell."""
    n = A.shape[0]
    if n > MOST_EXACT_ROWS:
        return False
    rows = [exact(row) for row in A]
    sums = [[a + rows[j][i] for j, a in enumerate(row)] for i, row in enumerate(rows)]
    denominator = max((entry.denominator for row in sums for entry in row), default=1)  # powers of two
    whole = [[int(entry * denominator) for entry in row] for row in sums]
    if work(n, max((entry.bit_length() for row in whole for entry in row), default=1)) > MOST_WORK:
        return False
    return is_definite(whole, lambda: None)


# -- comparison matrices -----------------------------------------------------------------------------------------------


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


# -- orientation -------------------------------------------------------------------------------------------------------


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
