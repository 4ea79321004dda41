"""`classify` beside slow twins: all principal minors in fractions, and all x of small whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perp.linalg.classes import check_witness, classify

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
