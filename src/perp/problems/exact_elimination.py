"""Exact elimination of matrices of float64 numbers: every one is a whole number times a power of two.

A matrix times a common power of two is a matrix of Python integers, and elimination that divides by the last pivot only
(Bareiss 1968) stays within the integers: its entries are minors of the matrix. No sign found here is a matter of
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

Integers = list[list[int]]
"""A matrix of whole numbers, row by row."""

Check = Callable[[], None]
"""Called between the steps of long computations; it raises when the time is over."""


def to_integers(matrix: Any) -> Integers:
    """The dense matrix times the smallest power of two that makes every entry a whole number."""
    ratios = [[float(value).as_integer_ratio() for value in row] for row in matrix]
    common = max((bottom for row in ratios for _, bottom in row), default=1)
    return [[top * (common // bottom) for top, bottom in row] for row in ratios]


def whole_row(row: Sequence[Fraction]) -> list[int]:
    """The row times the least number that makes it whole, divided by what its entries have in common."""
    common = lcm(*(entry.denominator for entry in row))
    return primitive([int(entry * common) for entry in row])


def symmetric_sum(matrix: Integers) -> Integers:
    """A + A^T."""
    indices = range(len(matrix))
    return [[matrix[i][j] + matrix[j][i] for j in indices] for i in indices]


def principal(matrix: Integers, rows: Sequence[int]) -> Integers:
    """The submatrix of these rows and the same columns."""
    return [[matrix[i][j] for j in rows] for i in rows]


class Echelon(NamedTuple):
    """A matrix after elimination."""

    rows: Integers
    columns: list[int]
    """Those of the pivots, one a row from the first on."""
    last: int
    """The last pivot: the minor of these rows and columns, up to its sign; 1 where there is no pivot."""
    sign: int
    """-1 after an odd number of exchanges of rows."""


def echelon(matrix: Integers, columns: int, check: Check, *, smallest: bool = False, reduced: bool = False) -> Echelon:
    """Fraction-free elimination with exchange of rows, of the first `columns` columns of a matrix that may have more.

    A pivot is the first number of its column that is not zero, or the `smallest`. With `reduced`, rows above the pivot
    are eliminated, too; then `last` stands in the column of every pivot.
    """
    work, last, sign = [row[:] for row in matrix], 1, 1
    leading: list[int] = []
    for k in range(columns):
        check()
        top = len(leading)
        candidates = [i for i in range(top, len(work)) if work[i][k]]
        if not candidates:
            continue
        chosen = min(candidates, key=lambda i: abs(work[i][k])) if smallest else candidates[0]
        if chosen != top:
            work[top], work[chosen], sign = work[chosen], work[top], -sign
        pivot_row, first = work[top], 0 if reduced else k
        pivot, tail = pivot_row[k], pivot_row[first:]
        for i in range(0 if reduced else top + 1, len(work)):
            if i != top:
                row, factor = work[i], work[i][k]
                work[i] = row[:first] + [
                    (pivot * value - factor * above) // last for value, above in zip(row[first:], tail, strict=True)
                ]
        leading.append(k)
        last = pivot
    return Echelon(work, leading, last, sign)


def determinant(matrix: Integers, check: Check) -> int:
    """Of a square matrix."""
    found = echelon(matrix, len(matrix), check)
    return found.sign * found.last if len(found.columns) == len(matrix) else 0


def null_space(matrix: Integers, columns: int, check: Check) -> list[list[int]]:
    """A basis of the vectors x of `columns` whole numbers with M x = 0."""
    rows, leading, last, _ = echelon(matrix, columns, check, reduced=True)
    basis = []
    for free in sorted(set(range(columns)) - set(leading)):
        x = [0] * columns
        x[free] = last
        for i, k in enumerate(leading):
            x[k] = -rows[i][free]
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


class Elimination(NamedTuple):
    """Semi-definite or not, the rank (so far), and a vector.

    `x` has x^T S x < 0 where the answer is no, x^T S x = 0 where it is yes and S is singular, and is None else.
    """

    answer: bool
    rank: int
    x: list[Fraction] | None


def eliminate(S: Integers, check: Check) -> Elimination:
    """Fraction-free symmetric elimination with positive diagonal pivots, as long as there are any.

    With pivots K, the matrix that is left is T = S_RR - S_RK S_KK^-1 S_KR (times a positive number), and z^T T z is
    x^T S x for x_R = z, x_K = -S_KK^-1 S_KR z. If no diagonal entry of T is positive, S is semi-definite if and only if
    T = 0; else a negative entry T_ii, or T_ii = T_jj = 0 with T_ij != 0, gives a z with z^T T z < 0.
    """
    chosen, rest, T = _pivot(S, check)
    negative = next((i for i in rest if T[i, i] < 0), None)
    if negative is not None:
        return Elimination(False, len(chosen), extend(S, chosen, {negative: Fraction(1)}, check))
    pair = next(((i, j) for i in rest for j in rest if T[i, j]), None)
    if pair is not None:
        i, j = pair
        sign = Fraction(-1 if T[i, j] > 0 else 1)
        return Elimination(False, len(chosen), extend(S, chosen, {i: Fraction(1), j: sign}, check))
    if rest:
        return Elimination(True, len(chosen), extend(S, chosen, {rest[0]: Fraction(1)}, check))
    return Elimination(True, len(chosen), None)


def is_definite(S: Integers, check: Check) -> bool:
    """Whether the symmetric matrix is positive definite."""
    return len(_pivot(S, check)[0]) == len(S)


def _pivot(S: Integers, check: Check) -> tuple[list[int], list[int], dict[tuple[int, int], int]]:
    """Pivots, the other rows, and T: until a diagonal entry of T is negative, or none is positive."""
    rest: list[int] = list(range(len(S)))
    chosen: list[int] = []
    last = 1
    T = {(i, j): S[i][j] for i in rest for j in rest}
    while True:
        check()
        pivot = min((i for i in rest if T[i, i] > 0), key=lambda i: T[i, i], default=None)
        if pivot is None or any(T[i, i] < 0 for i in rest):
            return chosen, rest, T
        size = T[pivot, pivot]
        rest.remove(pivot)
        chosen.append(pivot)
        for place, i in enumerate(rest):
            for j in rest[place:]:
                T[i, j] = T[j, i] = (size * T[i, j] - T[i, pivot] * T[j, pivot]) // last
        last = size
