"""`classify` beside slow twins: all principal minors in fractions, and all x of small whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from exact_twins import all_sets, no_limit, whole
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from perp.linalg.classes import check_witness, classify
from perp.linalg.classes.comparison import sum_rows
from perp.linalg.classes.definite import factor_by_columns
from perp.linalg.classes.minors import find_bad_minor, first_bad_minor
from perp.problems.exact_elimination import (
    determinant,
    principal,
    to_integers,
)

IMPLICATIONS = [
    ("positive_definite", "positive_semidefinite"),
    ("positive_definite", "P"),
    ("positive_definite", "strictly_copositive"),
    ("positive_semidefinite", "P0"),
    ("positive_semidefinite", "copositive"),
    ("positive_semidefinite", "sufficient"),
    ("M", "Z"),
    ("M", "H_plus"),
    ("H_plus", "P"),
    ("P", "P0"),
    ("P", "sufficient"),
    ("strictly_copositive", "copositive"),
    ("sufficient", "column_sufficient"),
    ("sufficient", "row_sufficient"),
    ("column_sufficient", "P0"),
    ("row_sufficient", "P0"),
]
SHAPES = ("any", "gram", "positive diagonal", "skew and more", "Z", "symmetric", "repeated column")


@st.composite
def whole_matrices(draw: st.DrawFn, most: int = 4) -> np.ndarray:
    """Small whole numbers, singular ones among them, of a shape that makes each class likely."""
    n, size = draw(st.integers(1, most)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    A = rng.integers(-size, size + 1, (n, n)).astype(float)
    shape = draw(st.sampled_from(SHAPES))
    if shape == "gram":
        return A @ A.T
    if shape == "positive diagonal":
        np.fill_diagonal(A, rng.integers(0, 5, n))
    if shape == "skew and more":
        A = A - A.T + np.diag(rng.integers(0, 2, n))
    if shape == "Z":
        A = -np.abs(A) + np.diag(rng.integers(0, 3 * n, n))
    if shape == "symmetric":
        A = A + A.T
        np.fill_diagonal(A, rng.integers(0, 6, n))
    if shape == "repeated column":
        A[:, rng.integers(n)] = A[:, rng.integers(n)]
        np.fill_diagonal(A, np.abs(A.diagonal()))
    return A


def leibniz(A: np.ndarray) -> Fraction:
    """The determinant by its definition."""
    n, total = len(A), Fraction(0)
    for order in permutations(range(n)):
        sign = (-1) ** sum(order[i] > order[j] for i, j in combinations(range(n), 2))
        term = Fraction(sign)
        for i, j in enumerate(order):
            term *= Fraction(float(A[i, j]))
        total += term
    return total


def principal_minors(A: np.ndarray) -> list[Fraction]:
    sets = (rows for k in range(1, len(A) + 1) for rows in combinations(range(len(A)), k))
    return [leibniz(A[np.ix_(rows, rows)]) for rows in sets]


def by_definition(A: np.ndarray) -> dict[str, bool]:
    off = A - np.diag(A.diagonal())
    comparison = np.diag(np.abs(A.diagonal())) - np.abs(off)
    minors, symmetric = principal_minors(A), principal_minors(A + A.T)
    dominant = bool((A.diagonal() > 0).all()) and min(principal_minors(comparison)) > 0
    return {
        "symmetric": bool((A == A.T).all()),
        "positive_definite": min(symmetric) > 0,
        "positive_semidefinite": min(symmetric) >= 0,
        "Z": bool((off <= 0).all()),
        "M": bool((off <= 0).all()) and dominant,
        "H_plus": dominant,
        "P": min(minors) > 0,
        "P0": min(minors) >= 0,
    }


def contradicted_by_small_numbers(A: np.ndarray) -> set[str]:
    """Classes that some x of numbers -3 ... 3 contradicts."""
    X = np.array(list(product(range(-3, 4), repeat=len(A))))
    columns, rows = X * (X @ A.T), X * (X @ A)
    values = columns.sum(axis=1)[(X >= 0).all(axis=1) & (X > 0).any(axis=1)]
    found = {
        "copositive": (values < 0).any(),
        "strictly_copositive": (values <= 0).any(),
        "column_sufficient": ((columns <= 0).all(axis=1) & (columns < 0).any(axis=1)).any(),
        "row_sufficient": ((rows <= 0).all(axis=1) & (rows < 0).any(axis=1)).any(),
    }
    found["sufficient"] = found["column_sufficient"] or found["row_sufficient"]
    return {name for name, contradicted in found.items() if contradicted}


@settings(max_examples=100)
@given(whole_matrices())
def test_answers_are_those_of_the_definitions(A):
    result = classify(A, max_seconds=60.0)
    for name, expected in by_definition(A).items():
        assert result[name].answer is expected, str(result[name])
    wrong = contradicted_by_small_numbers(A)
    for verdict in result:
        assert verdict.answer is not None
        assert not (verdict.name in wrong and verdict.answer), str(verdict)
        if (
            verdict.answer is False or verdict.witness is not None
        ):  # so that a no is a theorem, and the two ways together decide every class
            assert check_witness(A, verdict), str(verdict)
    for stronger, weaker in IMPLICATIONS:
        assert not result[stronger] or result[weaker], (stronger, weaker)


@settings(max_examples=30)
@given(whole_matrices(), st.randoms(use_true_random=False))
def test_the_order_and_the_units_of_rows_change_nothing(A, random):
    order = list(range(len(A)))
    random.shuffle(order)
    scales = np.array([random.choice([0.25, 1.0, 3.0]) for _ in order])
    before = classify(A, max_seconds=60.0)
    permuted = classify(A[np.ix_(order, order)], max_seconds=60.0)
    rescaled = classify(A * scales[:, None] * scales, max_seconds=60.0)
    for verdict in before:
        assert permuted[verdict.name].answer is verdict.answer
        assert rescaled[verdict.name].answer is verdict.answer
    other = np.array([random.choice([0.5, 1.0, 5.0]) for _ in order])
    unevenly = classify(A * scales[:, None] * other, classes=["P", "P0", "Z", "M", "H_plus"], max_seconds=60.0)
    for name in ("P", "P0", "Z", "M", "H_plus"):
        assert unevenly[name].answer is before[name].answer


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(2, 4))
def test_real_numbers_near_the_border_are_decided_right(seed, n):
    """Gram matrices of rank n - 1 in rounded numbers: whatever their classes are, they agree with exact minors."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n - 1))
    A = G @ G.T
    A = (A + A.T) / 2
    result = classify(A, max_seconds=60.0)
    least = min(principal_minors(A))
    for name, expected in [("positive_definite", least > 0), ("P", least > 0), ("P0", least >= 0)]:
        assert result[name].answer is expected
        if not expected:
            assert check_witness(A, result[name])


# -- walks -------------------------------------------------------------------------------------------------------------


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
