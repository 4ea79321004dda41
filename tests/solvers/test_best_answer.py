"""The best answer is what it was when it was best, whoever keeps it; and what a solve needs of memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.problems.residuals import Watch
from perp.solvers.results import BestAnswer

PROBLEM = perp.LCP(np.eye(2), [-1.0, 1.0])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=12))
def test_the_best_answer_is_that_of_a_plain_copy(checks):
    """Points come with residuals and are offers or not; the array that is handed over is spoilt afterwards."""
    best = BestAnswer(Watch(PROBLEM))
    x, lowest, expected = np.empty(2), np.inf, None
    for number, (residual, is_offer) in enumerate(checks):
        x[:] = number
        answer = x + 0.5 if is_offer else x
        is_better = residual < lowest
        if is_better:
            lowest, expected = residual, answer.copy()
        best.accept(x, answer, is_better)
        x[:] = np.nan
        answer[:] = np.nan
        np.testing.assert_array_equal(best.x, expected)


def test_a_solve_on_a_grid_needs_a_few_vectors_beside_the_problem():
    """x, its copy for the method, the last point and the marked one, the slack, 1 / A_ii; and a ninth for the start."""
    A = perp.StencilOperator((40, 40, 40), 6.0, -1.0)
    b = np.random.default_rng(0).standard_normal(A.n)
    for problem in (perp.LCP(A, b), perp.BoxLCP(A, b, 0.0, 1.0)):
        perp.solve(perp.LCP(A, b), perp.PSOR(order="coloured"), max_iterations=10)
        tracemalloc.start()
        perp.solve(problem, perp.PSOR(order="coloured"), tol=0.0, max_iterations=30)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 9 * 8 * A.n
