"""Problems whose A is only a product, with A written out: by as many products as it has rows."""

from __future__ import annotations

import numpy as np

from perp.problems.operators import DenseOperator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem


def write_out(problem: Problem, most_rows: int) -> Problem:
    """The problem itself, or where A is only a product, of at most so many rows, the same problem with a dense A.

    Raises `OperatorFault` where a product is not what a product should be.
    """
    A, n = problem.A, problem.n
    if TO_SPARSE in A.ability_set or n > most_rows:
        return problem
    dense = DenseOperator(np.array([A.apply(unit) for unit in np.eye(n)]).T.reshape(n, n))
    return problem.with_matrix(dense)
