"""The vector work of Krylov methods and of cheap preconditioners, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.factors import splittings
from perp.kernels.gradient import krylov

SIZES = st.integers(0, 41)  # whole and broken groups of four and eight


def vectors(seed, n, count):
    return np.random.default_rng(seed).standard_normal((count, n)).copy()


@given(seed=strategies.SEEDS, n=SIZES)
def test_a_product_is_numpys(seed, n):
    u, v = vectors(seed, n, 2)
    assert krylov.product(u, v) == pytest.approx(u @ v, rel=1e-13, abs=1e-13)


@given(seed=strategies.SEEDS, n=SIZES)
def test_a_step_moves_x_and_r_and_measures_r(seed, n):
    q, Aq, x, r = vectors(seed, n, 4)
    new_x, new_r = x.copy(), r.copy()
    square = krylov.step(0.3, q, Aq, new_x, new_r)
    np.testing.assert_allclose(new_x, x + 0.3 * q, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(new_r, r - 0.3 * Aq, rtol=1e-15, atol=1e-15)
    assert square == pytest.approx(new_r @ new_r, rel=1e-13)


@given(seed=strategies.SEEDS, n=SIZES)
def test_a_turn_is_z_plus_beta_q(seed, n):
    z, q = vectors(seed, n, 2)
    expected = z - 0.7 * q
    krylov.turn(-0.7, z, q)
    np.testing.assert_allclose(q, expected, rtol=1e-15, atol=1e-15)


@given(seed=strategies.SEEDS, n=st.integers(3, 30), count=st.integers(0, 3), nearly=st.booleans())
def test_what_is_left_after_orthogonalising_is_orthogonal_and_adds_up(seed, n, count, nearly):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((n, 3)))[0].T[:count]
    w = rng.standard_normal(n)
    if nearly and count:  # a vector that lies in the space but for a millionth
        w = basis.T @ rng.standard_normal(count) + 1e-6 * w
    left, column = w.copy(), np.full(5, np.nan)
    square = krylov.orthogonalise(basis.reshape(-1).copy(), count, left, column)
    np.testing.assert_allclose(basis @ left, 0.0, atol=4e-16 * max(1.0, np.linalg.norm(left)))
    np.testing.assert_allclose(left + column[:count] @ basis, w, atol=1e-14)
    assert square == pytest.approx(left @ left, rel=1e-12)


@given(seed=strategies.SEEDS, count=st.integers(1, 6))
def test_rotations_make_a_triangle_and_keep_lengths(seed, count):
    rng = np.random.default_rng(seed)
    hessenberg = np.triu(rng.standard_normal((count + 1, count)), -1)
    columns, rotated = hessenberg.T.copy(), np.zeros(count + 1)
    rotated[0] = 2.0
    cosine, sine = np.empty(count), np.empty(count)
    for k in range(count):
        krylov.rotate(columns[k], k, cosine, sine, rotated)
    R = columns.T
    np.testing.assert_allclose(np.tril(R, -1), 0.0, atol=1e-15)
    np.testing.assert_allclose(R.T @ R, hessenberg.T @ hessenberg, atol=1e-12)
    right = np.eye(count + 1)[0] * 2.0
    best = np.linalg.lstsq(hessenberg, right, rcond=None)[0]
    np.testing.assert_allclose(R[:count].T @ rotated[:count], hessenberg.T @ right, atol=1e-12)
    assert abs(rotated[count]) == pytest.approx(np.linalg.norm(right - hessenberg @ best), rel=1e-8, abs=1e-12)


def test_a_column_of_zeros_is_not_divided_by_zero():
    rotated = np.array([3.0, 0.0])
    cosine, sine = np.empty(1), np.empty(1)
    krylov.rotate(np.zeros(2), 0, cosine, sine, rotated)
    np.testing.assert_array_equal(rotated, [3.0, 0.0])


@given(seed=strategies.SEEDS, n=SIZES, count=st.integers(0, 3))
def test_a_combination_is_a_product_with_the_basis(seed, n, count):
    basis = vectors(seed, n, 3)
    factors, out = np.array([1.0, -2.0, 0.5]), np.full(n, np.nan)
    krylov.combine(basis.reshape(-1), factors, count, out)
    np.testing.assert_allclose(out, factors[:count] @ basis[:count], atol=1e-14)


@given(seed=strategies.SEEDS, size=st.integers(1, 5), count=st.integers(0, 4))
def test_blocks_are_solved_as_by_numpy_and_only_chosen_ones_are_factored(seed, size, count):
    rng = np.random.default_rng(seed)
    blocks = np.array([strategies.spd_matrix(rng, size) for _ in range(count)]).reshape(count, size, size)
    free, shift = rng.random(size * count) < 0.7, rng.choice([0.0, 0.5], size * count)
    frozen = blocks.reshape(-1).copy()
    frozen.flags.writeable = False
    factors = np.zeros(blocks.size)
    chosen = np.arange(count) if count < 2 else np.arange(count - 1)
    splittings.factor_blocks(frozen, size, chosen, free, shift, 1e-15, factors)
    z = np.where(free, rng.standard_normal(size * count), 0.0)
    expected = z.copy()
    for c in chosen:
        rows = c * size + np.flatnonzero(free[c * size : (c + 1) * size])
        inside = rows - c * size
        matrix = blocks[c][np.ix_(inside, inside)] + np.diag(shift[rows])
        expected[rows] = np.linalg.solve(matrix, z[rows])
    splittings.solve_blocks(factors, size, chosen.size, z)
    np.testing.assert_allclose(z[: chosen.size * size], expected[: chosen.size * size], rtol=1e-9, atol=1e-11)
    assert not factors[chosen.size * size * size :].any()


@given(seed=strategies.SEEDS, n=st.integers(1, 12), zeros=st.booleans())
def test_a_symmetric_sweep_is_two_triangular_solves(seed, n, zeros):
    rng = np.random.default_rng(seed)
    A = strategies.spd_matrix(rng, n) * (rng.random((n, n)) < 0.5)
    A = np.triu(A) + np.triu(A, 1).T
    if zeros:
        A[0, 0] = 0.0  # not stored: the row has no diagonal entry
    rows = perp.SparseOperator(A)
    below, above = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    splittings.split_rows(rows.pointers, rows.indices, below, above)
    diagonal, free = rng.uniform(0.5, 2.0, n), rng.random(n) < 0.7
    z = np.where(free, rng.standard_normal(n), 0.0)
    F = np.flatnonzero(free)
    D, inside = np.diag(diagonal[F]), A[np.ix_(F, F)]
    expected = np.zeros(n)
    expected[F] = np.linalg.solve(D + np.triu(inside, 1), D @ np.linalg.solve(D + np.tril(inside, -1), z[F]))
    splittings.sweep_both_ways(rows.pointers, rows.indices, rows.values, below, above, diagonal, free, z)
    np.testing.assert_allclose(z, expected, rtol=1e-10, atol=1e-12)
