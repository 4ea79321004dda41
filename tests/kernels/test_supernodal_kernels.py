"""The supernodal Cholesky kernels against plain loops over a dense matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp.kernels.blas import product_address
from perp.kernels.factors import supernodal
from perp.kernels.factors.dense_factors import BLOCK
from perp.linalg.symbolic import analyse


@st.composite
def matrices(draw):
    """A sparse symmetric positive definite matrix as a dense array, and its symbolic factor."""
    n, density = draw(st.integers(1, 60)), draw(st.sampled_from([0.0, 0.02, 0.1, 0.4, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    B = rng.standard_normal((n, n)) * (rng.random((n, n)) < density)
    A = B + B.T
    A[np.diag_indices(n)] = np.abs(A).sum(axis=1) + 1.0
    return A, analyse(sparse.csr_array(A), rng.permutation(n), relax=draw(st.booleans()))


def tree_of(symbolic):
    return symbolic.super_start, symbolic.column_to_super, symbolic.rows_start, symbolic.rows


def rows_of(symbolic, s):
    return symbolic.rows[symbolic.rows_start[s] : symbolic.rows_start[s + 1]]


def lower_entries(A, symbolic):
    """The lower triangle of P A P^T by columns, rows sorted: starts, rows, numbers."""
    P = A[np.ix_(symbolic.permutation, symbolic.permutation)]
    there = np.tril(P != 0)
    columns, rows = np.nonzero(there.T)
    start = np.searchsorted(columns, np.arange(symbolic.n + 1)).astype(np.int64)
    return start, rows.astype(np.int64), P[rows, columns]


def list_updates(symbolic):
    counts = np.zeros(symbolic.supernodes + 1, dtype=np.int64)
    largest = supernodal.count_updates(*tree_of(symbolic), counts)
    start = np.cumsum(counts)
    lists = tuple(np.empty(start[-1], dtype=np.int64) for _ in range(3))
    supernodal.list_updates(*tree_of(symbolic), start[:-1].copy(), *lists)
    return largest, start, lists


def factor(A, symbolic, L, marked):
    """Factor the marked supernodes into the flat array L; returns `found`."""
    start, row, numbers = lower_entries(A, symbolic)
    target = np.empty(row.size, dtype=np.int64)
    supernodal.find_targets(*tree_of(symbolic), symbolic.values_start, start, row, target)
    largest, update_start, updates = list_updates(symbolic)
    tallest = int(np.diff(symbolic.rows_start).max())
    found = np.zeros(2, dtype=np.int64)
    structure = (symbolic.super_start, symbolic.rows_start, symbolic.rows, symbolic.values_start)
    scratch = (np.empty(symbolic.n, dtype=np.int64), np.empty(tallest, dtype=np.int64), np.empty(largest))
    work = (np.empty(BLOCK * BLOCK), np.empty(tallest * BLOCK))
    floor = 1e-13 * numbers[start[:-1]]
    supernodal.factor(
        product_address(),
        *structure,
        *(update_start, *updates),
        *(start, target, numbers, marked, floor, L),
        *scratch,
        *work,
        found,
    )
    return found


def as_dense(symbolic, L):
    dense = np.zeros((symbolic.n, symbolic.n))
    for s in range(symbolic.supernodes):
        rows, first, end = rows_of(symbolic, s), symbolic.super_start[s], symbolic.super_start[s + 1]
        block = L[symbolic.values_start[s] : symbolic.values_start[s + 1]].reshape(end - first, rows.size).T
        dense[np.ix_(rows, np.arange(first, end))] = block
    return np.tril(dense)


@given(matrices())
def test_updates_are_listed_once_for_every_supernode_that_a_descendant_reaches(case):
    _, symbolic = case
    largest, start, (giver, first, end) = list_updates(symbolic)
    expected, most = set(), 0
    for d in range(symbolic.supernodes):
        rows = rows_of(symbolic, d)
        below = rows[rows >= symbolic.super_start[d + 1]]
        for s in set(symbolic.column_to_super[below]):
            places = np.flatnonzero(symbolic.column_to_super[rows] == s)
            expected.add((s, d, places[0], places[-1] + 1))
            most = max(most, (rows.size - places[0]) * places.size)
    owner = np.repeat(np.arange(symbolic.supernodes), np.diff(start))
    assert set(zip(owner, giver, first, end, strict=True)) == expected
    assert len(giver) == len(expected)
    assert largest == most


@given(matrices())
def test_every_entry_of_a_has_its_own_place_among_the_blocks(case):
    A, symbolic = case
    start, row, numbers = lower_entries(A, symbolic)
    target = np.empty(row.size, dtype=np.int64)
    supernodal.find_targets(*tree_of(symbolic), symbolic.values_start, start, row, target)
    assert len(set(target)) == target.size
    L = np.zeros(symbolic.values_start[-1])
    L[target] = numbers
    P = A[np.ix_(symbolic.permutation, symbolic.permutation)]
    np.testing.assert_array_equal(as_dense(symbolic, L), np.tril(P))


@given(matrices())
def test_the_factor_is_numpys_and_the_solve_uses_it(case):
    A, symbolic = case
    L = np.full(symbolic.values_start[-1], np.nan)
    found = factor(A, symbolic, L, np.ones(symbolic.supernodes, dtype=np.bool_))
    assert not found.any()
    P = A[np.ix_(symbolic.permutation, symbolic.permutation)]
    np.testing.assert_allclose(as_dense(symbolic, L), np.linalg.cholesky(P), rtol=1e-12, atol=1e-13)
    right = np.cos(np.arange(symbolic.n))
    x = right.copy()
    structure = (symbolic.super_start, symbolic.rows_start, symbolic.rows, symbolic.values_start)
    supernodal.solve(*structure, L, x, np.empty(int(np.diff(symbolic.rows_start).max())))
    np.testing.assert_allclose(x, np.linalg.solve(P, right), rtol=1e-12, atol=1e-14)


@given(matrices(), st.data())
def test_changed_supernodes_and_their_ancestors_are_marked_and_no_others(case, data):
    A, symbolic = case
    start, _, numbers = lower_entries(A, symbolic)
    changed = data.draw(st.sets(st.integers(0, numbers.size - 1), max_size=3))
    new = numbers.copy()
    new[list(changed)] += 1.0
    marked = np.zeros(symbolic.supernodes, dtype=np.bool_)
    rest = (symbolic.super_start, symbolic.super_parent, start, numbers, new)
    count = supernodal.mark_changes(*rest, False, marked)
    expected = set()
    for entry in changed:
        s = symbolic.column_to_super[np.searchsorted(start, entry, side="right") - 1]
        while s >= 0:
            expected.add(int(s))
            s = symbolic.super_parent[s]
    assert set(np.flatnonzero(marked)) == expected
    assert count == len(expected)
    everything = np.zeros(symbolic.supernodes, dtype=np.bool_)
    assert supernodal.mark_changes(*rest, True, everything) == symbolic.supernodes
    assert everything.all()


@given(matrices(), st.data())
def test_factoring_the_marked_supernodes_alone_gives_the_same_bits(case, data):
    A, symbolic = case
    other = A.copy()
    for i in data.draw(st.sets(st.integers(0, symbolic.n - 1), max_size=3)):
        other[i, i] *= 2.0
    everything = np.ones(symbolic.supernodes, dtype=np.bool_)
    anew, L = np.zeros(symbolic.values_start[-1]), np.zeros(symbolic.values_start[-1])
    factor(other, symbolic, anew, everything)
    factor(A, symbolic, L, everything)
    start, _, numbers = lower_entries(A, symbolic)
    marked = np.zeros(symbolic.supernodes, dtype=np.bool_)
    new = lower_entries(other, symbolic)[2]
    supernodal.mark_changes(symbolic.super_start, symbolic.super_parent, start, numbers, new, False, marked)
    factor(other, symbolic, L, marked)
    np.testing.assert_array_equal(as_dense(symbolic, L), as_dense(symbolic, anew))


@given(matrices(), st.data())
def test_nan_is_reported_wherever_it_stands(case, data):
    A, symbolic = case
    i, j = data.draw(st.sampled_from(np.argwhere(A != 0).tolist()))
    A = A.copy()
    A[i, j] = A[j, i] = np.nan
    L = np.zeros(symbolic.values_start[-1])
    assert factor(A, symbolic, L, np.ones(symbolic.supernodes, dtype=np.bool_))[0] == -1
