"""Linear equations solved in exact rational arithmetic.

Every finite float64 is a whole number times a power of two, so a system of float64 numbers becomes one of whole numbers
when each row is multiplied by a power of two, and is eliminated without fractions (`perp.problems.exact_elimination`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perp.problems.exact_elimination import echelon, whole_row
from perp.problems.inputs import Vector

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
    rows = [whole_row([*row, value]) for row, value in zip(matrix, right, strict=True)]
    if not rows:
        return RationalSolution((), 0)
    if work(len(rows), max(entry.bit_length() for row in rows for entry in row)) > MOST_WORK:
        return "the exact solution of the equations would take too long"
    size = len(matrix)
    solved, columns, _, _ = echelon(rows, size, lambda: None, smallest=True)
    if any(row[-1] for row in solved[len(columns) :]):
        return "the equations of the index set are singular and contradict one another"
    values = list(preferred)
    for row, column in zip(reversed(solved[: len(columns)]), reversed(columns), strict=True):
        known = sum((row[j] * values[j] for j in range(column + 1, size) if row[j]), start=Fraction(0))
        values[column] = (row[-1] - known) / row[column]
    return RationalSolution(tuple(values), len(columns))


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
