"""Problems whose A is only a product, in a form that can be factored: all of A by as many products as it has rows."""

from __future__ import annotations

import numpy as np

from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.operators import DenseOperator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

MOST_PRODUCTS = 200
"""Rows up to which that is done; beyond, Krylov methods need fewer products."""


def in_known_form(problem: Problem) -> Problem:
    """The problem itself, or where A is small and only a product the same problem with a dense A."""
    A, n = problem.A, problem.n
    if TO_SPARSE in A.ability_set or n > MOST_PRODUCTS:
        return problem
    dense = DenseOperator(np.array([A.apply(unit) for unit in np.eye(n)]).T)
    if isinstance(problem, ContactProblem):
        given = (dense, problem.b, problem.friction, problem.model)
        return ContactProblem(*given, dimension=problem.dimension, lower=problem.lower, upper=problem.upper)
    return BoxLCP(dense, problem.b, *problem.bounds(problem.b))
