"""Exact symmetric elimination: whether a symmetric matrix of whole numbers is positive (semi-)definite."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from perp.linalg.classes.exact import Check, Integers, extend


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
    rest: list[int] = list(range(len(S)))
    chosen: list[int] = []
    last = 1
    T = {(i, j): S[i][j] for i in rest for j in rest}
    while True:
        check()
        negative = next((i for i in rest if T[i, i] < 0), None)
        if negative is not None:
            return Elimination(False, len(chosen), extend(S, chosen, {negative: Fraction(1)}, check))
        pivot = min((i for i in rest if T[i, i] > 0), key=lambda i: T[i, i], default=None)
        if pivot is None:
            break
        size = T[pivot, pivot]
        rest.remove(pivot)
        chosen.append(pivot)
        for place, i in enumerate(rest):
            for j in rest[place:]:
                T[i, j] = T[j, i] = (size * T[i, j] - T[i, pivot] * T[j, pivot]) // last
        last = size
    pair = next(((i, j) for i in rest for j in rest if T[i, j]), None)
    if pair is not None:
        i, j = pair
        sign = Fraction(-1 if T[i, j] > 0 else 1)
        return Elimination(False, len(chosen), extend(S, chosen, {i: Fraction(1), j: sign}, check))
    if rest:
        return Elimination(True, len(chosen), extend(S, chosen, {rest[0]: Fraction(1)}, check))
    return Elimination(True, len(chosen), None)
