"""The supernodal LU factor: against elimination without exchanges, written as plain loops, and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp import gallery
from perp.errors import InvalidProblem
from perp.kernels.factors.supernodal_lu import BLOCK, SIDES
from perp.linalg import NotFinite, Plan, SparseCholesky, SparseLU
from perp.linalg.free_systems.body import make_body_plan
from perp.linalg.orderings import METHODS


@st.composite
def patterns(draw, max_n=80):
    """Symmetric patterns from diagonal to full, and a generator of random numbers."""
    n, density = draw(st.integers(1, max_n)), draw(st.sampled_from([0.0, 0.02, 0.1, 0.4, 1.0]))
    rng = np.random.default_rng(draw(strategies.SEEDS))
    half = rng.random((n, n)) < density
    return half | half.T | np.eye(n, dtype=bool), rng


def dominant(pattern, rng):
    """Random numbers, unsymmetric; each diagonal entry outweighs its row, with either sign."""
    A = np.where(pattern, rng.standard_normal(pattern.shape), 0.0)
    A[np.diag_indices(len(A))] = 0.0
    A[np.diag_indices(len(A))] = (np.abs(A).sum(axis=1) + rng.uniform(0.1, 1.0, len(A))) * rng.choice([-1, 1], len(A))
    return A


def stored(A, pattern=None):
    """As a csr array that stores all of the pattern, be it zero."""
    rows, columns = np.nonzero(np.ones_like(A) if pattern is None else pattern)
    places = np.searchsorted(rows, np.arange(len(A) + 1))
    return sparse.csr_array((A[rows, columns], columns, places), shape=A.shape)


def eliminate(A, floor=0.0):
    """L, U of A without exchanges; pivots are replaced as by the kernel."""
    U, L = A.copy(), np.eye(len(A))
    for j in range(len(A)):
        if abs(U[j, j]) <= floor:
            U[j, j] = np.copysign(floor, U[j, j])
        for i in range(j + 1, len(A)):
            L[i, j] = U[i, j] / U[j, j]
            U[i] -= L[i, j] * U[j]
            U[i, j] = 0.0
    return L, U


def factors_of(lu):
    """The dense L and U that its blocks hold; squares on the diagonal hold the inverses of their triangles."""
    s, n = lu.symbolic, lu.n
    L, U = np.zeros((n, n)), np.zeros((n, n))
    for k in range(s.supernodes):
        rows = s.rows[s.rows_start[k] : s.rows_start[k + 1]]
        first, width = s.super_start[k], s.super_start[k + 1] - s.super_start[k]
        block = slice(s.values_start[k], s.values_start[k + 1])
        lower, upper = lu.arrays.L[block].reshape(width, -1).T, lu.arrays.U[block].reshape(-1, width)
        for j in range(width):
            corner = j // BLOCK * BLOCK
            end = min(corner + BLOCK, width)
            square = slice(corner, end)
            L[rows[corner:end], first + j] = np.linalg.inv(lower[square, square])[:, j - corner]
            U[first + j, rows[corner:end]] = np.linalg.inv(upper[square, square].T)[j - corner]
            L[rows[end:], first + j], U[first + j, rows[end:]] = lower[end:, j], upper[end:, j]
    return L, U


def ordered(lu, A):
    return A[np.ix_(lu.symbolic.permutation, lu.symbolic.permutation)]


def wall(n, spread=2.0, seed=0):
    """The plan of K = M + J^T H J for a wall of boxes, and the two halves of a K that is made unsymmetric."""
    A = gallery.make("box_stack", n=n, layout="wall", model="cone", load="gravity").problem.A
    body, rng = make_body_plan(A, "amd"), np.random.default_rng(seed)
    lower = body.assemble(10.0 ** rng.uniform(-spread, spread, A.shape[0]))
    start, row = body.plan.lower
    skew = 0.1 * rng.standard_normal(lower.size) * lower
    skew[row == np.repeat(np.arange(body.plan.symbolic.n), np.diff(start))] = 0.0
    return body.plan, lower + skew, lower - skew


def dense(plan, lower, upper):
    start, row = plan.lower
    column = np.repeat(np.arange(plan.symbolic.n), np.diff(start))
    A = np.zeros((plan.symbolic.n, plan.symbolic.n))
    A[column, row] = upper
    A[row, column] = lower
    return A


@given(patterns(), st.sampled_from(list(METHODS)))
def test_the_factors_are_those_of_elimination_without_exchanges(made, ordering):
    pattern, rng = made
    A = dominant(pattern, rng)
    lu = SparseLU(stored(A, pattern), ordering)
    L, U = factors_of(lu)
    expected_L, expected_U = eliminate(ordered(lu, A))
    np.testing.assert_allclose(L, expected_L, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(U, expected_U, rtol=1e-11, atol=1e-11 * np.abs(A).max())
    assert lu.perturbed == 0


@given(patterns(), st.sampled_from(list(METHODS)), st.integers(1, 2 * SIDES + 1))
def test_systems_are_solved_as_by_numpy_for_one_and_for_many_right_sides(made, ordering, count):
    pattern, rng = made
    A = dominant(pattern, rng)
    lu = SparseLU(stored(A, pattern), ordering)
    right = rng.standard_normal((len(A), count))
    expected = np.linalg.solve(A, right)
    np.testing.assert_allclose(lu.solve(right), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(lu.solve(right[:, 0]), expected[:, 0], rtol=1e-9, atol=1e-11)


@given(patterns(max_n=60))
def test_the_sign_of_the_determinant_is_that_of_numpy(made):
    pattern, rng = made
    A = dominant(pattern, rng)
    assert SparseLU(stored(A, pattern)).sign == np.linalg.slogdet(A)[0]


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5, 150])
def test_full_matrices_of_several_blocks_are_factored(n):
    rng = np.random.default_rng(n)
    A = dominant(np.ones((n, n), dtype=bool), rng)
    lu = SparseLU(stored(A))
    right = rng.standard_normal((n, 3))
    np.testing.assert_allclose(lu.solve(right), np.linalg.solve(A, right), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(np.matmul(*factors_of(lu)), ordered(lu, A), atol=1e-12 * np.abs(A).max())
    assert lu.sign == np.linalg.slogdet(A)[0]


@pytest.mark.parametrize("n", [336, 1092, 2772])
def test_the_matrices_of_walls_are_solved(n):
    plan, lower, upper = wall(n)
    A = dense(plan, lower, upper)
    lu = SparseLU(plan, factored=False)
    lu.factor_parts(lower, upper)
    right = np.sin(np.arange(lu.n))
    x = lu.solve(right)[plan.symbolic.permutation]
    scale = np.abs(A) @ np.abs(x) + np.abs(right)
    assert np.abs((A @ x - right[plan.symbolic.permutation]) / scale).max() < 1e-12
    assert (lu.perturbed, lu.sign) == (0, np.linalg.slogdet(A)[0])


def test_weights_of_very_different_size_do_not_spoil_the_residual():
    plan, lower, upper = wall(336, spread=8.0)
    A = dense(plan, lower, upper)
    lu = SparseLU(plan, factored=False)
    lu.factor_parts(lower, upper, np.zeros(lu.n))
    right = np.cos(np.arange(lu.n))
    x = lu.solve(right)[plan.symbolic.permutation]
    L, U = (np.abs(part) for part in factors_of(lu))
    backward = np.abs(A @ x - right[plan.symbolic.permutation]) / (L @ (U @ np.abs(x)))
    assert backward.max() < 1e-13  # as of substitution: Higham 2002, theorem 9.4


@given(patterns(max_n=40))
def test_a_symmetric_positive_definite_matrix_is_solved_as_by_cholesky(made):
    pattern, rng = made
    A = dominant(pattern, rng)
    A = A + A.T
    A[np.diag_indices(len(A))] = np.abs(A).sum(axis=1)
    A = stored(A, pattern)
    plan = Plan.make(A)
    right = rng.standard_normal(A.shape[0])
    np.testing.assert_allclose(SparseLU(plan).solve(right), SparseCholesky(plan).solve(right), rtol=1e-9, atol=1e-12)


@given(patterns(), st.sampled_from(list(METHODS)))
def test_symmetric_matrices_definite_or_not_have_the_same_factors_in_half_the_work(made, ordering):
    pattern, rng = made
    A = dominant(pattern, rng)
    A = (A + A.T) * np.where(np.eye(len(A)), 10.0, 1.0)
    whole = SparseLU(stored(A, pattern), ordering)
    half = SparseLU(whole.plan, factored=False)
    half.factor_symmetric(half.matrix.data[half.plan.source])
    for one, other in zip(factors_of(half), factors_of(whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.abs(A).max())
    assert (half.sign, half.perturbed) == (whole.sign, whole.perturbed)
    right = rng.standard_normal((len(A), 3))
    np.testing.assert_allclose(half.solve(right), np.linalg.solve(A, right), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", [BLOCK + 1, 150])
def test_symmetric_full_matrices_of_several_blocks_are_factored(n):
    rng = np.random.default_rng(n)
    A = dominant(np.ones((n, n), dtype=bool), rng)
    A = A + A.T
    lu = SparseLU(stored(A), factored=False)
    lu.factor_symmetric(lu.matrix.data[lu.plan.source])
    np.testing.assert_allclose(np.matmul(*factors_of(lu)), ordered(lu, A), atol=1e-12 * np.abs(A).max())
    assert lu.sign == np.linalg.slogdet(A)[0]


def test_the_symmetric_matrices_of_walls_are_solved_as_by_cholesky():
    plan, lower, upper = wall(1092)
    numbers = 0.5 * (lower + upper)
    lu, cholesky = SparseLU(plan, factored=False), SparseCholesky(plan, factored=False)
    lu.factor_symmetric(numbers)
    cholesky.factor_lower(numbers)
    right = np.sin(np.arange(lu.n))
    np.testing.assert_allclose(lu.solve(right), cholesky.solve(right), rtol=1e-9, atol=1e-12)


def test_a_pattern_that_is_not_symmetric_is_filled_with_zeros():
    A = np.diag(np.arange(2.0, 8.0))
    A[0, 4], A[3, 1], A[5, 2] = 1.0, -2.0, 3.0
    lu = SparseLU(sparse.csr_array(A))
    assert lu.matrix.nnz == 12
    np.testing.assert_allclose(lu.solve(np.ones(6)), np.linalg.solve(A, np.ones(6)), rtol=1e-14)


@given(patterns(max_n=40))
def test_other_numbers_in_the_same_pattern_are_factored_as_by_a_new_factor(made):
    pattern, rng = made
    lu = SparseLU(stored(dominant(pattern, rng), pattern))
    other, right = stored(dominant(pattern, rng), pattern), rng.standard_normal(len(pattern))
    lu.factor(other.data)
    np.testing.assert_array_equal(lu.solve(right), SparseLU(other).solve(right))


def test_the_same_numbers_give_the_same_bits():
    plan, lower, upper = wall(1092)
    first, second = SparseLU(plan, factored=False), SparseLU(plan, factored=False)
    first.factor_parts(lower, upper)
    second.factor_parts(2.0 * lower, upper)
    second.factor_parts(lower, upper)
    right = np.sin(np.arange(3.0 * first.n)).reshape(-1, 3)
    np.testing.assert_array_equal(first.solve(right), second.solve(right))
    np.testing.assert_array_equal(first.solve(right), first.solve(right))


@pytest.mark.parametrize(("pivot", "sign"), [(1e-20, 1), (-1e-20, -1), (0.0, 1), (-0.0, -1)])
def test_a_tiny_pivot_becomes_its_floor_with_the_sign_that_it_has(pivot, sign):
    A = sparse.csr_array(np.array([[2.0, 0.0], [0.0, 1.0]]))
    lu = SparseLU(A, "natural", factored=False)
    lu.factor_parts(np.array([2.0, pivot]), np.array([2.0, pivot]), np.full(2, 1e-3))
    assert (lu.perturbed, lu.sign) == (1, sign)
    np.testing.assert_allclose(lu.solve(np.ones(2)), [0.5, sign * 1e3], rtol=1e-15)


@given(patterns(max_n=40), st.sampled_from([0.3, 1.0, 3.0]))
def test_small_pivots_on_the_way_are_replaced_as_in_plain_loops(made, floor):
    pattern, rng = made
    A = dominant(pattern, rng)
    lu = SparseLU(stored(A, pattern), factored=False)
    data = lu.matrix.data
    lu.factor_parts(data[lu.plan.source], data[lu._upper_source], np.full(lu.n, floor))
    L, U = eliminate(ordered(lu, A), floor)
    np.testing.assert_allclose(np.matmul(*factors_of(lu)), L @ U, rtol=1e-9, atol=1e-9 * np.abs(L @ U).max())
    assert lu.perturbed == np.count_nonzero(np.abs(np.diag(U)) == floor)
    assert lu.sign == np.prod(np.sign(np.diag(U)))


def test_a_singular_matrix_is_factored_with_one_pivot_replaced():
    A = np.array([[4.0, 2.0, 1.0], [8.0, 4.0, 2.0], [1.0, 0.0, 5.0]])
    lu = SparseLU(stored(A), "natural")
    assert lu.perturbed == 1
    assert np.isfinite(lu.solve(np.ones(3))).all()


@given(patterns(max_n=30), st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_numbers_that_are_not_finite_are_refused_in_either_half_and_leave_no_trace(made, bad, data):
    pattern, rng = made
    A = stored(dominant(pattern, rng), pattern)
    lu = SparseLU(A)
    numbers = A.data.copy()
    numbers[data.draw(st.integers(0, numbers.size - 1))] = bad
    right = np.ones(lu.n)
    with pytest.raises(NotFinite):
        lu.factor(numbers)
    with pytest.raises(NotFinite):
        lu.solve(right)
    lu.factor(A.data)
    np.testing.assert_array_equal(lu.solve(right), SparseLU(A).solve(right))


@pytest.mark.parametrize("pivot", [0.0, 1e-310])
def test_a_pivot_without_a_reciprocal_is_refused_where_no_floor_helps(pivot):
    lu = SparseLU(sparse.csr_array(np.eye(2)), factored=False)
    with pytest.raises(NotFinite):
        lu.factor_parts(np.array([1.0, pivot]), np.array([1.0, pivot]), np.zeros(2))


def test_an_empty_matrix_and_a_single_number_are_factored():
    nothing = SparseLU(sparse.csr_array((0, 0)))
    assert nothing.solve(np.empty(0)).shape == (0,)
    np.testing.assert_array_equal(SparseLU(sparse.csr_array([[-4.0]])).solve(np.array([2.0])), [-0.5])


def test_wrong_shapes_are_refused():
    with pytest.raises(InvalidProblem, match="square"):
        SparseLU(sparse.csr_array(np.ones((2, 3))))
    lu = SparseLU(sparse.csr_array(np.eye(2)))
    with pytest.raises(InvalidProblem, match="5"):
        lu.solve(np.ones(5))
    with pytest.raises(InvalidProblem, match="3"):
        lu.factor(np.ones(3))


def test_a_missing_diagonal_entry_is_refused_by_its_place():
    with pytest.raises(InvalidProblem, match=r"no entry at \[1,1\]"):
        SparseLU(sparse.csr_array([[1.0, 0.5], [0.5, 0.0]]))
