"""Index sets refuted in floating point, with all rounding errors bounded: most of them, a thousand at a time.

With F free and T tight at bounds, the unknowns s = (x_F, y_T) solve C s = q, where C has the columns -A_j for j in F
and e_j for j in T, and q = b + A_:T x_T (NOTES eq. 38-40 for an LCP). Let R be about C^-1 and s' = R q. If the norm
a = |I - R C| (of row sums) is below 1, then C is regular and its s has

    |s - s'|  <=  |R| |q - C s'|  +  a / (1 - a) max |R| |q - C s'|.                         (Rump 1983)

Proof: s - s' = R (q - C s') + (I - R C) (s - s'). If that keeps an entry of s on the wrong side, the set is refuted.
Sums of n products are off by at most (n + 2) eps times the sum of their absolute values (Higham 2002, section 3.1),
which is added everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector

PORTION = 1024
FREE, LOWER, UPPER = 0, -1, 1

ABOVE = 1.0 + 2.0**-40
"""Sums of numbers >= 0 are off by far less than this factor."""

GOOD = 0.5
"""I - R C must be smaller than this for the bound to be of use."""


def list_doubtful(A: Matrix, b: Vector, lower: Vector, upper: Vector, sides: NDArray[np.int8]) -> NDArray[np.intp]:
    """The numbers of the index sets, one a row of `sides`, that are not refuted here; rows and bounds finite floats."""
    with np.errstate(all="ignore"):
        doubtful = [
            begin + np.flatnonzero(~_refute(A, b, lower, upper, sides[begin : begin + PORTION]))
            for begin in range(0, len(sides), PORTION)
        ]
    return np.concatenate(doubtful)


def _refute(A: Matrix, b: Vector, lower: Vector, upper: Vector, sides: NDArray[np.int8]) -> NDArray[np.bool_]:
    n = b.size
    rounding = (n + 2) * 2.0**-52
    is_free = sides == FREE
    at = np.where(is_free, 0.0, np.where(sides == UPPER, upper, lower))
    C = np.where(is_free[:, None, :], -A, np.eye(n))
    q = b + at @ A.T
    q_size = np.abs(b) + np.abs(at) @ np.abs(A).T
    scale = _powers_of_two(np.abs(C).max(axis=2))  # of rows: exact, and harmless for signs of s
    C, q, q_size = C * scale[:, :, None], q * scale, q_size * scale
    usable = _is_in_range(np.abs(C)).all(axis=(1, 2)) & _is_in_range(q_size).all(axis=1)
    C[~usable], q[~usable] = np.eye(n), 0.0
    R = np.linalg.pinv(C)
    s = np.einsum("kij,kj->ki", R, q)
    size_R, size_C = np.abs(R), np.abs(C)
    off = np.abs(np.eye(n) - R @ C) + rounding * (size_R @ size_C + np.eye(n))
    a = ABOVE * off.sum(axis=2).max(axis=1)
    left = np.abs(q - np.einsum("kij,kj->ki", C, s))
    left += rounding * (2.0 * q_size + np.einsum("kij,kj->ki", size_C, np.abs(s)))
    apart = ABOVE * np.einsum("kij,kj->ki", size_R, left)
    apart += (a / (1.0 - a) * apart.max(axis=1))[:, None]
    apart = ABOVE * apart + 2.0**-1000  # what underflow may have taken
    low = np.where(is_free, lower, np.where(sides == LOWER, 0.0, -np.inf))
    high = np.where(is_free, upper, np.where(sides == UPPER, 0.0, np.inf))
    fixed = ~is_free & (lower == upper)
    low, high = np.where(fixed, -np.inf, low), np.where(fixed, np.inf, high)
    wrong = (s + apart < low) | (s - apart > high)
    refuted: NDArray[np.bool_] = usable & (a < GOOD) & np.isfinite(apart).all(axis=1) & wrong.any(axis=1)
    return refuted


def _is_in_range(sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Zero, or a float whose products with others neither overflow nor lose digits."""
    fits: NDArray[np.bool_] = (sizes == 0.0) | ((sizes > 2.0**-400) & (sizes < 2.0**400))
    return fits


def _powers_of_two(sizes: Vector) -> Vector:
    _, exponent = np.frexp(np.where(sizes > 0.0, sizes, 1.0))
    return np.asarray(np.ldexp(1.0, -np.clip(exponent, -1000, 1000)))
