"""Promises of the ordering kernels that the orderings built on them do not show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from perp.kernels.factors import graphs
from perp.kernels.factors import minimum_degree as kernels


def make_graph(rng, n, edges):
    """Pointers and indices of a random graph without loops."""
    touches = np.zeros((n, n), dtype=bool)
    touches[tuple(rng.integers(0, n, (2, edges)))] = True
    touches |= touches.T
    np.fill_diagonal(touches, False)
    pointers = np.concatenate(([0], np.cumsum(touches.sum(axis=1)))).astype(np.int64)
    return touches, pointers, np.nonzero(touches)[1].astype(np.int64)


def eliminate(pointers, indices, weights, stage, room):
    n = weights.size
    order = np.empty(n, dtype=np.int64)
    lists = np.empty(indices.size + n + room, dtype=np.int64)
    work = np.empty((kernels.STATE_ROWS, n), dtype=np.int64)
    head = np.empty(weights.sum() + 1, dtype=np.int64)
    members = np.argsort(stage, kind="stable")
    kernels.minimum_degree(pointers, indices, weights, stage, members, order, lists, work, head)
    return order


def exact_minimum_degree(touches):
    """Nonzeros of L when a node of truly least degree is eliminated each time: the readable twin."""
    touches, left, count = touches.copy(), np.ones(len(touches), dtype=bool), 0
    while left.any():
        p = min(np.flatnonzero(left), key=lambda i: np.count_nonzero(touches[i] & left))
        left[p] = False
        clique = touches[p] & left
        count += 1 + np.count_nonzero(clique)
        touches |= np.outer(clique, clique)
    return count


def factor_nonzeros(touches, order):
    touches, left, count = touches.copy(), np.ones(len(touches), dtype=bool), 0
    for p in order:
        left[p] = False
        clique = touches[p] & left
        count += 1 + np.count_nonzero(clique)
        touches |= np.outer(clique, clique)
    return count


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 200))
def test_compressing_the_lists_does_not_change_the_order(seed, n, edges):
    rng = np.random.default_rng(seed)
    _, pointers, indices = make_graph(rng, n, edges)
    weights, stage = rng.integers(1, 5, n), rng.integers(0, 3, n)
    tight, roomy = (eliminate(pointers, indices, weights, stage, room) for room in (0, 100_000))
    np.testing.assert_array_equal(tight, roomy)


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 200))
def test_stages_are_eliminated_one_after_another(seed, n, edges):
    rng = np.random.default_rng(seed)
    _, pointers, indices = make_graph(rng, n, edges)
    stage = rng.integers(0, 4, n)
    order = eliminate(pointers, indices, np.ones(n, dtype=np.int64), stage, 10)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert np.all(np.diff(stage[order]) >= 0)


def test_approximate_degrees_cost_little_fill_against_exact_ones():
    ours = exact = 0
    for seed in range(20):
        touches, pointers, indices = make_graph(np.random.default_rng(seed), 100, 160)
        ones, zeros = np.ones(100, dtype=np.int64), np.zeros(100, dtype=np.int64)
        ours += factor_nonzeros(touches, eliminate(pointers, indices, ones, zeros, 10))
        exact += exact_minimum_degree(touches)
    assert ours == pytest.approx(exact, rel=0.05)


def dissect(pointers, indices, weights, leaf):
    n = weights.size
    nodes, stage = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    graphs.dissect(pointers, indices, weights, leaf, nodes, stage, np.empty((graphs.DISSECTION_ROWS, n + 1), dtype=int))
    return nodes, stage


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 150), st.integers(1, 20))
def test_the_stages_of_a_dissection_are_runs_of_nodes(seed, n, edges, leaf):
    rng = np.random.default_rng(seed)
    _, pointers, indices = make_graph(rng, n, edges)
    nodes, stage = dissect(pointers, indices, rng.integers(1, 5, n), leaf)
    np.testing.assert_array_equal(np.sort(nodes), np.arange(n))
    first = np.flatnonzero(np.diff(stage[nodes], prepend=-1))
    np.testing.assert_array_equal(stage[nodes][first], first)
    assert np.all(np.diff(stage[nodes]) >= 0)


def test_without_its_last_stage_a_dissected_grid_falls_into_two_even_parts_and_no_leaf_is_too_large():
    i, j = np.divmod(np.arange(400), 20)
    touches = np.abs(i[:, None] - i) + np.abs(j[:, None] - j) == 1
    pointers = np.concatenate(([0], np.cumsum(touches.sum(axis=1)))).astype(np.int64)
    _, stage = dissect(pointers, np.nonzero(touches)[1].astype(np.int64), np.ones(400, dtype=np.int64), 30)
    stages = np.unique(stage)
    separator = stage == stages[-1]
    assert np.count_nonzero(separator) <= 22
    count, part = connected_components(sparse.csr_array(touches[~separator][:, ~separator]))
    assert count == 2
    assert np.bincount(part).min() >= 0.3 * 400
    leaves, sizes = np.unique(stage, return_counts=True)
    assert leaves.size > 20
    assert sizes.max() <= 30


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(0, 60))
def test_twins_are_the_nodes_with_the_same_closed_neighbourhood(seed, n, edges):
    touches, pointers, indices = make_graph(np.random.default_rng(seed), n, edges)
    closed = touches | np.eye(n, dtype=bool)
    hashes = np.empty(n, dtype=np.uint64)
    graphs.hash_neighbourhoods(pointers, indices, hashes)
    twin, mark = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    graphs.find_twins(pointers, indices, hashes, np.argsort(hashes, kind="stable"), twin, mark)
    for i in range(n):
        same = np.flatnonzero((closed == closed[i]).all(axis=1))
        assert twin[i] == same[0]
