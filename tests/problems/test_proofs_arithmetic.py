"""The arithmetic beneath proofs: rounding errors are covered, and exact arithmetic is exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import strategies
from exact_enumeration import gauss
from hypothesis import given
from hypothesis import strategies as st

from perp.problems.proofs.rational import RationalSolution, exact, outward, solve_exactly
from perp.problems.proofs.rounding import add_down, add_up, affine, product_rows, two_product, two_sum

NUMBERS = st.floats(-1e100, 1e100).filter(lambda value: value == 0.0 or abs(value) > 1e-100)


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


@given(seed=strategies.SEEDS, n=st.integers(1, 6))
def test_exact_elimination_agrees_with_plain_fractions(seed, n):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-3, 4, (n, n + 1)) * 2.0 ** rng.integers(-60, 60, (n, n + 1))
    matrix, right = [exact(row) for row in numbers[:, :-1]], exact(numbers[:, -1])
    expected = gauss(matrix, right)
    found = solve_exactly(matrix, right, [Fraction(7)] * n)
    if expected is not None:
        assert isinstance(found, RationalSolution)
        assert list(found.values) == expected
        assert found.rank == n
    elif isinstance(found, RationalSolution):
        assert found.rank < n
        for row, value in zip(matrix, right, strict=True):
            assert sum(a * v for a, v in zip(row, found.values, strict=True)) == value


def test_singular_equations_keep_the_preferred_values_of_later_columns_or_contradict():
    one = Fraction(1)
    found = solve_exactly([[one, one], [one, one]], [one, one], [Fraction(5), Fraction(1, 3)])
    assert found == RationalSolution((Fraction(2, 3), Fraction(1, 3)), 1)
    assert "contradict" in solve_exactly([[one, one], [one, one]], [one, 2 * one], [one, one])


def test_equations_that_would_take_too_long_are_refused():
    wide = Fraction(2) ** 2000 + 1
    matrix = [[wide + i * j for j in range(60)] for i in range(60)]
    assert "too long" in solve_exactly(matrix, [Fraction(1, 3) ** 500] * 60, [Fraction(0)] * 60)


@given(numerator=st.integers(-(10**40), 10**40), denominator=st.integers(1, 10**40))
def test_fractions_are_rounded_outwards_by_less_than_two_steps(numerator, denominator):
    value = Fraction(numerator, denominator)
    low, high = outward(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high <= np.nextafter(low, np.inf)


def test_fractions_beyond_float64_are_rounded_to_infinity():
    assert outward(Fraction(10) ** 400)[1] == np.inf
    assert outward(-(Fraction(10) ** 400))[0] == -np.inf
