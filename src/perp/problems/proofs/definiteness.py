"""Rigorous bounds of eigenvalues of symmetric matrices, and of the symmetric part of any matrix.

For any triangular L and any number s, the matrix L L^T has no negative eigenvalue, so

    lambda_min(H)  >=  s - |E|,        E = H - s I - L L^T,

with any operator norm of the symmetric matrix E; here the largest row sum. Nothing needs to be known of how L was found
(by a Cholesky factorisation, with s a little below an approximate eigenvalue), only E must be bounded, rounding
included. Rump 2006, *Verification of positive definiteness*, bounds E beforehand; computing it afterwards costs a
product of matrices and does not depend on the implementation of the factorisation.
"""

from __future__ import annotations

import numpy as np

from perp.problems.exact_elimination import is_definite
from perp.problems.inputs import Matrix
from perp.problems.proofs.rational import MOST_WORK, exact, work
from perp.problems.rounding import TINY, gamma, product_rows, raised

MOST_EXACT_ROWS = 60


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
