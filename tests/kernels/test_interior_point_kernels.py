"""The compiled passes of interior points against the formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from perp.kernels.newton import interior_point as kernels
from perp.problems.inputs import freeze


@pytest.fixture
def path():
    """Rows with both bounds, one, none, and rows that rest."""
    rng = np.random.default_rng(7)
    n = 60
    kind = np.arange(n) % 5
    moves = kind != 4
    s, t = (np.where(has, rng.uniform(0.1, 2.0, n), np.inf) for has in (np.isin(kind, (0, 1)), np.isin(kind, (0, 2))))
    z, w = (np.where(np.isfinite(part), rng.uniform(0.1, 2.0, n), 0.0) for part in (s, t))
    return freeze(moves), s, t, z, w


def over(a, b):
    return np.divide(a, b, out=np.zeros_like(b), where=np.isfinite(b))


def crosses(path):
    rng = np.random.default_rng(8)
    n = path[1].size
    return rng.standard_normal(n), rng.standard_normal(n)


def test_assemble_gives_d_the_dual_residual_and_the_sum_of_products(path):
    moves, s, t, z, w = path
    y, d, dual = np.random.default_rng(1).standard_normal(60), np.empty(60), np.empty(60)
    total = kernels.assemble(moves, s, t, z, w, y, d, dual)
    np.testing.assert_allclose(d, over(z, s) + over(w, t))
    np.testing.assert_allclose(dual, np.where(moves, y - z + w, 0.0))
    low, high = np.isfinite(s), np.isfinite(t)
    assert total == pytest.approx(s[low] @ z[low] + t[high] @ w[high])


def test_the_step_satisfies_the_linearised_products(path):
    moves, s, t, z, w = path
    dx = np.where(moves, np.random.default_rng(2).standard_normal(60), 0.0)
    cross_s, cross_t = crosses(path)
    dz, dw = np.empty(60), np.empty(60)
    longest = kernels.recover(moves, s, t, z, w, dx, 0.3, cross_s, cross_t, dz, dw)
    low, high = np.isfinite(s), np.isfinite(t)
    s0, t0 = np.where(low, s, 0.0), np.where(high, t, 0.0)
    np.testing.assert_allclose((s0 * dz + z * dx)[low], (0.3 - s0 * z - cross_s)[low], atol=1e-12)
    np.testing.assert_allclose((t0 * dw - w * dx)[high], (0.3 - t0 * w - cross_t)[high], atol=1e-12)
    assert (dz[~low] == 0.0).all()
    assert (dw[~high] == 0.0).all()
    parts = np.concatenate([(s + longest * dx)[low], (z + longest * dz)[low]])
    parts = np.concatenate([parts, (t - longest * dx)[high], (w + longest * dw)[high]])
    assert parts.min() == pytest.approx(0.0, abs=1e-12)


def test_the_right_side_is_that_of_the_reduced_equation(path):
    moves, s, t, z, w = path
    dual = np.where(moves, np.random.default_rng(3).standard_normal(60), 0.0)
    cross_s, cross_t = crosses(path)
    out = np.empty(60)
    kernels.right_side(moves, s, t, z, w, dual, 0.3, cross_s, cross_t, out)
    pull = over(0.3 - cross_s - np.where(np.isfinite(s), s, 0.0) * z, s)
    push = over(0.3 - cross_t - np.where(np.isfinite(t), t, 0.0) * w, t)
    np.testing.assert_allclose(out, -dual + pull - push, atol=1e-12)


def test_look_ahead_sums_the_products_and_keeps_the_second_order_terms(path):
    moves, s, t, z, w = path
    rng = np.random.default_rng(4)
    dx, dz, dw = (np.where(moves, rng.standard_normal(60), 0.0) for _ in range(3))
    cross_s, cross_t = np.empty(60), np.empty(60)
    total = kernels.look_ahead(moves, s, t, z, w, dx, dz, dw, 0.4, cross_s, cross_t)
    low, high = np.isfinite(s), np.isfinite(t)
    expected = (s + 0.4 * dx)[low] @ (z + 0.4 * dz)[low] + (t - 0.4 * dx)[high] @ (w + 0.4 * dw)[high]
    assert total == pytest.approx(expected)
    np.testing.assert_allclose(cross_s, np.where(low, dx * dz, 0.0))
    np.testing.assert_allclose(cross_t, np.where(high, -dx * dw, 0.0))


def test_centring_leads_products_back_into_their_range(path):
    moves, s, t, z, w = path
    rng = np.random.default_rng(5)
    dx, dz, dw = (np.where(moves, 0.1 * rng.standard_normal(60), 0.0) for _ in range(3))
    cross_s, cross_t = np.zeros(60), np.zeros(60)
    kernels.centre_products(moves, s, t, z, w, dx, dz, dw, 1.0, 0.5, 0.1, 10.0, cross_s, cross_t)
    low = np.isfinite(s)
    product = (s + dx)[low] * (z + dz)[low]
    np.testing.assert_allclose(cross_s[low], -np.maximum(np.clip(product, 0.05, 5.0) - product, -5.0), atol=1e-15)
    assert (cross_s[~low] == 0.0).all()


def test_advance_moves_all_vectors_and_reads_x_from_the_nearer_bound(path):
    moves, *parts = path
    s, t, z, w = (part.copy() for part in parts)
    rng = np.random.default_rng(6)
    dx, dz, dw = (np.where(moves, 0.01 * rng.standard_normal(60), 0.0) for _ in range(3))
    x = rng.standard_normal(60)
    lower, upper = np.where(np.isfinite(s), x - s, -np.inf), np.where(np.isfinite(t), x + t, np.inf)
    before = x.copy()
    kernels.advance(moves, freeze(lower), freeze(upper), 0.5, dx, dz, dw, s, t, z, w, x)
    np.testing.assert_allclose(x, before + 0.5 * dx, atol=1e-12)
    low, high = np.isfinite(s), np.isfinite(t)
    np.testing.assert_allclose(s[low], (parts[0] + 0.5 * dx)[low])
    np.testing.assert_allclose(t[high], (parts[1] - 0.5 * dx)[high])
    np.testing.assert_allclose(z[low], (parts[2] + 0.5 * dz)[low])
    np.testing.assert_allclose(w[high], (parts[3] + 0.5 * dw)[high])


def test_sets_follow_the_multipliers_and_doubtful_rows_are_counted():
    moves = freeze(np.array([True, True, True, True, False]))
    inf = np.inf
    s, t = np.array([1e-8, 2.0, 1.0, 3.0, inf]), np.array([inf, 1e-9, inf, 3.0, inf])
    z, w = np.array([1.0, 1e-8, 0.5, 1e-9, 0.0]), np.array([0.0, 2.0, 0.0, 1e-9, 0.0])
    sets = np.full(5, -1, dtype=np.int8)
    unclear = kernels.guess_sets(moves, s, t, z, w, freeze(np.ones(5)), 0.01, sets)
    np.testing.assert_array_equal(sets, [-1, 1, 0, 0, -1])
    assert unclear == 1


def test_the_remainder_is_measured_in_scaled_rows():
    moves = freeze(np.array([True, True, False]))
    right, product, d, dx = (np.array(v) for v in ([3.0, 1.0, 5.0], [1.0, 0.5, 9.0], [1.0, 2.0, 0.0], [1.0, 0.5, 7.0]))
    out = np.empty(3)
    left, size = kernels.remainder(moves, right, product, d, dx, freeze(np.array([2.0, 4.0, 1.0])), out)
    np.testing.assert_allclose(out, [1.0, -0.5, 0.0])
    assert (left, size) == (2.0, 6.0)
