"""Matrix products, dense Cholesky and LU kernels against NumPy, at and around the sizes where they are cut."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from perp.kernels import blas
from perp.kernels.blas import product_address
from perp.kernels.factors import dense_factors

EDGES = (0, 1, 2, 63, 64, 65, 127, 128, 129, 200)
SIZES = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 95, 96, 97, 130)
SHARE = 1e-13


@njit
def _product(transposed, address, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc):
    if transposed:
        blas.add_product_transposed(address, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc)
    else:
        blas.add_product(address, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc)


def product(transposed, A, B, C, alpha, beta, gaps=(0, 0, 0), places=(0, 0, 0)):
    """alpha A B + beta C by the kernel, each matrix with `gaps` unused rows and `places` numbers before it."""
    flats, leads = [], []
    for matrix, gap, place in zip((A, B, C), gaps, places, strict=True):
        lead = max(1, matrix.shape[0] + gap)
        flat = np.full(place + lead * matrix.shape[1] + gap, np.nan)
        for j in range(matrix.shape[1]):
            flat[place + j * lead : place + j * lead + matrix.shape[0]] = matrix[:, j]
        flats.append(flat)
        leads.append(lead)
    before = flats[2].copy()
    sizes = (*C.shape, A.shape[1])
    (a, b, c), (a0, b0, c0), (lda, ldb, ldc) = flats, places, leads
    _product(transposed, product_address(), *sizes, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc)
    inside = np.zeros(c.size, dtype=bool)
    for j in range(C.shape[1]):
        inside[c0 + j * ldc : c0 + j * ldc + C.shape[0]] = True
    np.testing.assert_array_equal(c[~inside], before[~inside])  # nothing beside C is touched
    return c[inside].reshape(C.shape[::-1]).T


def draw(rng, transposed, m, n, k):
    return rng.standard_normal((m, k)), rng.standard_normal((n, k) if transposed else (k, n)), np.ones((m, n))


@pytest.mark.parametrize("transposed", [False, True])
@given(
    st.sampled_from(EDGES), st.sampled_from(EDGES), st.sampled_from(EDGES), st.sampled_from([0.0, 1.0, -2.0]), st.data()
)
def test_a_product_of_any_shape_is_that_of_numpy_and_touches_nothing_else(transposed, m, n, k, beta, data):
    rng = np.random.default_rng(data.draw(strategies.SEEDS))
    A, B, C = draw(rng, transposed, m, n, k)
    gaps, places = (data.draw(st.tuples(*[st.integers(0, 5)] * 3)) for _ in range(2))
    found = product(transposed, A, B, C, -1.5, beta, gaps, places)
    expected = -1.5 * (A @ (B.T if transposed else B)) + beta * C
    if k == 0:  # BLAS is never called: C stays as it is
        expected = C
    np.testing.assert_allclose(found, expected, atol=1e-12 * (1 + k))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(5000, 3, 7), (3, 5000, 7), (3, 7, 5000), (4097, 64, 64), (262_145, 1, 1)])
def test_long_and_narrow_products_are_cut_without_a_gap(transposed, shape):
    A, B, C = draw(np.random.default_rng(0), transposed, *shape)
    expected = A @ (B.T if transposed else B) + C
    np.testing.assert_allclose(product(transposed, A, B, C, 1.0, 1.0), expected, atol=1e-10)


@pytest.mark.parametrize("transposed", [False, True])
def test_with_beta_zero_whatever_stands_in_c_is_forgotten(transposed):
    A, B, C = draw(np.random.default_rng(0), transposed, 70, 70, 130)
    found = product(transposed, A, B, np.full_like(C, np.nan), 1.0, 0.0)
    np.testing.assert_allclose(found, A @ (B.T if transposed else B), atol=1e-12)


# -- Cholesky ---------------------------------------------------------------------------------------------------------


def factor_cholesky(A, share=SHARE):
    """(L as a flat array, rows that rest, rows whose pivot was negative)."""
    n = len(A)
    flat = np.full(n * n + 1, np.nan)
    dense_factors.gather_square(np.ascontiguousarray(A), np.arange(n), n, flat)
    found = np.zeros(2, dtype=np.int64)
    work = (np.empty(dense_factors.BLOCK**2), np.empty(max(1, n * dense_factors.BLOCK)))
    dense_factors.factor(product_address(), flat, n, share * np.abs(np.diag(A)), *work, found)
    return flat, int(found[0]), int(found[1])


def solve_cholesky(flat, right):
    x = np.array(right, dtype=float)
    dense_factors.solve(flat, x.size, x)
    return x


def resting_cholesky(A, share=SHARE):
    """The readable twin: column by column; a row whose pivot is too small rests. Returns L and those rows."""
    L, resting = np.tril(A).astype(float), []
    for j in range(len(A)):
        if L[j, j] <= share * abs(A[j, j]):
            resting.append(j)
            L[j, j], L[j + 1 :, j] = np.inf, 0.0
            continue
        L[j, j] = np.sqrt(L[j, j])
        L[j + 1 :, j] /= L[j, j]
        L[j + 1 :, j + 1 :] -= np.tril(np.outer(L[j + 1 :, j], L[j + 1 :, j]))
    return L, resting


@pytest.mark.parametrize("n", SIZES)
def test_the_cholesky_factor_is_that_of_numpy(n):
    A = strategies.spd_matrix(np.random.default_rng(n), n)
    flat, resting, negative = factor_cholesky(A)
    assert (resting, negative) == (0, 0)
    if n:
        found = np.tril(flat[: n * n].reshape(n, n).T)
        np.testing.assert_allclose(found, np.linalg.cholesky(A), atol=1e-11)
    right = np.arange(1.0, n + 1)
    np.testing.assert_allclose(solve_cholesky(flat, right), np.linalg.solve(A, right), rtol=1e-8, atol=1e-9)


@given(strategies.SEEDS, st.integers(2, 80), st.floats(0.0, 0.6))
def test_dependent_rows_rest_and_the_others_are_solved_for(seed, n, deficiency):
    rng = np.random.default_rng(seed)
    J = np.round(4 * rng.standard_normal((n, max(1, round(n * (1 - deficiency))))))  # integers: A is exact
    copies = rng.random(n) < 0.2
    J[copies] = J[rng.integers(0, n, copies.sum())]
    A = J @ J.T
    flat, resting, _ = factor_cholesky(A, 1e-10)
    _, rows = resting_cholesky(A, 1e-10)
    assert resting == len(rows) == n - np.linalg.matrix_rank(J)
    right = rng.standard_normal(n)
    x = solve_cholesky(flat, right)
    np.testing.assert_array_equal(x[rows], 0.0)
    kept = np.setdiff1d(np.arange(n), rows)
    residual = A[np.ix_(kept, kept)] @ x[kept] - right[kept]
    size = np.abs(A).max(initial=0.0) * np.abs(x).max(initial=0.0) + 1.0
    np.testing.assert_allclose(residual, 0.0, atol=1e-9 * size)


@pytest.mark.parametrize("n", [1, 2, 40, 70])
def test_a_zero_matrix_rests_as_a_whole(n):
    flat, resting, negative = factor_cholesky(np.zeros((n, n)))
    assert (resting, negative) == (n, 0)
    np.testing.assert_array_equal(solve_cholesky(flat, np.ones(n)), 0.0)


@pytest.mark.parametrize("place", [0, 31, 32, 69])
def test_a_negative_pivot_is_counted_as_such(place):
    A = np.eye(70)
    A[place, place] = -1.0
    assert factor_cholesky(A)[1:] == (1, 1)


@given(strategies.SEEDS, st.sampled_from([5, 40, 70]), st.data())
def test_nan_anywhere_in_the_triangle_is_reported(seed, n, data):
    A = strategies.spd_matrix(np.random.default_rng(seed), n)
    i = data.draw(st.integers(0, n - 1))
    j = data.draw(st.integers(0, i))
    A[i, j] = A[j, i] = np.nan
    assert factor_cholesky(A)[1] == -1


@given(strategies.SEEDS, st.integers(2, 70), st.integers(1, 11))
def test_an_ill_conditioned_system_is_solved_as_backward_stably_as_by_numpy(seed, n, digits):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (Q * np.logspace(0, -digits, n)) @ Q.T
    A = 0.5 * (A + A.T)
    right = rng.standard_normal(n)
    flat, resting, _ = factor_cholesky(A)
    assert resting == 0
    x = solve_cholesky(flat, right)
    assert np.abs(A @ x - right).max() <= 1e-13 * n * (np.abs(A).sum(axis=1).max() * np.abs(x).max() + 1.0)


@given(strategies.SEEDS, st.integers(1, 40), st.data())
def test_the_rows_chosen_are_gathered_from_the_lower_triangle_up(seed, n, data):
    A = strategies.spd_matrix(np.random.default_rng(seed), n)
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), dtype=np.int64)
    k = chosen.size
    symmetric, general = np.zeros(n * n), np.zeros(n * n)
    dense_factors.gather_square(A, chosen, k, symmetric)
    dense_factors.gather_whole_square(A, chosen, k, general)
    np.testing.assert_array_equal(symmetric[: k * k].reshape(k, k).T, np.tril(A[np.ix_(chosen, chosen)]))
    np.testing.assert_array_equal(general[: k * k].reshape(k, k).T, A[np.ix_(chosen, chosen)])


# -- LU ---------------------------------------------------------------------------------------------------------------


def factor_lu(A, share=SHARE):
    n = len(A)
    flat, exchange = np.asfortranarray(A).ravel(order="F").copy(), np.empty(n, dtype=np.int64)
    floor = share * np.abs(np.where(np.isfinite(A), A, 0.0)).max(axis=1, initial=0.0)
    work = (np.empty(dense_factors.BLOCK**2), np.empty(max(1, n * dense_factors.BLOCK)))
    return flat, exchange, dense_factors.factor_lu(product_address(), flat, n, floor, exchange, *work)


def solve_lu(flat, exchange, right):
    x = np.array(right, dtype=float)
    dense_factors.solve_lu(flat, x.size, exchange, x)
    return x


@pytest.mark.parametrize("n", SIZES)
def test_the_lu_factor_with_row_exchanges_gives_the_matrix_back(n):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    flat, exchange, small = factor_lu(A)
    assert small == 0
    F = flat.reshape(n, n).T
    rows = np.arange(n)
    for j, other in enumerate(exchange):
        rows[[j, other]] = rows[[other, j]]
    np.testing.assert_allclose((np.tril(F, -1) + np.eye(n)) @ np.triu(F), A[rows], atol=1e-11)
    assert np.abs(np.tril(F, -1)).max(initial=0.0) <= 1.0
    right = rng.standard_normal(n)
    x = solve_lu(flat, exchange, right)
    np.testing.assert_allclose(A @ x, right, atol=1e-9 * (1 + np.abs(x).max(initial=0.0)))


@pytest.mark.parametrize("n", [2, 33, 70])
def test_a_matrix_with_nothing_on_its_diagonal_needs_the_exchanges(n):
    A = np.roll(np.eye(n), 1, axis=0) * np.arange(1.0, n + 1)
    flat, exchange, small = factor_lu(A)
    assert small == 0
    np.testing.assert_allclose(A @ solve_lu(flat, exchange, np.ones(n)), 1.0)


@given(strategies.SEEDS, st.sampled_from([2, 20, 40, 75]), st.integers(1, 5))
def test_columns_that_depend_on_others_have_unknown_zero(seed, n, missing):
    rng = np.random.default_rng(seed)
    missing = min(missing, n - 1)
    left, right = np.round(3 * rng.standard_normal((2, n, n - missing)))
    A = left @ right.T
    rank = np.linalg.matrix_rank(A)
    flat, exchange, small = factor_lu(A, 1e-10)
    assert small == n - rank
    x = solve_lu(flat, exchange, A @ rng.standard_normal(n))
    assert np.isfinite(x).all()
    assert np.count_nonzero(x == 0.0) >= n - rank


@given(strategies.SEEDS, st.sampled_from([5, 40, 70]), st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_numbers_that_are_not_finite_are_reported(seed, n, bad, data):
    A = np.random.default_rng(seed).standard_normal((n, n))
    A[data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))] = bad
    assert factor_lu(A)[2] == -1


@given(strategies.SEEDS, st.integers(2, 70), st.integers(1, 11))
def test_an_ill_conditioned_general_system_is_solved_backward_stably(seed, n, digits):
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    A = (U * np.logspace(0, -digits, n)) @ V
    right = rng.standard_normal(n)
    flat, exchange, small = factor_lu(A)
    assert small == 0
    x = solve_lu(flat, exchange, right)
    assert np.abs(A @ x - right).max() <= 1e-12 * n * (np.abs(A).sum(axis=1).max() * np.abs(x).max() + 1.0)
