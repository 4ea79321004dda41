"""Exact rational numbers: linear equations, and a solution on the index set that a point shows.

Every finite float64 is a whole number times a power of two, so a system of float64 numbers becomes one of whole numbers
when each row is multiplied by a power of two, and is eliminated without fractions (`perp.problems.exact_elimination`).

An exact solution is for rows that float64 cannot decide (x_i at a bound and y_i = 0 exactly), and for singular
equations that have solutions all the same. Each row is given one piece of the natural map; this makes n linear
equations, which are solved exactly; then the conditions are checked exactly in every row, and what fulfils them is a
solution, whatever led to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from perp.problems.exact_elimination import echelon, whole_row
from perp.problems.inputs import Vector
from perp.problems.proofs.laws import LOWER, SLACK, UPPER, Rows, look

# -- linear equations --------------------------------------------------------------------------------------------------


MOST_WORK = 4e6
"""Machine words multiplied in an elimination: a few seconds."""

MOST_EQUATIONS = 60
MOST_ROWS = 200
MOST_INDEX_SETS = 64
TYPICAL_BITS = 64
"""Of the numbers in a row, made whole; for the guess of how many index sets there is time for."""
NEAR = 1e-7
"""Rows that another piece could win within this share of the largest x are tried with that piece, too."""


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


# -- solutions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactSolution:
    """An exact solution, and whether others lie beside it."""

    x: tuple[Fraction, ...]
    tried: int
    """Index sets that were tried, this one included."""
    has_neighbours: bool
    """The equations are singular, and every inequality holds strictly: x may be moved along the null space."""
    is_alone: bool
    """No row has a choice (all are free or fixed), and the equations are not singular."""


def solve_on_index_sets(rows: Rows, x: Vector) -> ExactSolution | str:
    """The exact solution on the index set of x, or on one that differs in rows that x leaves open; else why there is
    none."""
    if rows.n > MOST_ROWS:
        return f"exact arithmetic is for at most {MOST_ROWS} rows"
    tried, reason, spent = 0, "", 0.0
    exact_A = [exact(row) for row in rows.A]
    exact_b = exact(rows.b)
    for piece in _index_sets(rows, x):
        if int((piece == SLACK).sum()) > MOST_EQUATIONS:
            return f"exact arithmetic is for at most {MOST_EQUATIONS} unknowns between their bounds"
        spent += work(int((piece == SLACK).sum()), TYPICAL_BITS)
        if tried and spent > MOST_WORK:
            break
        tried += 1
        found = _solve(rows, exact_A, exact_b, piece, x)
        if isinstance(found, str):
            reason = reason or found
            continue
        values, singular = found
        wrong, strict = _check(rows, exact_A, exact_b, values)
        if wrong is None:
            steady = not rows.follows.any()
            has_choice = bool((~rows.fixed & (np.isfinite(rows.lower) | np.isfinite(rows.upper))).any())
            return ExactSolution(values, tried, singular and strict and steady, steady and not (singular or has_choice))
        reason = reason or f"on the index set of x, row {wrong} has a sign that its bounds do not allow"
    return f"{reason} ({tried} index sets tried)" if tried > 1 else reason


def _index_sets(rows: Rows, x: Vector) -> Iterator[NDArray[np.intp]]:
    """The index set of x, then those that differ in one open row, in two, ..."""
    point = (x, np.zeros(rows.n))
    largest = max(float(np.abs(x).max(initial=0.0)), float(np.abs(rows.b).max(initial=0.0)))
    view = look(rows, point, np.full(rows.n, NEAR * largest + np.finfo(np.float64).tiny))
    open_rows = np.flatnonzero(view.possible.sum(axis=1) > 1)
    given = 0
    for flips in range(open_rows.size + 1):
        for places in combinations(open_rows.tolist(), flips):
            others = [[p for p in (SLACK, LOWER, UPPER) if view.possible[i, p] and p != view.piece[i]] for i in places]
            for choice in product(*others):
                if given == MOST_INDEX_SETS:
                    return
                piece = view.piece.copy()
                piece[list(places)] = choice
                given += 1
                yield piece


def _solve(
    rows: Rows, A: Sequence[Sequence[Fraction]], b: Sequence[Fraction], piece: NDArray[np.intp], x: Vector
) -> tuple[tuple[Fraction, ...], bool] | str:
    """The point where every row's own piece is zero, and whether it is one of many.

    x_i is a bound, or ±friction x_n, or an unknown z: x = held + slides z, and A_i x + b_i = 0 for the unknown rows.
    """
    room = np.minimum(x - rows.lower, rows.upper - x)
    unknown = [int(i) for i in np.flatnonzero(piece == SLACK)]
    unknown.sort(key=lambda i: -room[i])  # those deep within their bounds first: the others may keep their x
    place = {row: k for k, row in enumerate(unknown)}
    held = [Fraction(0)] * rows.n
    slides: list[tuple[int, int, Fraction]] = [(i, k, Fraction(1)) for i, k in place.items()]
    for i in np.flatnonzero(piece != SLACK).tolist():
        if not rows.follows[i]:
            held[i] = Fraction(float(rows.lower[i] if piece[i] == LOWER else rows.upper[i]))
        elif int(rows.partner[i]) in place:  # a normal at its bound is zero, and so are its tangents then
            factor = Fraction(float(rows.factor[i]))
            slides.append((i, place[int(rows.partner[i])], -factor if piece[i] == LOWER else factor))
    matrix, right = [], []
    for row in unknown:
        entries = [Fraction(0)] * len(unknown)
        for j, k, factor in slides:
            entries[k] += A[row][j] * factor
        matrix.append(entries)
        right.append(-b[row] - sum((a * h for a, h in zip(A[row], held, strict=True) if h), start=Fraction(0)))
    found = solve_exactly(matrix, right, [Fraction(float(x[i])) for i in unknown])
    if isinstance(found, str):
        return found
    values = held
    for j, k, factor in slides:
        values[j] = factor * found.values[k]
    return tuple(values), found.rank < len(unknown)


def _check(
    rows: Rows, A: Sequence[Sequence[Fraction]], b: Sequence[Fraction], x: Sequence[Fraction]
) -> tuple[int | None, bool]:
    """The first row in which x is no solution, or None; and whether it is one with every inequality strict."""
    strict = True
    for i in range(rows.n):
        y = sum((a * value for a, value in zip(A[i], x, strict=True) if a and value), start=b[i])
        low: Fraction | float = float(rows.lower[i])
        high: Fraction | float = float(rows.upper[i])
        if rows.follows[i]:
            high = Fraction(float(rows.factor[i])) * max(x[int(rows.partner[i])], Fraction(0))
            low = -high
        if not low <= x[i] <= high or (y > 0 and x[i] != low) or (y < 0 and x[i] != high):
            return i, False
        strict &= bool(low == high or (y == 0) == (low < x[i] < high))
    return None, strict
