"""What `classify` is built of: exact elimination, walks through minors, sums of rows, factors of sparse matrices."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp.linalg.classes.comparison import sum_rows
from perp.linalg.classes.definite import factor_by_columns
from perp.linalg.classes.elimination import eliminate
from perp.linalg.classes.exact import determinant, null_space, principal, shifted, solve_exactly, to_integers
from perp.linalg.classes.minor_walks import find_bad_minor, first_bad_minor


def no_limit() -> None:
    pass


def whole(seed: int, n: int, size: int = 3) -> list[list[int]]:
    return np.random.default_rng(seed).integers(-size, size + 1, (n, n)).tolist()


def test_every_float_is_a_whole_number_of_a_common_unit():
    A = np.array([[0.1, -3.0], [5e-324, 1e300]])
    M = to_integers(A)
    assert all(Fraction(M[i][j], 2**1074) == Fraction(A[i, j]) for i in range(2) for j in range(2))


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_determinants_and_solutions_are_exact(seed, n):
    M = whole(seed, n)
    assert determinant(M, no_limit) == round(np.linalg.det(np.array(M, dtype=float)))
    right = list(range(1, n + 1))
    x = solve_exactly(M, right, no_limit)
    if determinant(M, no_limit) == 0:
        assert x is None
    else:
        assert x is not None
        assert [sum(a * b for a, b in zip(row, x, strict=True)) for row in M] == right


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_null_spaces_have_the_right_size_and_vanish(seed, n):
    M = whole(seed, n, size=1)
    basis = null_space(M, n, no_limit)
    assert len(basis) == n - np.linalg.matrix_rank(np.array(M, dtype=float))
    assert all(sum(a * b for a, b in zip(row, x, strict=True)) == 0 for row in M for x in basis)


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_elimination_tells_definite_from_semi_definite_from_indefinite(seed, n):
    M = np.array(whole(seed, n, size=2))
    S = (M @ M.T - (seed % 3 == 0) * np.eye(n, dtype=int)).tolist()
    outcome = eliminate(S, no_limit)
    least = np.linalg.eigvalsh(np.array(S, dtype=float))[0]
    assert outcome.answer is bool(least > -1e-9)
    if outcome.x is None:
        assert least > 1e-9
    else:
        value = sum(a * S[i][j] * b for i, a in enumerate(outcome.x) for j, b in enumerate(outcome.x))
        assert (value == 0) if outcome.answer else (value < 0)


def all_sets(n: int) -> list[tuple[int, ...]]:
    return [rows for k in range(1, n + 1) for rows in combinations(range(n), k)]


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


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_a_tiny_shift_leaves_no_minor_zero_and_no_negative_one_positive(seed, n):
    M = whole(seed, n, size=1)
    for sign in (1, -1):
        T = shifted(M, sign)
        for rows in all_sets(n):
            before, after = determinant(principal(M, rows), no_limit), determinant(principal(T, rows), no_limit)
            assert after != 0
            assert before == 0 or (before > 0) == (after > 0)


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
