"""What a factorisation of the free rows would cost, told from the pattern alone."""

from __future__ import annotations

from perp.linalg.free_systems.body import body_pattern, movable_parts
from perp.linalg.orderings import order
from perp.linalg.paces import DENSE, SUPERLU, SUPERNODAL
from perp.linalg.symbolic import predict_flops
from perp.problems.problem import Problem

MOST_SECONDS = 60.0
"""No factorisation is begun that would take longer, however much time there is."""

NOT_WORTH_ASKING = 2000
"""Rows up to which any factorisation is cheaper than to ask."""


def is_affordable(problem: Problem, free: int, seconds: float) -> bool:
    """Whether so many free rows can be factored in that time; inf is no time that anybody waits for."""
    return cost_in_seconds(problem, free) <= min(seconds, MOST_SECONDS)


def cost_in_seconds(problem: Problem, free: int) -> float:
    """About, for so many free rows; 0 where it is not worth asking."""
    A, n = problem.A, problem.n
    if A.is_dense:
        return DENSE.predict((1.0 if problem.is_symmetric else 2.0) * float(free) ** 3 / 3.0)
    if n <= NOT_WORTH_ASKING:
        return 0.0
    if A.factored is not None:
        pattern = body_pattern(*movable_parts(A.factored))
        return SUPERNODAL.predict(predict_flops(pattern, order(pattern)))
    matrix = A.to_sparse()
    return (SUPERNODAL if problem.is_symmetric else SUPERLU).predict(predict_flops(matrix, order(matrix)))
