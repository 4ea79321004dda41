"""Sums of products of floats without rounding errors: for signs that a proof hangs on.

A product of two floats is the sum of two (Dekker 1971), and `math.fsum` adds up any number of floats and rounds once.
Where exponents are so small that the second part of a product would be lost, rational numbers take over.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector

SPLITTER = 2.0**27 + 1.0
SMALLEST = 2.0**-450
"""Factors from here to 1 have products whose rounding error is a float as well."""


LEAST = 5e-324


def multiply_exactly(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """a b = high + low without error, for |a|, |b| in [2^-450, 1] or zero."""
    high = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
    return high, low


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
    high, low = multiply_exactly(scaled, factors)
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


def _halves(a: Vector) -> tuple[Vector, Vector]:
    """a = high + low with 26 binary digits each (Veltkamp's splitting)."""
    shifted = SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high


def _rounded(value: Fraction) -> float:
    try:
        number = float(value)
    except OverflowError:
        return float(np.copysign(np.inf, value.numerator))
    return number if number != 0.0 or value == 0 else float(np.copysign(LEAST, value.numerator))
