"""Sums and products with bounds of their rounding errors, and without any: against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from perp.problems.proofs.exact_solution import exact
from perp.problems.rounding import (
    add_down,
    add_up,
    affine,
    product_rows,
    sum_columns,
    sum_products,
    two_product,
    two_sum,
)

NUMBERS = st.floats(-1e100, 1e100).filter(lambda value: value == 0.0 or abs(value) > 1e-100)
EXPONENTS = st.sampled_from([1, 30, 300, 1000])


@given(a=NUMBERS, b=NUMBERS)
def test_sums_and_products_keep_their_rounding_errors(a, b):
    left, right = np.array([a]), np.array([b])
    total, rest = two_sum(left, right)
    assert Fraction(total[0]) + Fraction(rest[0]) == Fraction(a) + Fraction(b)
    product, rest = two_product(left, right)
    assert Fraction(product[0]) + Fraction(rest[0]) == Fraction(a) * Fraction(b)
    low, high = add_down(left, right)[0], add_up(left, right)[0]
    assert Fraction(low) <= Fraction(a) + Fraction(b) <= Fraction(high)
    assert high <= np.nextafter(low, np.inf)


@given(seed=strategies.SEEDS, n=st.integers(1, 9), spread=st.integers(0, 30))
def test_a_x_plus_b_is_within_its_error_and_nearly_exact(seed, n, spread):
    rng = np.random.default_rng(seed)
    A, high = (rng.standard_normal(s) * 10.0 ** rng.integers(-spread, spread + 1, s) for s in ((n, n), n))
    low = high * 2.0**-54 * rng.standard_normal(n)
    b = -(A @ high)  # so that nearly everything cancels
    value, rest, error = affine(A, (high, low), b)
    for i in range(n):
        terms = [Fraction(a) * (Fraction(h) + Fraction(s)) for a, h, s in zip(A[i], high, low, strict=True)]
        truth = sum(terms, start=Fraction(b[i]))
        assert abs(Fraction(value[i]) + Fraction(rest[i]) - truth) <= Fraction(error[i])
        assert error[i] <= 1e-27 * float(sum(abs(t) for t in terms)) + 1e-290


@pytest.mark.parametrize("n", [1, 7, 60])
def test_the_bound_of_a_matrix_product_holds(n):
    rng = np.random.default_rng(n)
    left, right = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    computed = left @ right
    bound = product_rows(left, right, np.ones(n))
    for i in range(min(n, 5)):
        row = exact(left[i])
        lost = Fraction(0)
        for j in range(n):
            truth = sum((a * Fraction(b) for a, b in zip(row, right[:, j].tolist(), strict=True)), start=Fraction(0))
            lost += abs(Fraction(computed[i, j]) - truth)
        assert lost <= Fraction(bound[i])


def floats_of(rng, shape, spread):
    return np.ldexp(rng.standard_normal(shape), rng.integers(-spread, max(1, min(spread, 900)), shape))


@given(seed=strategies.SEEDS, spread=st.sampled_from([1, 30, 400]))
def test_a_product_is_the_sum_of_its_two_parts(seed, spread):
    rng = np.random.default_rng(seed)
    a, b = (np.ldexp(rng.uniform(-1, 1, 20), -rng.integers(0, spread, 20)) for _ in range(2))
    high, low = two_product(a, b)
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
