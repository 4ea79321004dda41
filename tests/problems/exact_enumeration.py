"""All solutions of small problems in exact arithmetic, index set by index set: slow, and apart from the library."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np


def solutions(problem):
    """Those of every index set whose equations have one solution; and whether some set has singular equations."""
    A = [[Fraction(a) for a in row] for row in problem.A.to_dense().tolist()]
    b = [Fraction(v) for v in problem.b.tolist()]
    bounds = [as_bounds(low, high) for low, high in zip(*problem.bounds(np.zeros(problem.n)), strict=True)]
    found, has_singular = [], False
    for states in product(*[["free", *[v for v in dict.fromkeys(pair) if v is not None]] for pair in bounds]):
        free = [i for i, state in enumerate(states) if state == "free"]
        x = [Fraction(0) if state == "free" else state for state in states]
        right = [-b[i] - sum(a * v for a, v in zip(A[i], x, strict=True)) for i in free]
        values = gauss([[A[i][j] for j in free] for i in free], right)
        if values is None:
            has_singular = True
            continue
        for i, value in zip(free, values, strict=True):
            x[i] = value
        if x not in found and is_solution(A, b, bounds, x):
            found.append(x)
    return found, has_singular


def as_bounds(low, high):
    return (Fraction(low) if np.isfinite(low) else None, Fraction(high) if np.isfinite(high) else None)


def is_solution(A, b, bounds, x):
    """The definition, row by row."""
    for row, right, (low, high), value in zip(A, b, bounds, x, strict=True):
        y = right + sum(a * v for a, v in zip(row, x, strict=True))
        above, below = low is None or value >= low, high is None or value <= high
        if not (above and below):
            return False
        if (y > 0 and value != low) or (y < 0 and value != high):
            return False
    return True


def gauss(matrix, right):
    """The one solution of the equations, or None where they are singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [entry - rows[i][k] * top for entry, top in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def is_minor_positive(A):
    """Whether all principal minors are positive: the definition of a P-matrix."""
    n = len(A)
    return all(
        determinant([[A[i][j] for j in chosen] for i in chosen]) > 0
        for bits in product([False, True], repeat=n)
        if (chosen := [i for i in range(n) if bits[i]])
    )


def determinant(matrix):
    """By the first row."""
    if not matrix:
        return 1
    rest = [[row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix))]
    return sum((-1) ** j * matrix[0][j] * determinant(rest[j]) for j in range(len(matrix)))


def holds(proof, x):
    """Whether the box holds the exact point."""
    return all(
        Fraction(low) <= value <= Fraction(high)
        for low, high, value in zip(proof.lower.tolist(), proof.upper.tolist(), x, strict=True)
    )
