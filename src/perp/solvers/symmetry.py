"""Symmetric A: the condition of methods that minimise 1/2 x^T A x + b^T x, and scaling by powers of two.

Symmetric scaling by powers of two: what pivoting, interior points and QP solvers work on.

With x = D z and D positive, y = A x + b becomes D y = (D A D) z + D b: the same index sets solve both. D_ii is the
power of two nearest to 1/sqrt|A_ii|, so that the diagonal of D A D lies in [1/2, 2] wherever A_ii is not zero; tests
such as "this pivot is zero" then have one meaning for all rows, and powers of two cost no rounding error.
"""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

ROWS_AT_ONCE = 256
"""Of a dense matrix that is searched for its worst pair of entries."""


def symmetric_scales(problem: Problem) -> Vector:
    """The diagonal of D; 1 where A_ii is zero or not known."""
    scales = np.ones(problem.n)
    diagonal = problem.diagonal
    if diagonal is not None:
        known = diagonal != 0.0
        scales[known] = np.exp2(np.rint(-0.5 * np.log2(np.abs(diagonal[known]))))
    return scales


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
