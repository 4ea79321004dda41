"""Exact arithmetic on matrices of float64 numbers: every one is a whole number times a power of two.

A matrix times a common power of two is a matrix of Python integers, and elimination that divides by the last pivot only
(Bareiss 1968) stays within the integers: its entries are minors of the matrix. No sign found here is a matter of
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd
from typing import Any

Integers = list[list[int]]
"""A matrix of whole numbers, row by row."""

Check = Callable[[], None]
"""Called between the steps of long computations; it raises when the time is over."""


def to_integers(matrix: Any) -> Integers:
    """The dense matrix times the smallest power of two that makes every entry a whole number."""
    ratios = [[float(value).as_integer_ratio() for value in row] for row in matrix]
    common = max((bottom for row in ratios for _, bottom in row), default=1)
    return [[top * (common // bottom) for top, bottom in row] for row in ratios]


def symmetric_sum(matrix: Integers) -> Integers:
    """A + A^T."""
    indices = range(len(matrix))
    return [[matrix[i][j] + matrix[j][i] for j in indices] for i in indices]


def principal(matrix: Integers, rows: Sequence[int]) -> Integers:
    """The submatrix of these rows and the same columns."""
    return [[matrix[i][j] for j in rows] for i in rows]


def determinant(matrix: Integers, check: Check) -> int:
    """By fraction-free elimination with exchange of rows."""
    work, sign, last = [row[:] for row in matrix], 1, 1
    n = len(work)
    for k in range(n):
        check()
        swap = next((i for i in range(k, n) if work[i][k]), None)
        if swap is None:
            return 0
        if swap != k:
            work[k], work[swap], sign = work[swap], work[k], -sign
        pivot, top = work[k][k], work[k]
        for i in range(k + 1, n):
            row, factor = work[i], work[i][k]
            work[i] = [0] * (k + 1) + [(pivot * row[j] - factor * top[j]) // last for j in range(k + 1, n)]
        last = pivot
    return sign * last


def null_space(matrix: Integers, columns: int, check: Check) -> list[list[int]]:
    """A basis of the vectors x of `columns` whole numbers with M x = 0, by fraction-free Gauss-Jordan elimination."""
    work, last, rank, leading = [row[:] for row in matrix], 1, 0, []
    for k in range(columns):
        check()
        swap = next((i for i in range(rank, len(work)) if work[i][k]), None)
        if swap is None:
            continue
        work[rank], work[swap] = work[swap], work[rank]
        pivot, top = work[rank][k], work[rank]
        for i, row in enumerate(work):
            if i != rank:
                factor = row[k]
                work[i] = [(pivot * value - factor * above) // last for value, above in zip(row, top, strict=True)]
        last, rank = pivot, rank + 1
        leading.append(k)
    basis = []
    for free in sorted(set(range(columns)) - set(leading)):  # now `last` stands in the column of every leading entry
        x = [0] * columns
        x[free] = last
        for i, k in enumerate(leading):
            x[k] = -work[i][free]
        basis.append(primitive(x))
    return basis


def primitive(x: Sequence[int]) -> list[int]:
    """x divided by the greatest common divisor of its entries."""
    divisor = gcd(*x) or 1
    return [value // divisor for value in x]


def solve_exactly(matrix: Integers, right: Sequence[int], check: Check) -> list[Fraction] | None:
    """The solution of M x = right; None where M is singular."""
    bordered = [[*row, -value] for row, value in zip(matrix, right, strict=True)]
    basis = null_space(bordered, len(right) + 1, check)
    if len(basis) != 1 or basis[0][-1] == 0:
        return None
    *x, unit = basis[0]
    return [Fraction(value, unit) for value in x]


def extend(matrix: Integers, chosen: Sequence[int], given: dict[int, Fraction], check: Check) -> list[Fraction]:
    """x with x_i as given, (M x)_chosen = 0, and zero elsewhere; M_chosen,chosen must not be singular."""
    common = 1
    for value in given.values():
        common = common * value.denominator // gcd(common, value.denominator)
    right = [-sum(matrix[k][i] * int(value * common) for i, value in given.items()) for k in chosen]
    inner = solve_exactly(principal(matrix, chosen), right, check) if chosen else []
    assert inner is not None
    x = [Fraction(0)] * len(matrix)
    for i, value in given.items():
        x[i] = value
    for k, value in zip(chosen, inner, strict=True):
        x[k] = value / common
    return x


def nearly_singular_shift(matrix: Integers) -> int:
    """A whole number s such that 2^s M + I and 2^s M - I have no singular principal submatrix, and tell all of M.

    det(M_a + e I) is a polynomial in e whose coefficients are sums of principal minors: whole numbers, whose absolute
    values add up to at most H = prod_i (1 + sum_j |M_ij|). So for 0 < |e| <= 1/(2 H) its sign is that of its first
    nonzero coefficient. And the least value of x^T M x on the simplex, if it is not zero, is det / (e^T adj e) of some
    principal submatrix, of absolute value at least 1/(n H). Both hold for e = 2^-s with 2^s >= 2 n H.
    """
    bound = 2 * max(len(matrix), 1)
    for row in matrix:
        bound *= 1 + sum(map(abs, row))
    return bound.bit_length()


def shifted(matrix: Integers, sign: int) -> Integers:
    """2^s M + sign I with s from `nearly_singular_shift`."""
    s = nearly_singular_shift(matrix)
    return [[(value << s) + sign * (i == j) for j, value in enumerate(row)] for i, row in enumerate(matrix)]
