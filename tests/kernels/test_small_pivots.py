"""Small problems in one call: against a readable twin, an exhaustive search, and the public measure of residuals."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.pivoting import small_problems as kernels
from perp.solvers.auto.small import MOST_PIVOTS, first_sides


def run(problem, most=MOST_PIVOTS):
    """(ending, iterations, cold, residual, largest), x and y."""
    n = problem.n
    x, y = np.empty((2, n))
    rows, exchange = np.empty((2, n), dtype=np.int64)
    lower, upper = problem.bounds(np.zeros(n))
    answer = kernels.solve_small(
        perp.DenseOperator(problem.A.to_dense()).flat,
        problem.b,
        lower,
        upper,
        most,
        x,
        y,
        first_sides(problem),
        rows,
        exchange,
        np.empty(n * (n + 3)),
    )
    return answer, x, y


def twin(A, b, lower, upper, most=MOST_PIVOTS):
    """Block pivots with Murty's rule in reserve, in plain words; the number of index sets looked at, and x."""
    n = b.size
    cold = np.clip(np.zeros(n), lower, upper)
    if np.abs(np.clip(A @ cold + b, cold - upper, cold - lower)).max(initial=0.0) == 0.0:
        return 0, cold
    side = np.where(lower >= 0.0, -1, np.where(upper <= 0.0, 1, 0))
    fewest, patience = n + 1, kernels.PATIENCE
    for iteration in range(1, most + 1):
        free = side == 0
        x = np.where(side < 0, lower, upper)
        x[free] = np.linalg.solve(A[np.ix_(free, free)], -(b[free] + A[np.ix_(free, ~free)] @ x[~free]))
        y = A @ x + b
        slip, noise = 4e-16 * np.abs(x).max(), 4e-16 * (np.abs(A) @ np.abs(x) + np.abs(b))
        below, above = free & (x < lower - slip), free & (x > upper + slip)
        release = ~free & (lower < upper) & np.where(side < 0, y < -noise, y > noise)
        objecting = np.flatnonzero(below | above | release)
        if objecting.size == 0:
            return iteration, np.clip(x, lower, upper)
        if objecting.size < fewest:
            fewest, patience = objecting.size, kernels.PATIENCE
        else:
            patience -= 1
        for i in objecting if patience > 0 else objecting[-1:]:
            side[i] = -1 if below[i] else 1 if above[i] else 0
    return None


@given(st.one_of(strategies.lcps(), strategies.box_lcps()))
def test_it_looks_at_the_index_sets_of_the_readable_twin(problem):
    A, (lower, upper) = problem.A.to_dense(), problem.bounds(np.zeros(problem.n))
    (ending, iterations, *_), x, _ = run(problem)
    expected = twin(A, problem.b, lower, upper)
    assert ending == kernels.SOLVED
    assert iterations == expected[0]
    np.testing.assert_allclose(x, expected[1], rtol=1e-9, atol=1e-11)


@given(st.one_of(strategies.lcps(), strategies.box_lcps()))
def test_what_it_says_of_its_answer_is_what_anybody_measures(problem):
    (ending, _, cold, residual, largest), x, y = run(problem)
    assert ending == kernels.SOLVED
    start = problem.project(np.zeros(problem.n))
    assert cold == pytest.approx(perp.verify(problem, start).residual, rel=1e-14, abs=1e-300)
    assert residual == pytest.approx(perp.verify(problem, x).residual, rel=1e-6, abs=1e-15)
    assert largest == np.abs(x).max()
    np.testing.assert_allclose(y, problem.slack(x), rtol=1e-12, atol=1e-14)
    assert residual <= 1e-12 * max(1.0, largest)


def test_where_blocks_go_round_in_circles_single_pivots_find_the_answer():
    for example in (perp.gallery.make("block_pivot_cycle"), perp.gallery.make("newton_min_cycle")):
        (ending, iterations, *_), x, _ = run(example.problem)
        assert ending == kernels.SOLVED
        assert iterations > 1
        assert perp.verify(example.problem, x).residual <= 1e-15


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_random_p_matrices_are_solved_whatever_their_symmetry(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        G, S = rng.standard_normal((2, n, n))
        problem = perp.LCP(G @ G.T / n + 0.01 * np.eye(n) + S - S.T, rng.standard_normal(n))
        (ending, *_), x, _ = run(problem, most=10_000)
        assert ending == kernels.SOLVED
        assert perp.verify(problem, x).residual <= 1e-10


def test_a_cold_start_that_solves_the_problem_is_the_answer():
    (ending, iterations, cold, residual, _), x, _ = run(perp.LCP(-np.eye(3), np.ones(3)))
    assert (ending, iterations, cold, residual) == (kernels.SOLVED, 0, 0.0, 0.0)
    np.testing.assert_array_equal(x, 0.0)


def test_ends_without_an_answer_are_told_apart():
    assert run(perp.LCP(np.ones((2, 2)), -np.ones(2)))[0][0] == kernels.SINGULAR
    assert run(perp.LCP([[1e9]], [-1.0]))[0][0] == kernels.EXTREME
    assert run(perp.LCP([[1e-9]], [-1.0]))[0][0] == kernels.EXTREME
    assert run(perp.LCP([[0.0, 1e-9], [1.0, 1.0]], [-1.0, 1.0]))[0][0] == kernels.EXTREME
    murty = perp.gallery.make("murty", n=16).problem
    assert run(murty, most=3)[0][:2] == (kernels.TOO_LONG, 3)


def test_rows_with_zeros_on_the_diagonal_are_exchanged():
    problem = perp.LCP([[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0])
    (ending, *_), x, _ = run(problem)
    assert ending == kernels.SOLVED
    np.testing.assert_allclose(x, 1.0)
