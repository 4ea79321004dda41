"""The arithmetic beneath proofs: exact arithmetic is exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import strategies
from exact_enumeration import gauss
from hypothesis import given
from hypothesis import strategies as st

from perp.problems.proofs.exact_solution import RationalSolution, exact, outward, solve_exactly


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
