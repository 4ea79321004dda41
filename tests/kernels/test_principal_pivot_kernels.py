"""The tableau of principal pivoting against its formula, and the walk through all index sets."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.pivoting import principal_pivots as kernels
from perp.kernels.pivoting.principal_pivots import FIXED, FREE, LOWER, UPPER
from perp.problems.inputs import freeze
from perp.solvers.pivoting.all_solutions import IndexSetWalk, number_of_sets


def make(A, b, lower=0.0, upper=np.inf, side=None):
    """Data and tableau of a problem whose rows are all tight (or on the sides given), values included."""
    n = len(b)
    lower, upper = np.full(n, lower), np.full(n, upper)
    data = kernels.Data(*(freeze(np.array(part, dtype=float)) for part in (np.ravel(A), b, lower, upper)))
    side = np.full(n, LOWER) if side is None else np.array(side, dtype=np.int8)
    rest = np.where(side == FREE, 0.0, np.where(side == UPPER, upper, lower))
    tableau = kernels.make_tableau(data.A, side, rest)
    return data, tableau, int(kernels.rebuild(data, tableau))


def transform(A, free):
    """The principal pivot transform, block by block."""
    F, T = np.flatnonzero(free), np.flatnonzero(~free)
    inverse = np.linalg.inv(A[np.ix_(F, F)])
    M = np.empty_like(A)
    M[np.ix_(F, F)] = inverse
    M[np.ix_(F, T)] = -inverse @ A[np.ix_(F, T)]
    M[np.ix_(T, F)] = A[np.ix_(T, F)] @ inverse
    M[np.ix_(T, T)] = A[np.ix_(T, T)] - A[np.ix_(T, F)] @ inverse @ A[np.ix_(F, T)]
    return M


def values(A, b, side, rest):
    """x_F and y_T by solving for the free rows (THESIS eq. 2.40)."""
    free = side == FREE
    x = np.where(free, 0.0, rest)
    x[free] = np.linalg.solve(A[np.ix_(free, free)], -(A @ x + b)[free])
    return np.where(free, x, A @ x + b)


def assert_right(A, b, tableau):
    np.testing.assert_allclose(tableau.M.reshape(A.shape), transform(A, tableau.side == FREE), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(tableau.value, values(A, b, tableau.side, tableau.rest), rtol=1e-8, atol=1e-9)


def random_matrix(rng, n):
    """Positive definite, not symmetric: every principal submatrix is regular."""
    K = rng.standard_normal((n, n))
    return strategies.spd_matrix(rng, n) + 0.5 * (K - K.T)


@given(strategies.SEEDS, st.integers(1, 9))
def test_pivots_make_the_principal_pivot_transform_and_its_values(seed, n):
    rng = np.random.default_rng(seed)
    A, b = random_matrix(rng, n), rng.standard_normal(n)
    data, tableau, _ = make(A, b, -0.5, 2.0)
    for r in rng.integers(0, n, 2 * n):
        if tableau.side[r] != FREE:
            kernels.pivot(tableau, np.uint64(r), 0.0, FREE)
        else:
            side = rng.choice([LOWER, UPPER])
            kernels.pivot(tableau, np.uint64(r), data.lower[r] if side == LOWER else data.upper[r], side)
        assert_right(A, b, tableau)


@given(strategies.SEEDS, st.integers(1, 9))
def test_a_tableau_computed_anew_is_that_of_its_index_set(seed, n):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((n, n)), rng.standard_normal(n)
    side = rng.choice([FREE, LOWER, UPPER], n)
    _, tableau, rank = make(A, b, -1.0, 1.0, side)
    assert rank == np.count_nonzero(side == FREE)
    assert_right(A, b, tableau)


def test_a_tableau_computed_anew_needs_no_pivot_on_the_diagonal():
    A = np.roll(np.eye(4), 1, axis=0)  # every smaller principal minor is zero
    b = np.array([1.0, -2.0, 3.0, -4.0])
    _, tableau, rank = make(A, b, side=[FREE] * 4)
    assert rank == 4
    assert_right(A, b, tableau)


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_the_rank_of_a_singular_block_is_told(rank):
    G = np.random.default_rng(rank).standard_normal((6, rank))
    assert make(G @ G.T, np.ones(6), side=[FREE] * 6)[2] == rank


@given(strategies.SEEDS)
def test_refined_values_are_exact_to_rounding_though_the_tableau_is_not(seed):
    rng = np.random.default_rng(seed)
    A, b = random_matrix(rng, 7), rng.standard_normal(7)
    data, tableau, _ = make(A, b, side=[FREE] * 5 + [LOWER] * 2)
    tableau.M[:] *= 1.0 + 1e-6 * rng.standard_normal(49)
    assert kernels.evaluate(data, tableau) > 1e-9
    np.testing.assert_allclose(tableau.value, values(A, b, tableau.side, tableau.rest), rtol=1e-11, atol=1e-11)


def test_the_sign_of_a_pivot_is_zero_where_rounding_alone_decides():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((5, 3))
    A = G @ G.T
    data, tableau, _ = make(A, np.ones(5), side=[FREE, FREE, FREE, LOWER, LOWER])
    assert [kernels.sign_of_pivot(data, tableau, np.uint64(i)) for i in range(5)] == [1, 1, 1, 0, 0]
    data, tableau, _ = make(A - 1e-7 * np.eye(5), np.ones(5), side=[FREE, FREE, FREE, LOWER, LOWER])
    assert kernels.sign_of_pivot(data, tableau, np.uint64(4)) == -1
    tiny = 1e-9  # a small pivot of a regular matrix is no zero
    data, tableau, _ = make(A + tiny * np.eye(5), np.ones(5), side=[FREE, FREE, FREE, LOWER, LOWER])
    assert kernels.sign_of_pivot(data, tableau, np.uint64(4)) == 1


def test_the_walk_sees_every_index_set_once_and_changes_one_row_at_a_time():
    lower = np.array([0.0, -np.inf, -1.0, -np.inf, 2.0, -1.0])
    upper = np.array([np.inf, 0.0, 1.0, np.inf, 2.0, 3.0])
    A = random_matrix(np.random.default_rng(1), 6)
    problem = perp.BoxLCP(A, np.ones(6), lower, upper)
    walk = IndexSetWalk(problem)
    seen = []
    while not walk.finished:
        seen.append(tuple(walk.walk.wanted.tolist()))
        walk.visit(1)
        assert_right(walk.scaled.A.reshape(6, 6), walk.scaled.b, walk.tableau)
    choices = [(LOWER, FREE), (UPPER, FREE), (LOWER, FREE, UPPER), (FREE,), (FIXED,), (LOWER, FREE, UPPER)]
    assert len(seen) == number_of_sets(problem) == 36
    assert set(seen) == set(product(*choices))
    for one, other in pairwise(seen):
        assert sum(i != j for i, j in zip(one, other, strict=True)) == 1


@given(strategies.SEEDS, st.integers(1, 6), st.integers(1, 30))
def test_portions_of_a_walk_change_nothing(seed, n, portion):
    rng = np.random.default_rng(seed)
    G = rng.integers(-2, 3, (n, n)).astype(float)
    problem = perp.BoxLCP(G @ np.diag(rng.integers(-1, 2, n)) @ G.T, rng.integers(-2, 3, n), -1.0, 1.0)
    whole, parts = IndexSetWalk(problem), IndexSetWalk(problem)
    assert whole.visit(10**6) == 3**n
    while not parts.finished:
        parts.visit(portion)
    np.testing.assert_array_equal(whole.found, parts.found)
    np.testing.assert_array_equal(whole.singular, parts.singular)
    np.testing.assert_array_equal(whole.tableau.M, parts.tableau.M)


def test_more_solutions_than_the_buffer_holds_are_all_handed_over():
    walk = IndexSetWalk(perp.gallery.make("several_solutions", n=12).problem)
    assert walk.walk.found.shape[0] < 2**12 - 1
    assert walk.visit(10**6) == 2**12
    assert len(walk.found) == 2**12 - 1
