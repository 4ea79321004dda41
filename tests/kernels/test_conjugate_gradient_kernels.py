"""The vector work of the conjugate gradient methods against one-line twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.kernels.gradient import conjugate_gradients as kernels
from perp.problems.inputs import freeze

SEEDS = st.integers(0, 2**31)
SIZES = st.integers(0, 13)


def box(rng, n):
    """Bounds of every kind, and a point within them that is at a bound in about half of the rows."""
    lower = rng.choice([-np.inf, -1.0, 0.0], n)
    upper = rng.choice([np.inf, 1.0], n)
    fixed = rng.random(n) < 0.1
    upper[fixed] = lower[fixed] = 0.5
    x = np.clip(rng.standard_normal(n), lower, upper)
    at_lower, at_upper = rng.random(n) < 0.25, rng.random(n) < 0.25
    x = np.where(at_lower & np.isfinite(lower), lower, np.where(at_upper & np.isfinite(upper), upper, x))
    return lower, upper, x


def index_sets(rng, n):
    return rng.integers(-1, 2, n).astype(np.int8)


@given(seed=SEEDS, n=SIZES)
def test_sums_of_products(seed, n):
    rng = np.random.default_rng(seed)
    r, q, product = rng.standard_normal((3, n))
    weight = rng.uniform(0.1, 10.0, n)
    assert kernels.dot(r, q) == pytest.approx(r @ q, abs=1e-12)
    expected = r @ q, q @ product, np.sum(q * q / weight)
    np.testing.assert_allclose(kernels.measure_direction(r, q, product, weight), expected, atol=1e-12)


@given(seed=SEEDS, n=SIZES)
def test_the_longest_step_is_that_of_equation_5_1(seed, n):
    rng = np.random.default_rng(seed)
    lower, upper, x = box(rng, n)
    q = rng.choice([-1.0, 0.0, 0.3, 2.0], n)
    steps = [(lower[i] - x[i]) / q[i] for i in range(n) if q[i] < 0] + [
        (upper[i] - x[i]) / q[i] for i in range(n) if q[i] > 0
    ]
    assert kernels.step_to_bound(x, q, lower, upper) == min(steps, default=np.inf)


@given(seed=SEEDS, n=SIZES)
def test_a_step_to_the_nearest_bound_ends_exactly_there_and_none_leaves_the_box(seed, n):
    rng = np.random.default_rng(seed)
    lower, upper, x = box(rng, n)
    y, q, product = rng.standard_normal((3, n))
    x_new, y_new = x.copy(), y.copy()
    longest = kernels.step_to_bound(x, q, lower, upper)
    step = longest if longest < np.inf else 1.0
    hits = kernels.take_step(x_new, y_new, q, product, step, lower, upper)
    assert (x_new >= lower).all()
    assert (x_new <= upper).all()
    assert hits == np.count_nonzero(((x_new == lower) & (q < 0)) | ((x_new == upper) & (q > 0)))
    assert (hits > 0) == (longest < np.inf)
    np.testing.assert_allclose(x_new, x + step * q, atol=1e-12)
    np.testing.assert_allclose(y_new, y + step * product, atol=1e-12)


@given(seed=SEEDS, n=SIZES)
def test_projected_steps(seed, n):
    rng = np.random.default_rng(seed)
    lower, upper, x = box(rng, n)
    q, y = rng.standard_normal((2, n))
    weight = rng.uniform(0.1, 10.0, n)
    out = np.empty(n)
    kernels.project_step(x, q, 0.7, lower, upper, out)
    np.testing.assert_allclose(out, np.clip(x + 0.7 * q, lower, upper), atol=1e-14)
    kernels.project_gradient(x, y, lower, upper, weight, 0.7, False, out)
    everywhere = np.clip(x - 0.7 * weight * y, lower, upper)
    np.testing.assert_allclose(out, everywhere, atol=1e-13)
    kernels.project_gradient(x, y, lower, upper, weight, 0.7, True, out)
    inside = (lower < x) & (x < upper)
    np.testing.assert_allclose(out, np.where(inside, everywhere, x), atol=1e-13)


@given(seed=SEEDS, n=SIZES)
def test_the_change_of_the_objective_needs_only_both_slacks(seed, n):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n))
    A, b = G + G.T, rng.standard_normal(n)
    x, x_new = rng.standard_normal((2, n))
    change, size = kernels.change_of_objective(x, A @ x + b, x_new, A @ x_new + b)
    expected = (0.5 * x_new @ A @ x_new + b @ x_new) - (0.5 * x @ A @ x + b @ x)
    assert change == pytest.approx(expected, abs=1e-11)
    assert size >= abs(change)


@given(seed=SEEDS, n=SIZES)
def test_faces_by_index_sets(seed, n):
    rng = np.random.default_rng(seed)
    sets, pivots = index_sets(rng, n), np.zeros(n, dtype=np.int64)
    lower, upper, x = box(rng, n)
    y, q, z = rng.standard_normal((3, n))
    weight = rng.uniform(0.1, 10.0, n)
    free = sets == 0

    r = np.empty(n)
    kernels.face_residual(sets, y, r)
    np.testing.assert_array_equal(r, np.where(free, -y, 0.0))
    masked = z.copy()
    assert kernels.keep_in_face(sets, r, masked) == pytest.approx(r @ z, abs=1e-12)
    np.testing.assert_array_equal(masked, np.where(free, z, 0.0))
    turned = q.copy()
    kernels.turn(turned, z, 0.25)
    np.testing.assert_allclose(turned, z + 0.25 * q, atol=1e-15)

    b = freeze(rng.standard_normal(n))
    scale, movable = np.sqrt(weight), lower < upper
    wrong = np.where(sets < 0, -y, y) * scale
    size, left, worst = kernels.measure_face(sets, x, y, b, lower, upper, weight)
    assert size == pytest.approx(np.abs(x / scale).max(initial=0.0) + np.abs(b * scale).max(initial=0.0))
    assert left == pytest.approx(np.abs(y * scale)[free].max(initial=0.0))
    assert worst == pytest.approx(wrong[~free & movable].max(initial=0.0))

    released = sets.copy()
    count = kernels.release(released, y, lower, upper, weight, 0.1, pivots)
    objects = ~free & movable & (wrong > 0.1)
    np.testing.assert_array_equal(released, np.where(objects, 0, sets))
    np.testing.assert_array_equal(pivots, objects)
    assert count == objects.sum()

    tight, pivots[:] = sets.copy(), 0
    count = kernels.tighten(tight, x, q, lower, upper, pivots)
    low, high = free & (q < 0) & (x <= lower), free & (q > 0) & (x >= upper)
    np.testing.assert_array_equal(tight, np.where(low, -1, np.where(high, 1, sets)))
    np.testing.assert_array_equal(pivots, low | high)
    assert count == (low | high).sum()


@given(seed=SEEDS, n=SIZES)
def test_the_gradient_is_split_as_dostal_and_schoeberl_do(seed, n):
    rng = np.random.default_rng(seed)
    lower, upper, x = box(rng, n)
    y, step, weight = rng.standard_normal(n), 0.3, rng.uniform(0.1, 10.0, n)
    r, q = np.empty(n), np.empty(n)
    reduced, chopped = kernels.split_gradient(x, y, lower, upper, weight, step, r)
    inside = (lower < x) & (x < upper)
    free = np.where(inside, y, 0.0)
    np.testing.assert_array_equal(r, -free)
    projected = (x - np.clip(x - step * weight * free, lower, upper)) / step  # what the reduced gradient moves x by
    assert reduced == pytest.approx(projected @ free, abs=1e-12)
    at_lower, at_upper = ~inside & (x == lower) & (lower < upper), ~inside & (x == upper) & (lower < upper)
    beta = np.where(at_lower, np.minimum(y, 0.0), np.where(at_upper, np.maximum(y, 0.0), 0.0))
    assert chopped == pytest.approx(np.sum(weight * beta * beta), abs=1e-12)
    kernels.chopped_direction(x, y, lower, upper, weight, r, q)
    np.testing.assert_array_equal(r, -beta)
    np.testing.assert_array_equal(q, -weight * beta)
