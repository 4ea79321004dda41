"""The diagonal metric in which gradients are measured: x_i has the unit of 1 / sqrt(A_ii), a slack that of sqrt(A_ii).

A box stays a box when its unknowns are scaled one by one. So methods that would suffer from rows of unlike size measure
|r|^2 as sum weight_i r_i^2 with weight_i = 1 / A_ii, which is Jacobi's preconditioner for all rows, free or not.
"""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

SMALLEST = 1e-307
"""Below this 1 / A_ii could overflow."""


def diagonal_weights(problem: Problem) -> Vector:
    """1 / |A_ii|; for a row without a diagonal entry its largest one stands in, and 1 where nothing is known."""
    if problem.diagonal is None:
        return np.ones(problem.n)
    if problem.n and problem.diagonal.min() >= SMALLEST:
        return 1.0 / problem.diagonal
    size = np.abs(problem.diagonal)
    if not size.all():
        size = np.where(size == 0.0, problem.A.row_sizes(), size)
        size[size == 0.0] = size.max(initial=0.0) or 1.0
    return 1.0 / np.maximum(size, SMALLEST)
