"""Sums and products of float64 arrays with rigorous bounds of their rounding errors.

All that is assumed of the machine is IEEE 754, with rounding to nearest and gradual underflow, and that a matrix
product adds the products up in some order, with or without fused operations. Then (Higham 2002, chapter 3; Rump 2010,
*Verification methods*, section 10) a sum of k products is wrong by at most gamma_k times the sum of their absolute
values, gamma_k = k u / (1 - k u), u = 2^-53. Products that underflow are wrong by less than `TINY` each. Overflow shows
as inf or nan, and proves nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector

TINY = 2.0**-1000
"""Far more than any one operation loses by underflow."""

SPLITTER = 2.0**27 + 1.0
"""Veltkamp's number: cuts the 53 bits of a float64 in two halves whose products are exact."""

Pair = tuple[Vector, Vector]
"""Two arrays whose exact sum is meant: about 106 bits."""


def gamma(terms: int) -> float:
    """An upper bound of gamma_k; the factor 2 covers 1 / (1 - k u) and the rounding of what it is multiplied with."""
    return terms * 2.0**-52


def raised(values: NDArray[np.float64], terms: int) -> NDArray[np.float64]:
    """An upper bound of what was computed as a sum of at most so many products, none negative."""
    return np.asarray(values * (1.0 + gamma(terms + 4)) + (terms + 4) * TINY)


def two_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pair:
    """a + b, and its rounding error, exactly (Knuth 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pair:
    """a b, and its rounding error: exactly (Dekker 1971), unless it underflows, which loses less than `TINY`."""
    product = a * b
    a_high, b_high = SPLITTER * a, SPLITTER * b
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def affine(A: Matrix, x: Pair, b: Vector) -> tuple[Vector, Vector, Vector]:
    """A x + b for an x of two parts: the two parts of the result, and a bound of what they are wrong by.

    After Ogita, Rump & Oishi 2005 (Dot2): every product and every sum of a tree of sums leaves its rounding error
    behind exactly; these errors are added up in plain arithmetic. The error that remains is of the order u^2.
    """
    high, low = x
    products, errors = two_product(A, high)
    second = A * low
    rest = errors.sum(axis=1) + second.sum(axis=1)
    size = np.abs(errors).sum(axis=1) + np.abs(second).sum(axis=1)
    sums = np.concatenate([products, b[:, None]], axis=1)
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        odd = sums[:, 2 * half :]
        sums, lost = two_sum(sums[:, :half], sums[:, half : 2 * half])
        rest += lost.sum(axis=1)
        size += np.abs(lost).sum(axis=1)
        sums = np.concatenate([sums, odd], axis=1)
    total, rest = two_sum(sums[:, 0], rest)
    n = A.shape[1]
    return total, rest, raised(gamma(4 * n + 128) * size, 4 * n + 128)


def product_rows(left: Matrix, right: Matrix, weights: Vector) -> Vector:
    """A bound of |fl(left @ right) - left right| weights, for weights >= 0."""
    terms = left.shape[1]
    sizes = np.abs(left) @ (np.abs(right) @ weights)
    bound = raised(gamma(terms + 2) * raised(sizes, 2 * terms + right.shape[1]), terms)
    return np.asarray(bound + terms * TINY * weights.sum())


def times(matrix: Matrix, vector: Vector) -> Vector:
    """An upper bound of the product of a matrix and a vector of which no entry is negative."""
    return raised(matrix @ vector, matrix.shape[1])


def add_down(a: Vector, b: Vector) -> Vector:
    """The largest float64 that is not above a + b."""
    total, rest = two_sum(a, b)
    return np.where(rest < 0.0, np.nextafter(total, -np.inf), total)


def add_up(a: Vector, b: Vector) -> Vector:
    """The smallest float64 that is not below a + b."""
    return -add_down(-a, -b)
