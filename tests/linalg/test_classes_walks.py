"""What `classify` is built of: walks through minors, sums of rows, factors of sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest
from exact_twins import all_sets, no_limit, whole
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp.linalg.classes.comparison import sum_rows
from perp.linalg.classes.definite import factor_by_columns
from perp.linalg.classes.minors import find_bad_minor, first_bad_minor
from perp.problems.exact_elimination import (
    determinant,
    principal,
    to_integers,
)


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_the_first_bad_minor_has_only_good_ones_inside(seed, n):
    M = (np.array(whole(seed, n)) + 3 * np.eye(n, dtype=int)).tolist()
    minors = {rows: determinant(principal(M, rows), no_limit) for rows in all_sets(n)}
    rows = first_bad_minor(M, no_limit)
    if rows is None:
        assert min(minors.values()) > 0
    else:
        assert minors[rows] <= 0
        assert all(minors[inner] > 0 for inner in minors if set(inner) < set(rows))


@given(st.integers(0, 2**31), st.integers(1, 6), st.sampled_from([0.0, 2.0, 4.0]))
def test_error_bounds_find_what_whole_numbers_find(seed, n, weight):
    """Whole numbers make pivots that vanish, real ones make none; both walks agree on whether there is a bad minor."""
    rng = np.random.default_rng(seed)
    for A in (rng.integers(-2, 3, (n, n)) + weight * np.eye(n), rng.standard_normal((n, n)) + weight * np.eye(n)):
        M = to_integers(A)
        found = find_bad_minor(A, no_limit)
        assert (found is None) is (first_bad_minor(M, no_limit) is None)
        assert found is None or determinant(principal(M, found), no_limit) <= 0


def test_pivots_at_the_level_of_rounding_errors_are_decided_exactly():
    """[[1, 1], [1, 1 + 2^-52]] repeated in a circle of large couplings: every pivot of a pair is 2^-52."""
    pair = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])
    A = np.kron(np.eye(3), pair) + np.kron(np.triu(np.ones((3, 3)), 1), np.ones((2, 2)))
    assert find_bad_minor(A, no_limit) is None
    A[5, 5] = 1.0
    found = find_bad_minor(A, no_limit)
    assert found is not None
    assert determinant(principal(to_integers(A), found), no_limit) <= 0


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_sums_of_rows_have_the_exact_sign(make):
    A = np.array([[1.0, 1e-17, -1.0], [1e300, -1e300, -1e-300], [0.5, 0.25, -0.75]])
    assert np.sign(sum_rows(make(A), 1.0)).tolist() == [1.0, -1.0, 0.0]
    assert sum_rows(make(A), 0.0) is None
    assert sum_rows(make(np.array([[3.0, -2.0], [0.5, -0.5]])), 0.0).tolist() == [1.0, 0.0]


def test_a_sparse_factor_by_columns_multiplies_to_the_matrix():
    m = 12
    T = sparse.diags_array([-np.ones(m - 1), 2.2 * np.ones(m), -np.ones(m - 1)], offsets=[-1, 0, 1])
    S = sparse.csr_array(sparse.kron(T, sparse.eye_array(m)) + sparse.kron(sparse.eye_array(m), T))
    L, order = factor_by_columns(S, 60.0)
    assert abs(L @ L.T - S[order][:, order]).max() < 1e-14
    assert sparse.triu(L, 1).nnz == 0
    assert factor_by_columns(sparse.csr_array(S - 5.0 * sparse.eye_array(m * m)), 60.0) is None
    assert factor_by_columns(S, 0.0) is None
