"""Linear equations solved in exact rational arithmetic.

Every finite float64 is a whole number times a power of two, so a system of float64 numbers becomes one of whole numbers
when each row is multiplied by a power of two. It is eliminated without fractions (Bareiss 1968): after step k every
entry is a determinant of order k + 1 of the original matrix, so that the division by the previous pivot leaves no rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from perp.problems.inputs import Vector

Whole = list[list[int]]

MOST_WORK = 4e6
"""Machine words multiplied in an elimination: a few seconds."""


@dataclass(frozen=True)
class RationalSolution:
    """One solution of a system, and the rank of its matrix."""

    values: tuple[Fraction, ...]
    rank: int


def exact(values: Vector) -> list[Fraction]:
    """The numbers as fractions, which float64 are exactly."""
    return [Fraction(value) for value in values.tolist()]


def work(rows: int, bits: int) -> float:
    """About how many machine words an elimination multiplies, if entries have so many bits at first."""
    words = rows * bits / 64.0
    return float(rows**3 / 3.0 * (1.0 + words**1.6 / 40.0))


def solve_exactly(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction], preferred: Sequence[Fraction]
) -> RationalSolution | str:
    """A solution of the equations, or why there is none.

    Where columns depend on others, the later ones keep their `preferred` value. So a singular system that has solutions
    gives the one with those values.
    """
    rows = [_whole([*row, value]) for row, value in zip(matrix, right, strict=True)]
    if not rows:
        return RationalSolution((), 0)
    if work(len(rows), max(entry.bit_length() for row in rows for entry in row)) > MOST_WORK:
        return "the exact solution of the equations would take too long"
    echelon, columns = _eliminate(rows)
    size = len(matrix)
    if any(row[-1] for row in echelon[len(columns) :]):
        return "the equations of the index set are singular and contradict one another"
    values = list(preferred)
    for row, column in zip(reversed(echelon[: len(columns)]), reversed(columns), strict=True):
        known = sum((row[j] * values[j] for j in range(column + 1, size) if row[j]), start=Fraction(0))
        values[column] = (row[-1] - known) / row[column]
    return RationalSolution(tuple(values), len(columns))


def _whole(row: Sequence[Fraction]) -> list[int]:
    """The row times the least number that makes it whole, divided by what its entries have in common."""
    common = lcm(*(entry.denominator for entry in row))
    whole = [int(entry * common) for entry in row]
    divisor = gcd(*whole) or 1
    return [entry // divisor for entry in whole]


def _eliminate(rows: Whole) -> tuple[Whole, list[int]]:
    """Row echelon form of the augmented matrix, and the columns of its pivots; changes `rows`."""
    last = len(rows[0]) - 1
    columns: list[int] = []
    previous = 1
    for column in range(last):
        top = len(columns)
        candidates = [i for i in range(top, len(rows)) if rows[i][column]]
        if not candidates:
            continue
        smallest = min(candidates, key=lambda i: abs(rows[i][column]))
        rows[top], rows[smallest] = rows[smallest], rows[top]
        pivot_row = rows[top]
        pivot = pivot_row[column]
        for i in range(top + 1, len(rows)):
            row, factor = rows[i], rows[i][column]
            rows[i] = [0] * (column + 1) + [
                (pivot * row[j] - factor * pivot_row[j]) // previous for j in range(column + 1, last + 1)
            ]
        columns.append(column)
        previous = pivot
    return rows, columns


def outward(value: Fraction) -> tuple[float, float]:
    """The largest float64 that is not above, and the smallest that is not below."""
    try:
        nearest = float(value)
    except OverflowError:
        largest = float(np.finfo(np.float64).max)
        return (largest, np.inf) if value > 0 else (-np.inf, -largest)
    exactly = Fraction(nearest)
    low = nearest if exactly <= value else float(np.nextafter(nearest, -np.inf))
    high = nearest if exactly >= value else float(np.nextafter(nearest, np.inf))
    return low, high
