"""Exact elimination: determinants, null spaces, solutions, definiteness, and shifts that leave nothing singular."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from exact_twins import all_sets, no_limit, whole
from hypothesis import given
from hypothesis import strategies as st

from perp.problems.exact_elimination import (
    determinant,
    echelon,
    eliminate,
    is_definite,
    null_space,
    principal,
    shifted,
    solve_exactly,
    to_integers,
    whole_row,
)


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
    assert is_definite(S, no_limit) is (outcome.x is None)
    if outcome.x is None:
        assert least > 1e-9
    else:
        value = sum(a * S[i][j] * b for i, a in enumerate(outcome.x) for j, b in enumerate(outcome.x))
        assert (value == 0) if outcome.answer else (value < 0)


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_a_tiny_shift_leaves_no_minor_zero_and_no_negative_one_positive(seed, n):
    M = whole(seed, n, size=1)
    for sign in (1, -1):
        T = shifted(M, sign)
        for rows in all_sets(n):
            before, after = determinant(principal(M, rows), no_limit), determinant(principal(T, rows), no_limit)
            assert after != 0
            assert before == 0 or (before > 0) == (after > 0)


@given(st.integers(0, 2**31), st.integers(1, 5), st.booleans(), st.booleans())
def test_an_echelon_has_zeros_below_its_pivots_and_the_same_null_space(seed, n, smallest, reduced):
    M = whole(seed, n, size=1)
    found = echelon(M, n, no_limit, smallest=smallest, reduced=reduced)
    assert len(found.columns) == np.linalg.matrix_rank(np.array(M, dtype=float))
    for i, k in enumerate(found.columns):
        assert found.rows[i][k] == (found.last if reduced else found.rows[i][k] or 1)
        assert not any(found.rows[j][k] for j in range(n) if j > i or (reduced and j != i))
    assert not any(any(row) for row in found.rows[len(found.columns) :])
    for x in null_space(M, n, no_limit):
        assert all(sum(a * b for a, b in zip(row, x, strict=True)) == 0 for row in found.rows)


def test_rows_of_fractions_become_whole_and_share_no_factor():
    assert whole_row([Fraction(1, 2), Fraction(-3, 4), Fraction(0)]) == [2, -3, 0]
    assert whole_row([Fraction(6), Fraction(9)]) == [2, 3]
