"""Orderings: permutations all, and as sparing with fill as they should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import splu

import perp
from perp.linalg import orderings
from perp.linalg.symbolic import analyse

NAMES = [*orderings.METHODS, "best"]


def make_grid(*shape):
    """Each point of a grid touches its two neighbours along every axis."""
    graph = sparse.csr_array((1, 1))
    for n in shape:
        line = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
        graph = sparse.kron(graph, sparse.eye_array(n)) + sparse.kron(sparse.eye_array(graph.shape[0]), line)
    return sparse.csr_array(graph)


def make_random(n, neighbours, seed=0):
    ends = np.random.default_rng(seed).integers(0, n, (2, n * neighbours // 2))
    return sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n)).tocsr()


def make_stack(n):
    return perp.gallery.make("box_stack", n=n).problem.A.to_sparse()


def order_of_superlu(A):
    """The multiple minimum degree of SuperLU, which shows its order only after a factorisation."""
    pattern = sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    matrix = pattern + pattern.T + 4 * A.nnz * sparse.eye_array(A.shape[0])
    factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}, diag_pivot_thresh=0)
    return np.argsort(factor.perm_c)


def nonzeros(A, permutation):
    return analyse(A, permutation).column_counts.sum()


def bandwidth(A, permutation):
    entries = sparse.coo_array(A[permutation][:, permutation])
    return np.abs(entries.row - entries.col).max(initial=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "A",
    [
        sparse.csr_array((0, 0)),
        sparse.csr_array((1, 1)),
        sparse.eye_array(9).tocsr(),
        sparse.csr_array(np.ones((9, 9))),
        make_grid(7, 9),
        make_random(300, 3),
        sparse.block_diag([make_grid(30, 20), np.ones((5, 5)), make_random(40, 2), make_grid(25, 25)], format="csr"),
    ],
    ids=["nothing", "one row", "diagonal", "full", "grid", "random", "components"],
)
def test_an_order_names_each_row_once_and_is_the_same_each_time(A, name):
    permutation = orderings.order(A, name)
    assert permutation.dtype == np.intp
    np.testing.assert_array_equal(np.sort(permutation), np.arange(A.shape[0]))
    np.testing.assert_array_equal(orderings.order(A, name), permutation)


@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([0, 1, 2, 4, 20]), st.integers(1, 30))
def test_any_graph_gets_a_permutation_from_any_method(seed, n, neighbours, leaf):
    A = make_random(n, neighbours, seed)
    for permutation in (*(orderings.order(A, name) for name in NAMES), orderings.nested_dissection(A, leaf)):
        np.testing.assert_array_equal(np.sort(permutation), np.arange(n))


def test_on_a_plane_grid_minimum_degree_and_dissection_beat_the_band_and_the_band_beats_rows():
    A = make_grid(40, 40)
    counted = {name: nonzeros(A, orderings.order(A, name)) for name in NAMES}
    assert counted["natural"] == pytest.approx(40**3, rel=0.01)  # a full band
    assert counted["amd"] < 0.36 * counted["natural"]
    assert counted["nested_dissection"] < 0.36 * counted["natural"]
    assert max(counted["amd"], counted["nested_dissection"]) < 0.6 * counted["reverse_cuthill_mckee"]
    assert counted["reverse_cuthill_mckee"] < 0.75 * counted["natural"]


@pytest.mark.parametrize(
    "A",
    [
        make_grid(30, 30),
        make_grid(100, 100),
        make_grid(12, 12, 12),
        make_random(2000, 3),
        make_random(500, 10),
        make_stack(1000),
    ],
    ids=["grid", "large grid", "cubic grid", "sparse random", "random", "stack of boxes"],
)
def test_minimum_degree_fills_hardly_more_than_that_of_superlu(A):
    assert nonzeros(A, orderings.minimum_degree(A)) <= 1.15 * nonzeros(A, order_of_superlu(A))


def test_dissection_needs_fewer_operations_than_minimum_degree_on_large_grids_and_best_knows():
    for A in (make_grid(80, 80), make_grid(16, 16, 16)):
        dissected = analyse(A, orderings.nested_dissection(A)).flops
        assert dissected < 0.9 * analyse(A, orderings.minimum_degree(A)).flops
        assert analyse(A, orderings.order(A, "best")).flops == dissected


def test_best_takes_minimum_degree_where_that_is_better():
    A = make_random(2000, 4)
    least = analyse(A, orderings.minimum_degree(A)).flops
    assert analyse(A, orderings.nested_dissection(A)).flops > least
    assert analyse(A, orderings.order(A, "best")).flops == least


@given(st.integers(0, 10_000), st.integers(2, 80))
def test_minimum_degree_eliminates_a_tree_without_fill(seed, n):
    rng = np.random.default_rng(seed)
    parents = [rng.integers(0, k) for k in range(1, n)]
    shuffled = rng.permutation(n)
    tree = sparse.coo_array((np.ones(n - 1), (shuffled[1:], shuffled[parents])), shape=(n, n)).tocsr()
    assert analyse(tree, orderings.minimum_degree(tree)).fill == 1.0


def test_rows_with_the_same_neighbours_stay_together():
    """Six rows for each point of a grid fill as six by six blocks would."""
    grid = make_grid(20, 20)
    shuffled = np.random.default_rng(0).permutation(2400)
    blocks = sparse.kron(grid + sparse.eye_array(400), np.ones((6, 6)), format="csr")[shuffled][:, shuffled]
    for method in (orderings.minimum_degree, orderings.nested_dissection):
        points = shuffled[method(blocks)] // 6
        assert np.all(points.reshape(400, 6) == points[::6, None])
    assert nonzeros(blocks, orderings.minimum_degree(blocks)) < 37 * nonzeros(grid, orderings.minimum_degree(grid))


def test_cuthill_mckee_finds_the_band_of_a_shuffled_grid():
    shuffled = np.random.default_rng(1).permutation(600)
    A = make_grid(60, 10)[shuffled][:, shuffled]
    for method in (orderings.cuthill_mckee, orderings.reverse_cuthill_mckee):
        assert bandwidth(A, method(A)) <= 12
    assert bandwidth(A, orderings.natural(A)) > 500


def test_cuthill_mckee_begins_at_an_end():
    # 0 - 1 - 2 with three more leaves on 2
    edges = np.array([[0, 1, 2, 2, 2], [1, 2, 3, 4, 5]])
    A = sparse.coo_array((np.ones(5), tuple(edges)), shape=(6, 6)).tocsr()
    order = orderings.cuthill_mckee(A)
    assert order[0] != 2
    assert bandwidth(A, order) <= 3
    np.testing.assert_array_equal(orderings.reverse_cuthill_mckee(A), order[::-1])


def test_reversing_cuthill_mckee_never_adds_fill():
    for A in (make_random(500, 3), make_random(300, 6), make_stack(300)):
        assert nonzeros(A, orderings.reverse_cuthill_mckee(A)) <= nonzeros(A, orderings.cuthill_mckee(A))


def test_a_row_that_touches_all_others_is_eliminated_last():
    A = make_grid(30, 30).tolil()
    A[450, :] = 1
    for method in (orderings.minimum_degree, orderings.nested_dissection):
        assert method(A.tocsr())[-1] == 450


def test_an_unknown_ordering_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="did you mean 'natural'"):
        orderings.order(sparse.eye_array(2), "naturl")


def test_a_leaf_of_no_rows_is_refused():
    with pytest.raises(ValueError, match="leaf"):
        orderings.nested_dissection(sparse.eye_array(2), leaf=0)
