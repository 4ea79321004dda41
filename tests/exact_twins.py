"""Slow and readable: is an LCP of whole numbers feasible, is it solvable? By the corners of {x >= 0, A x + b >= 0}.

That set has no line in it, so it is empty unless it has a corner. Its part with x ⊥ y for a given index set is a face,
which has a corner if it is not empty. A corner is where as many of the conditions hold with equality as there are
unknowns.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np


def no_limit() -> None:
    """Of the time for exact arithmetic."""


def whole(seed: int, n: int, size: int = 3) -> list[list[int]]:
    """A random matrix of whole numbers."""
    return np.random.default_rng(seed).integers(-size, size + 1, (n, n)).tolist()


def all_sets(n: int) -> list[tuple[int, ...]]:
    """Every set of rows but the empty one."""
    return [rows for k in range(1, n + 1) for rows in combinations(range(n), k)]


def is_feasible(A: np.ndarray, b: np.ndarray) -> bool:
    return any(True for _ in corners(A, b))


def is_solvable(A: np.ndarray, b: np.ndarray) -> bool:
    return any(all(p * q == 0 for p, q in zip(x, y, strict=True)) for x, y in corners(A, b))


def corners(A: np.ndarray, b: np.ndarray):
    """x and y = A x + b of every corner; A may have more or fewer rows than columns."""
    rows, unknowns = A.shape
    conditions = [[*map(Fraction, map(int, np.eye(unknowns)[j])), Fraction(0)] for j in range(unknowns)]
    conditions += [[*map(Fraction, A[i].tolist()), Fraction(b[i])] for i in range(rows)]
    for chosen in combinations(conditions, unknowns):
        x = solve([list(row) for row in chosen])
        if x is None:
            continue
        y = [row[-1] + sum(a * v for a, v in zip(row[:-1], x, strict=True)) for row in conditions[unknowns:]]
        if min([*x, *y]) >= 0:
            yield x, y


def solve(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """The x with row . (x, 1) = 0 for all rows; None where there is not exactly one."""
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [-rows[k][-1] / rows[k][k] for k in range(n)]
