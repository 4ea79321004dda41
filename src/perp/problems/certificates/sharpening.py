"""Vectors that are nearly proofs, made better: methods and linear programs leave them with rounding errors."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import lsmr

from perp.problems.deadline import Pace, watched
from perp.problems.inputs import Vector
from perp.problems.operators.base import FILLING
from perp.problems.problem import Problem

NEARLY_ZERO = 1e-9
"""Entries of u below this share of the largest, and entries of A^T u below this share of what they were added up from,
are meant to be zero."""

MOST_ROWS = 4000
"""`sharpen` solves a dense least-squares problem, of at most so many rows; larger ones are left to iterations."""

SINGULAR_VALUES = Pace(1e10)
"""Of LAPACK's least squares, for the operations that `count_operations` counts."""

SQUARES = 6.0
"""Full matrices that `sharpen` writes or reads as slowly as that."""

LARGEST_DENOMINATOR, LARGEST_INTEGER = 1000, 2**40

SAME = 1e-7
"""A number this close to a simple fraction is meant to be it."""


def sharpen(problem: Problem, u: Vector, zero_share: float = NEARLY_ZERO) -> Vector:
    """u with least-squares corrections on its support, so that entries of A^T u that are nearly zero become zero.

    Methods come upon u at the end of many pivots, with rounding errors of them all; this takes those back, and
    `verify_certificate` judges what comes out. `zero_share` says what is nearly zero.
    """
    support = np.flatnonzero(np.abs(u) > zero_share * np.abs(u).max(initial=0.0))
    if not np.isfinite(u).all() or not support.size:
        return u
    if problem.n > MOST_ROWS:
        return _sharpen_sparse(problem, u, support, zero_share)
    FILLING.require(SQUARES * float(problem.n) ** 2)
    A = problem.A.to_dense()
    sharp = np.zeros(problem.n)
    sharp[support] = u[support]
    for _ in range(2):
        gain, size = A.T @ sharp, np.abs(A).T @ np.abs(sharp)
        zero = np.flatnonzero(np.abs(gain) <= zero_share * size)
        with SINGULAR_VALUES.work(count_operations(zero.size, support.size)):
            sharp[support] -= np.linalg.lstsq(A[np.ix_(support, zero)].T, gain[zero], rcond=None)[0]
    return sharp


def count_operations(rows: int, columns: int) -> float:
    """Of a least-squares solution by singular values: of the larger side once, of the smaller one twice and more.

    4 m n^2 + 8 n^3 (Golub & Van Loan 2013, section 8.6.3, up to the constants of divide and conquer), n the smaller.
    """
    larger, smaller = float(max(rows, columns)), float(min(rows, columns))
    return 4.0 * larger * smaller**2 + 8.0 * smaller**3


def _sharpen_sparse(problem: Problem, u: Vector, support: NDArray[np.intp], zero_share: float) -> Vector:
    part = problem.A.to_sparse()[support].tocsc()
    sharp = np.array(u[support])
    for _ in range(3):
        gain, size = part.T @ sharp, abs(part).T @ np.abs(sharp)
        zero = np.flatnonzero(np.abs(gain) <= zero_share * size)
        if not gain[zero].any():
            break
        sharp -= lsmr(watched(part[:, zero].T), gain[zero], atol=1e-12, btol=1e-12, maxiter=500)[0]
    whole = np.zeros(problem.n)
    whole[support] = sharp
    return whole


def round_to_integers(u: Vector, zero_share: float = NEARLY_ZERO) -> Vector | None:
    """The vector of whole numbers that u is a multiple of, if its entries are simple fractions of one another.

    Problems with whole numbers have such proofs, and with them the proof is exact.
    """
    support = np.flatnonzero(np.abs(u) > zero_share * np.abs(u).max(initial=0.0))
    if not support.size or not np.isfinite(u).all():
        return None
    ratios = u[support] / np.abs(u[support]).max()
    fractions = [Fraction(ratio).limit_denominator(LARGEST_DENOMINATOR) for ratio in ratios.tolist()]
    if max(abs(float(fraction) - ratio) for fraction, ratio in zip(fractions, ratios.tolist(), strict=True)) > SAME:
        return None
    common = 1
    for fraction in fractions:
        common = lcm(common, fraction.denominator)
        if fraction == 0 or common > LARGEST_INTEGER:
            return None
    whole = np.zeros(u.size)
    whole[support] = [float(fraction * common) for fraction in fractions]
    return whole
