"""The condition of methods that minimise 1/2 x^T A x + b^T x: its gradient is A x + b only for symmetric A."""

from __future__ import annotations

import numpy as np

from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

ROWS_AT_ONCE = 256
"""Of a dense matrix that is searched for its worst pair of entries."""


def asymmetry_objection(problem: Problem) -> str | None:
    """Tells how asymmetric A is, and where most; None when it is symmetric, or when nobody can tell."""
    if problem.is_symmetric is not False:
        return None
    place = ""
    if TO_SPARSE in problem.A.ability_set:
        i, j, here, there = _worst_pair(problem)
        place = f" (worst: A[{i},{j}] = {here:g}, A[{j},{i}] = {there:g})"
    return f"A must be symmetric, and its asymmetry max |A - A^T| / max |A| is {problem.A.asymmetry:.3g}{place}"


def _worst_pair(problem: Problem) -> tuple[int, int, float, float]:
    """Row, column and both entries where A and its transpose differ most."""
    matrix = problem.A.written_out()
    if not isinstance(matrix, np.ndarray):
        difference = abs(matrix - matrix.T).tocoo()
        worst = int(np.argmax(difference.data))
        i, j = int(difference.row[worst]), int(difference.col[worst])
        return i, j, float(matrix[i, j]), float(matrix[j, i])
    best = (0, 0, -1.0)
    for first in range(0, problem.n, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        difference = np.abs(matrix[rows] - matrix[:, rows].T)
        row, column = divmod(int(np.argmax(difference)), problem.n)
        if difference[row, column] > best[2]:
            best = (first + row, column, float(difference[row, column]))
    i, j, _ = best
    return i, j, float(matrix[i, j]), float(matrix[j, i])
