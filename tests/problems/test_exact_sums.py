"""Sums without rounding errors: against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from perp.problems.certificates.exact_sums import multiply_exactly, sum_columns, sum_products

EXPONENTS = st.sampled_from([1, 30, 300, 1000])


def floats_of(rng, shape, spread):
    return np.ldexp(rng.standard_normal(shape), rng.integers(-spread, max(1, min(spread, 900)), shape))


@given(seed=strategies.SEEDS, spread=st.sampled_from([1, 30, 400]))
def test_a_product_is_the_sum_of_its_two_parts(seed, spread):
    rng = np.random.default_rng(seed)
    a, b = (np.ldexp(rng.uniform(-1, 1, 20), -rng.integers(0, spread, 20)) for _ in range(2))
    high, low = multiply_exactly(a, b)
    for parts in zip(a.tolist(), b.tolist(), high.tolist(), low.tolist(), strict=True):
        one, other, h, s = map(Fraction, parts)
        assert one * other == h + s


@given(seed=strategies.SEEDS, spread=EXPONENTS)
def test_sums_of_columns_are_rounded_once(seed, spread):
    rng = np.random.default_rng(seed)
    n = 6
    A = floats_of(rng, (n, n), spread) * (rng.random((n, n)) < 0.7)
    A[-1] = -A[0]  # cancels
    u = np.ldexp(rng.uniform(0.5, 1.0, n), -rng.integers(0, spread, n))
    u[-1] = u[0]
    rows, columns = np.nonzero(A)
    got = sum_columns(rows, columns, A[rows, columns], u, n)
    for j in range(n):
        exact = sum(Fraction(A[i, j]) * Fraction(u[i]) for i in range(n))
        assert (got[j] > 0) == (exact > 0)
        assert (got[j] < 0) == (exact < 0)
        assert abs(Fraction(got[j]) - exact) <= abs(exact) * Fraction(1, 2**52) + Fraction(1, 2**1073)


def test_a_matrix_without_entries_has_sums_of_zero():
    empty = np.zeros(0, dtype=int)
    np.testing.assert_array_equal(sum_columns(empty, empty, np.zeros(0), np.ones(3), 3), np.zeros(3))


@given(seed=strategies.SEEDS, spread=EXPONENTS)
def test_sums_of_products_come_with_their_exponent(seed, spread):
    rng = np.random.default_rng(seed)
    a, b = floats_of(rng, 8, spread), floats_of(rng, 8, spread)
    total, size, exponent = sum_products(a, b)
    exact = sum(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), b.tolist(), strict=True))
    scale = Fraction(2) ** exponent
    assert abs(Fraction(total) * scale - exact) <= 10 * Fraction(1, 2**52) * Fraction(size) * scale
    assert np.isfinite(total)
    assert size > 0


@pytest.mark.parametrize("zeros", [0, 3])
def test_nothing_adds_up_to_nothing(zeros):
    assert sum_products(np.zeros(zeros), np.ones(zeros))[:2] == (0.0, 0.0)
