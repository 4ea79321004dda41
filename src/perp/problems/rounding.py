"""Sums and products of float64 arrays, with rigorous bounds of their rounding errors or without any.

All that is assumed of the machine is IEEE 754, with rounding to nearest and gradual underflow, and that a matrix
product adds the products up in some order, with or without fused operations. Then (Higham 2002, chapter 3; Rump 2010,
*Verification methods*, section 10) a sum of k products is wrong by at most gamma_k times the sum of their absolute
values, gamma_k = k u / (1 - k u), u = 2^-53. Products that underflow are wrong by less than `TINY` each. Overflow shows
as inf or nan, and proves nothing.

Signs that a proof hangs on come from sums without rounding errors: a product of two floats is the sum of two (Dekker
1971), and `math.fsum` adds up any number of floats and rounds once. Where exponents are so small that the second part
of a product would be lost, rational numbers take over.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector

TINY = 2.0**-1000
"""Far more than any one operation loses by underflow."""

SPLITTER = 2.0**27 + 1.0
"""Veltkamp's number: cuts the 53 bits of a float64 in two halves whose products are exact."""

Pair = tuple[Vector, Vector]
"""Two arrays whose exact sum is meant: about 106 bits."""

SMALLEST = 2.0**-450
"""Factors from here to 1 have products whose rounding error is a float as well."""


LEAST = 5e-324


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


def sum_columns(rows: NDArray[Any], columns: NDArray[Any], values: Vector, u: Vector, n: int) -> Vector:
    """sum_i A_ij u_i for each j, rounded once; A is given by its entries.

    Sums too large for a float come out as infinite, and too small ones as the least float of their sign.
    """
    gain = np.zeros(n)
    if not values.size:
        return gain
    order = np.argsort(columns, kind="stable")
    rows, columns, values = rows[order], columns[order], values[order]
    begins = np.flatnonzero(np.r_[True, np.diff(columns) != 0])
    ends = np.r_[begins[1:], columns.size]
    largest = np.maximum.reduceat(np.abs(values), begins)
    _, exponent = np.frexp(largest)
    each = np.repeat(exponent, ends - begins)
    scaled, factors = np.ldexp(values, -each), u[rows]
    is_tiny = ((np.abs(scaled) < SMALLEST) & (values != 0.0)) | ((np.abs(factors) < SMALLEST) & (factors != 0.0))
    needs_rationals = np.logical_or.reduceat(is_tiny, begins)
    high, low = two_product(scaled, factors)
    highs, lows = high.tolist(), low.tolist()
    sums = np.array([fsum(highs[i:j] + lows[i:j]) for i, j in zip(begins.tolist(), ends.tolist(), strict=True)])
    with np.errstate(over="ignore", under="ignore"):
        totals = np.ldexp(sums, exponent)
    totals = np.where((totals == 0.0) & (sums != 0.0), np.copysign(LEAST, sums), totals)
    for k in np.flatnonzero(needs_rationals):
        pairs = zip(values[begins[k] : ends[k]].tolist(), factors[begins[k] : ends[k]].tolist(), strict=True)
        totals[k] = _rounded(sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0)))
    gain[columns[begins]] = totals
    return gain


def sum_products(a: Vector, b: Vector) -> tuple[float, float, int]:
    """sum a_i b_i and sum |a_i b_i|, both to be multiplied by two to the third number: they cannot overflow so.

    The first is off by at most n 2^-52 times the second, and by underflow that is nothing beside that.
    """
    (a_part, a_exponent), (b_part, b_exponent) = np.frexp(a), np.frexp(b)
    part, exponent = a_part * b_part, a_exponent.astype(np.int64) + b_exponent
    present = part != 0.0
    top = int(exponent[present].max(initial=-(2**40)))
    if top == -(2**40):
        return 0.0, 0.0, 0
    terms = np.ldexp(part[present], np.maximum(exponent[present] - top, -2000))
    return fsum(terms.tolist()), fsum(np.abs(terms).tolist()), top


def _rounded(value: Fraction) -> float:
    try:
        number = float(value)
    except OverflowError:
        return float(np.copysign(np.inf, value.numerator))
    return number if number != 0.0 or value == 0 else float(np.copysign(LEAST, value.numerator))
