"""Sparse and dense Cholesky factors whose numbers change: against NumPy, and against themselves from scratch."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp import gallery
from perp.errors import InvalidProblem
from perp.linalg import DenseCholesky, NotFinite, SparseCholesky, analyse, order
from perp.linalg.orderings import METHODS

ORDERINGS = (*METHODS, "best")
ONES = np.ones(2)


@st.composite
def spd_matrices(draw, max_n=60):
    """Random sparse patterns from diagonal to full; diagonally dominant."""
    n, density = draw(st.integers(1, max_n)), draw(st.sampled_from([0.0, 0.02, 0.1, 0.4, 1.0]))
    rng = np.random.default_rng(draw(strategies.SEEDS))
    B = rng.standard_normal((n, n)) * (rng.random((n, n)) < density)
    A = B + B.T
    A[np.diag_indices(n)] = np.abs(A).sum(axis=1) + rng.uniform(0.01, 1.0, n)
    return sparse.csr_array(A)


def contact_matrix(n=96, **options):
    return gallery.make("box_stack", n=n, **options).problem.A.to_sparse()


def grid_matrix(n=400):
    return gallery.make("poisson_2d", n=n).problem.A.to_sparse()


@pytest.mark.parametrize("ordering", ORDERINGS)
@given(A=spd_matrices(), seed=strategies.SEEDS)
def test_a_sparse_system_is_solved_as_by_numpy_in_every_ordering(ordering, A, seed):
    right = np.random.default_rng(seed).standard_normal(A.shape[0])
    factor = SparseCholesky(A, ordering)
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(A.toarray(), right), rtol=1e-9, atol=1e-12)
    assert (factor.dependent, factor.negative) == (0, 0)


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize("make", [grid_matrix, lambda: contact_matrix(compliance=1e-3)], ids=["grid", "contacts"])
def test_grids_and_contacts_are_solved_in_every_ordering(make, ordering):
    A = make()
    right = np.sin(np.arange(A.shape[0]))
    x = SparseCholesky(A, ordering).solve(right)
    np.testing.assert_allclose(A @ x, right, atol=1e-10 * (1 + np.abs(x).max()))


@given(A=spd_matrices(), seeds=st.lists(strategies.SEEDS, min_size=1, max_size=5), ordering=st.sampled_from(ORDERINGS))
def test_factoring_what_changed_gives_the_same_bits_as_factoring_all(A, seeds, ordering):
    factor, data = SparseCholesky(A, ordering), SparseCholesky(A, ordering).matrix.data.copy()
    n = A.shape[0]
    rows = np.repeat(np.arange(n), np.diff(factor.matrix.indptr))
    right = np.cos(np.arange(n))
    for seed in seeds:  # some rows become rows of the identity, as tight rows do
        tight = np.random.default_rng(seed).random(n) < 0.3
        off = (tight[rows] | tight[factor.matrix.indices]) & (rows != factor.matrix.indices)
        new = np.where(off, 0.0, data)
        factor.factor(new)
        anew = SparseCholesky(A, ordering)
        anew.factor(new, anew=True)
        np.testing.assert_array_equal(factor.solve(right), anew.solve(right))
        matrix = sparse.csr_array((new, factor.matrix.indices, factor.matrix.indptr), shape=A.shape)
        np.testing.assert_allclose(factor.solve(right), np.linalg.solve(matrix.toarray(), right), atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("make", [grid_matrix, lambda: contact_matrix(480, compliance=1e-6)], ids=["grid", "contacts"])
def test_one_changed_row_is_a_partial_factorisation_that_costs_less(make):
    factor = SparseCholesky(make())
    data, whole = factor.matrix.data.copy(), factor.report()["flops"]
    first = int(factor.symbolic.permutation[-1])  # the last to be eliminated: only the root is factored again
    rows = np.repeat(np.arange(factor.n), np.diff(factor.matrix.indptr))
    data[np.flatnonzero((rows == first) & (factor.matrix.indices == first))] *= 2.0
    factor.factor(data)
    report = factor.report()
    assert (report["factorisations"], report["partial_factorisations"]) == (2, 1)
    assert 0.0 < report["flops"] - whole < whole
    anew = SparseCholesky(make())
    anew.factor(data, anew=True)
    right = np.sin(np.arange(factor.n))
    np.testing.assert_array_equal(factor.solve(right), anew.solve(right))


def test_the_same_numbers_again_cost_nothing():
    factor = SparseCholesky(grid_matrix())
    flops = factor.report()["flops"]
    factor.factor(factor.matrix.data)
    assert factor.report()["flops"] == flops


@given(strategies.SEEDS, st.integers(2, 40), st.sampled_from(ORDERINGS))
def test_of_a_singular_semidefinite_matrix_dependent_rows_rest(seed, n, ordering):
    rng = np.random.default_rng(seed)
    J = np.round(3 * rng.standard_normal((n, 2 * n)) * (rng.random((n, 2 * n)) < 0.1))
    copies = rng.random(n) < 0.4
    J[copies] = J[rng.integers(0, n, copies.sum())]
    A = J @ J.T
    factor = SparseCholesky(with_diagonal(A), ordering)
    assert factor.dependent == n - np.linalg.matrix_rank(A)
    x = factor.solve(A @ rng.standard_normal(n))
    assert np.isfinite(x).all()
    assert np.count_nonzero(x == 0.0) >= factor.dependent


def with_diagonal(A):
    """As a sparse array that stores every diagonal entry, be it zero."""
    n = len(A)
    marked = sparse.csr_array(np.where((A != 0) | np.eye(n, dtype=bool), 1.0, 0.0))
    rows = np.repeat(np.arange(n), np.diff(marked.indptr))
    marked.data = A[rows, marked.indices].astype(float)
    return marked


def test_redundant_contacts_are_solved_for_all_but_the_rows_that_rest():
    A = contact_matrix(192)
    factor = SparseCholesky(A)
    assert factor.dependent > 0
    right = A @ np.sin(np.arange(A.shape[0]))  # consistent: rows that rest hold by themselves
    np.testing.assert_allclose(A @ factor.solve(right), right, atol=1e-6)


@given(strategies.SEEDS, st.integers(2, 30))
def test_rows_that_rest_are_counted_the_same_after_a_partial_factorisation(seed, n):
    rng = np.random.default_rng(seed)
    J = np.round(3 * rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.15))
    factor = SparseCholesky(with_diagonal(J @ J.T))
    data = factor.matrix.data.copy()
    rows = np.repeat(np.arange(n), np.diff(factor.matrix.indptr))
    data[np.flatnonzero((rows == factor.matrix.indices) & (rows == rng.integers(n)))] += 1.0
    factor.factor(data)
    partly = (factor.dependent, factor.solve(np.ones(n)).tolist())
    factor.factor(data, anew=True)
    assert partly == (factor.dependent, factor.solve(np.ones(n)).tolist())


def test_a_negative_pivot_is_not_forgotten_by_a_partial_factorisation():
    factor = SparseCholesky(sparse.csr_array(np.diag([-1.0, 1.0, 1.0])))
    assert factor.negative == 1
    factor.factor(np.array([-1.0, 1.0, 2.0]))
    assert factor.negative == 1


@given(spd_matrices(max_n=25), st.sampled_from(ORDERINGS))
def test_the_report_tells_fill_and_work_as_counted_by_hand(A, ordering):
    factor = SparseCholesky(A, ordering)
    n = A.shape[0]
    symbolic = factor.symbolic
    there = np.tril(A.toarray()[np.ix_(symbolic.permutation, symbolic.permutation)] != 0)
    for j in range(n):
        below = j + 1 + np.flatnonzero(there[j + 1 :, j])
        for k in below:
            there[below[below >= k], k] = True
    report = factor.report()
    stored = [(symbolic.rows_start[s + 1] - symbolic.rows_start[s]) for s in symbolic.column_to_super]
    column = np.arange(n) - symbolic.super_start[symbolic.column_to_super]
    assert report["factor_nonzeros"] == np.sum(stored - column) >= there.sum()
    assert report["fill"] == pytest.approx(there.sum() / np.tril(A.toarray() != 0).sum())
    assert report["factor_flops"] == report["flops"] > 0
    assert (report["factorisations"], report["partial_factorisations"]) == (1, 0)


@pytest.mark.parametrize("n", [1, 5, 33, 80])
def test_the_flops_of_a_full_matrix_are_a_third_of_its_cube(n):
    A = np.eye(n) * n + 1.0
    report = SparseCholesky(sparse.csr_array(A)).report()
    assert report["factor_nonzeros"] == n * (n + 1) // 2
    assert report["factor_flops"] == pytest.approx(n**3 / 3)
    assert report["fill"] == 1.0


def test_the_work_on_exact_supernodes_is_near_the_sum_of_squared_column_counts():
    A = grid_matrix()
    report = SparseCholesky(A).report()
    exact = analyse(A, order(A, "amd"), relax=False).flops
    assert 0.5 * exact < report["factor_flops"] < 4.0 * exact


def test_an_empty_matrix_and_a_single_number_are_factored():
    nothing = SparseCholesky(sparse.csr_array((0, 0)))
    assert nothing.solve(np.empty(0)).shape == (0,)
    assert nothing.report()["fill"] == 1.0
    np.testing.assert_array_equal(SparseCholesky(sparse.csr_array([[4.0]])).solve(np.array([2.0])), [0.5])


def test_a_missing_diagonal_entry_is_refused_by_its_place():
    with pytest.raises(InvalidProblem, match=r"no entry at \[1,1\]"):
        SparseCholesky(sparse.csr_array([[1.0, 0.5], [0.5, 0.0]]))


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(InvalidProblem, match="square"):
        SparseCholesky(sparse.csr_array(np.ones((2, 3))))


def test_an_unknown_ordering_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="natural"):
        SparseCholesky(sparse.csr_array(np.eye(2)), "naturl")


@given(spd_matrices(max_n=20), st.data())
def test_nan_is_refused_and_the_next_factorisation_is_right_again(A, data):
    factor = SparseCholesky(A)
    bad = factor.matrix.data.copy()
    bad[data.draw(st.integers(0, bad.size - 1))] = np.nan
    rows = np.repeat(np.arange(factor.n), np.diff(factor.matrix.indptr))
    dense = sparse.csr_array((bad, factor.matrix.indices, factor.matrix.indptr), shape=A.shape).toarray()
    bad = np.where(np.isnan(dense + dense.T), np.nan, dense)[rows, factor.matrix.indices]  # in both triangles
    with pytest.raises(NotFinite):
        factor.factor(bad)
    factor.factor(factor.matrix.data)
    right = np.ones(factor.n)
    np.testing.assert_array_equal(factor.solve(right), SparseCholesky(A).solve(right))


@pytest.mark.parametrize("A", [[[np.inf, 0.0], [0.0, 1.0]], [[1.0, np.inf], [np.inf, 1.0]]])
def test_infinity_is_refused_as_nan_is(A):
    with pytest.raises(NotFinite):
        SparseCholesky(sparse.csr_array(A))


def test_an_integer_right_side_is_solved_for_in_floats():
    factor = SparseCholesky(sparse.csr_array([[4.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(factor.solve(np.array([1, 2])), factor.solve(np.array([1.0, 2.0])))


def test_the_callers_matrix_is_left_as_it_was():
    A = sparse.csr_array((np.array([1.0, 4.0, 3.0, 1.0]), np.array([1, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))
    SparseCholesky(A)
    np.testing.assert_array_equal(A.indices, [1, 0, 1, 0])


def test_a_right_side_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="2"):
        SparseCholesky(sparse.csr_array(np.eye(2))).solve(np.ones(5))


def test_duplicates_are_summed_and_other_formats_taken():
    places = (np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 1]))
    A = sparse.coo_array((np.array([1.0, 3.0, 1.0, 1.0, 3.0]), places), shape=(2, 2))
    np.testing.assert_allclose(SparseCholesky(A).solve(ONES), np.linalg.solve([[4.0, 1.0], [1.0, 3.0]], ONES))
    np.testing.assert_allclose(SparseCholesky(A.tocsc()).solve(ONES), SparseCholesky(A).solve(ONES))


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_numbers_change_nothing_but_the_scale(factor):
    A = grid_matrix(36)
    right = np.arange(36.0)
    np.testing.assert_allclose(SparseCholesky(A * factor).solve(right * factor), SparseCholesky(A).solve(right))


@given(strategies.SEEDS, st.integers(1, 60), st.data())
def test_the_dense_factor_follows_the_rows_chosen_and_their_shift(seed, n, data):
    rng = np.random.default_rng(seed)
    A = strategies.spd_matrix(rng, n)
    factor = DenseCholesky(A)
    for _ in range(3):
        chosen = np.flatnonzero(rng.random(n) < data.draw(st.sampled_from([0.0, 0.3, 0.7, 1.0])))
        shift, right = rng.uniform(0.0, 1.0, chosen.size), rng.standard_normal(chosen.size)
        factor.factor(chosen, shift)
        expected = np.linalg.solve(A[np.ix_(chosen, chosen)] + np.diag(shift), right)
        np.testing.assert_allclose(factor.solve(right), expected, rtol=1e-9, atol=1e-10)
        factor.factor(chosen)
        expected = np.linalg.solve(A[np.ix_(chosen, chosen)], right)
        np.testing.assert_allclose(factor.solve(right), expected, rtol=1e-8, atol=1e-9)


def test_the_dense_factor_refuses_nan_and_counts_rows_that_rest():
    with pytest.raises(NotFinite):
        DenseCholesky(np.array([[1.0, np.nan], [np.nan, 1.0]])).factor(np.arange(2))
    factor = DenseCholesky(np.ones((4, 4)))
    factor.factor(np.arange(4))
    assert (factor.dependent, factor.negative) == (3, 0)
    np.testing.assert_array_equal(factor.solve(np.ones(4)), [1.0, 0.0, 0.0, 0.0])
    factor = DenseCholesky(np.diag([1.0, -1.0]))
    factor.factor(np.arange(2))
    assert (factor.dependent, factor.negative) == (1, 1)


@pytest.mark.parametrize("n", [20, 96, 200, 400])
def test_a_semidefinite_matrix_is_not_taken_for_an_indefinite_one(n):
    for seed in range(20):
        J = np.random.default_rng(seed).standard_normal((n, n // 5))
        factor = DenseCholesky(J @ J.T)
        factor.factor(np.arange(n))
        assert factor.negative == 0
        # where the first n/5 rows are nearly dependent themselves, rounding can hide one more
        assert n - n // 5 - 1 <= factor.dependent <= n - n // 5
