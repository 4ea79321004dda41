"""The symbolic factor against the plain definition of a Cholesky factor's pattern."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.factors import supernodal
from perp.linalg.symbolic import adjacency, analyse, predict_flops


def pattern_of_factor(pattern, permutation):
    """Where L of P A P^T may be nonzero, by elimination column after column: the readable twin of `analyse`."""
    L = np.tril((pattern | pattern.T)[np.ix_(permutation, permutation)])
    np.fill_diagonal(L, True)
    for j in range(len(L)):
        below = j + 1 + np.flatnonzero(L[j + 1 :, j])
        for k in below:
            L[below[below >= k], k] = True
    return L


def rows_of(symbolic, s):
    return symbolic.rows[symbolic.rows_start[s] : symbolic.rows_start[s + 1]]


def columns_of(symbolic, s):
    return np.arange(symbolic.super_start[s], symbolic.super_start[s + 1])


@st.composite
def patterns(draw):
    """A square pattern, not always symmetric, from empty to full, and an order to eliminate it in."""
    n, density = draw(st.integers(0, 25)), draw(st.sampled_from([0.0, 0.03, 0.1, 0.3, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return rng.random((n, n)) < density, rng.permutation(n)


def as_sparse(pattern):
    return sparse.csr_array(pattern.astype(float))


@given(patterns())
def test_counts_and_tree_are_those_of_the_pattern_of_the_factor(case):
    pattern, permutation = case
    symbolic = analyse(as_sparse(pattern), permutation)
    L = pattern_of_factor(pattern, symbolic.permutation)
    np.testing.assert_array_equal(symbolic.column_counts, L.sum(axis=0))
    for j, parent in enumerate(symbolic.parent):
        below = j + 1 + np.flatnonzero(L[j + 1 :, j])
        assert parent == (below[0] if below.size else -1)
    assert symbolic.flops == np.sum(L.sum(axis=0) ** 2) == predict_flops(as_sparse(pattern), permutation)
    whole = (pattern | pattern.T) | np.eye(len(pattern), dtype=bool)
    assert symbolic.fill == pytest.approx(L.sum() / np.tril(whole).sum() if len(L) else 1.0)


@given(patterns())
def test_postordering_changes_the_order_but_not_the_fill(case):
    pattern, permutation = case
    symbolic = analyse(as_sparse(pattern), permutation)
    assert symbolic.column_counts.sum() == pattern_of_factor(pattern, permutation).sum()
    np.testing.assert_array_equal(np.sort(symbolic.permutation), np.arange(len(pattern)))
    np.testing.assert_array_equal(symbolic.inverse[symbolic.permutation], np.arange(len(pattern)))


@given(patterns())
def test_every_subtree_is_a_run_of_columns(case):
    symbolic = analyse(as_sparse(case[0]), case[1])
    descendants = np.ones(symbolic.n, dtype=int)
    for j, parent in enumerate(symbolic.parent):
        if parent >= 0:
            assert parent > j
            descendants[parent] += descendants[j]
    for j, parent in enumerate(symbolic.parent):
        if parent >= 0:
            assert parent - descendants[parent] < j - descendants[j] + 1 <= j < parent


@given(patterns())
def test_exact_supernodes_hold_exactly_the_pattern(case):
    symbolic = analyse(as_sparse(case[0]), case[1], relax=False)
    L = pattern_of_factor(case[0], symbolic.permutation)
    for s in range(symbolic.supernodes):
        rows = rows_of(symbolic, s)
        for j in columns_of(symbolic, s):
            np.testing.assert_array_equal(rows[rows >= j], np.flatnonzero(L[:, j]))
    assert symbolic.nonzeros == symbolic.column_counts.sum()


@given(patterns())
def test_exact_supernodes_are_as_wide_as_they_can_be(case):
    symbolic = analyse(as_sparse(case[0]), case[1], relax=False)
    L = pattern_of_factor(case[0], symbolic.permutation)
    for first in symbolic.super_start[1:-1]:
        assert not np.array_equal(L[first:, first - 1], L[first:, first])


@given(patterns())
def test_relaxed_supernodes_cover_the_pattern_and_nest_in_their_parents(case):
    symbolic = analyse(as_sparse(case[0]), case[1])
    L = pattern_of_factor(case[0], symbolic.permutation)
    stored = 0
    for s in range(symbolic.supernodes):
        rows, columns = rows_of(symbolic, s), columns_of(symbolic, s)
        assert np.all(np.diff(rows) > 0)
        np.testing.assert_array_equal(rows[: columns.size], columns)
        np.testing.assert_array_equal(symbolic.column_to_super[columns], s)
        for j in columns:
            assert np.isin(np.flatnonzero(L[:, j]), rows).all()
        below = rows[columns.size :]
        assert symbolic.super_parent[s] == (symbolic.column_to_super[below[0]] if below.size else -1)
        if below.size:
            assert np.isin(below, rows_of(symbolic, symbolic.super_parent[s])).all()
        assert symbolic.values_start[s + 1] - symbolic.values_start[s] == rows.size * columns.size
        stored += sum(np.count_nonzero(rows >= j) for j in columns)
    assert symbolic.nonzeros == stored


def test_joining_supernodes_leaves_few_of_them_and_respects_the_share_of_zeros():
    tridiagonal = sparse.diags_array([np.ones(999), np.ones(999)], offsets=[-1, 1])
    exact, relaxed = analyse(tridiagonal, relax=False), analyse(tridiagonal)
    assert exact.supernodes == 999
    assert relaxed.supernodes < 100
    for s in range(relaxed.supernodes):
        columns = columns_of(relaxed, s)
        rows = rows_of(relaxed, s).size
        entries = rows * columns.size - columns.size * (columns.size - 1) // 2
        zeros = entries - relaxed.column_counts[columns].sum()
        assert columns.size <= supernodal.FIRST_WIDTH
        assert columns.size <= supernodal.ALWAYS_WIDTH or zeros / entries < supernodal.FIRST_ZEROS


def test_no_row_at_all_has_an_empty_factor():
    symbolic = analyse(sparse.csr_array((0, 0)))
    assert (symbolic.n, symbolic.supernodes, symbolic.nonzeros, symbolic.flops) == (0, 0, 0, 0)
    assert symbolic.super_start.tolist() == symbolic.rows_start.tolist() == symbolic.values_start.tolist() == [0]


def test_one_row_is_one_supernode_even_if_its_diagonal_is_not_stored():
    symbolic = analyse(sparse.csr_array((1, 1)))
    assert symbolic.rows.tolist() == [0]
    assert symbolic.column_counts.tolist() == [1]


def test_a_diagonal_matrix_is_a_forest_of_single_columns():
    symbolic = analyse(sparse.eye_array(7))
    assert symbolic.supernodes == 7
    assert symbolic.parent.tolist() == [-1] * 7
    assert symbolic.fill == 1.0


def test_a_full_matrix_is_one_supernode():
    symbolic = analyse(sparse.csr_array(np.ones((9, 9))), np.arange(9)[::-1])
    assert symbolic.supernodes == 1
    assert symbolic.column_counts.tolist() == list(range(9, 0, -1))
    assert symbolic.nonzeros == 45


def test_an_entry_on_one_side_of_the_diagonal_or_with_value_zero_is_an_edge_and_leaves_the_matrix_alone():
    one_sided = sparse.csr_array((np.zeros(3), np.array([2, 1, 0]), np.array([0, 2, 3, 3])), shape=(3, 3))
    graph = adjacency(one_sided)
    assert graph.pointers.tolist() == [0, 2, 3, 4]
    assert graph.indices.tolist() == [1, 2, 0, 0]
    assert one_sided.indices.tolist() == [2, 1, 0]


def test_the_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        analyse(sparse.eye_array(2)).rows[0] = 1


@pytest.mark.parametrize("permutation", [[0, 1], [0, 1, 1], [0, 1, 3], [0.0, 1.0, 2.0], [-1, 0, 1]])
def test_what_is_not_a_permutation_is_refused(permutation):
    with pytest.raises(ValueError, match="permutation"):
        analyse(sparse.eye_array(3), permutation)


def test_what_is_not_a_square_sparse_matrix_is_refused():
    with pytest.raises(InvalidProblem, match=r"\(2, 3\)"):
        analyse(sparse.csr_array((2, 3)))
    with pytest.raises(TypeError, match="sparse"):
        analyse(np.eye(2))


def test_a_wild_index_is_refused_before_native_code_follows_it():
    wild = sparse.eye_array(3).tocsr()
    wild.indices[0] = 99
    with pytest.raises(ValueError, match="indices"):
        analyse(wild)
