"""Symmetric scaling by powers of two: what pivoting, interior points and QP solvers work on.

With x = D z and D positive, y = A x + b becomes D y = (D A D) z + D b: the same index sets solve both. D_ii is the
power of two nearest to 1/sqrt|A_ii|, so that the diagonal of D A D lies in [1/2, 2] wherever A_ii is not zero; tests
such as "this pivot is zero" then have one meaning for all rows, and powers of two cost no rounding error.
"""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem


def symmetric_scales(problem: Problem) -> Vector:
    """The diagonal of D; 1 where A_ii is zero or not known."""
    scales = np.ones(problem.n)
    diagonal = problem.diagonal
    if diagonal is not None:
        known = diagonal != 0.0
        scales[known] = np.exp2(np.rint(-0.5 * np.log2(np.abs(diagonal[known]))))
    return scales
