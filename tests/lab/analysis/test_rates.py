"""The fits find the factors, orders and exponents that sequences were made with, and say nan where there are none."""

import numpy as np
import pytest

from perp.lab.analysis.rates import fit_exponent, fit_rate


def linear(factor, count=60, first=1.0):
    return first * factor ** np.arange(count)


def of_order(p, first, count, C=1.0):
    errors = [first]
    while len(errors) < count:
        errors.append(C * errors[-1] ** p)
    return np.array(errors)


@pytest.mark.parametrize("factor", [0.2, 0.5, 0.9, 0.98])
def test_a_linear_sequence_gives_its_factor_and_order_one(factor):
    e = linear(factor)
    fit = fit_rate(np.arange(e.size), e)
    assert fit.factor == pytest.approx(factor, rel=1e-9)
    if e[0] / e[-1] > 100.0:
        assert fit.order == pytest.approx(1.0, abs=1e-6)
    assert fit.points >= 5


def test_the_factor_is_that_of_the_tail_and_not_of_the_quick_start():
    e = np.array([0.3**k + 1e-3 * 0.95**k for k in range(400)])
    fit = fit_rate(np.arange(e.size), e)
    assert fit.factor == pytest.approx(0.95, abs=0.002)
    assert fit.order == pytest.approx(1.0, abs=0.05)


def test_a_noisy_oscillating_sequence_still_gives_its_factor():
    k = np.arange(200)
    e = 0.9**k * np.exp(0.8 * np.sin(1.7 * k)) * np.random.default_rng(0).uniform(0.5, 2.0, k.size)
    fit = fit_rate(k, e)
    assert fit.factor == pytest.approx(0.9, abs=0.01)
    assert fit.order == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("p", "first", "count"), [(2.0, 0.1, 5), (2.0, 0.5, 7), (1.618, 0.3, 8), (3.0, 0.5, 5)])
def test_a_sequence_of_higher_order_gives_that_order(p, first, count):
    e = of_order(p, first, count)
    assert fit_rate(np.arange(count), e).order == pytest.approx(p, rel=0.02)


def test_a_damped_phase_before_a_quadratic_tail_does_not_hide_it():
    e = np.concatenate([np.linspace(9.0, 1.0, 12), of_order(2.0, 0.4, 6, C=0.8)])
    assert 1.8 <= fit_rate(np.arange(e.size), e).order <= 2.2


def test_a_merit_that_is_a_square_has_the_same_order_and_the_squared_factor():
    quadratic, slow = of_order(2.0, 0.3, 5), linear(0.8)
    assert fit_rate(np.arange(5), 0.5 * quadratic**2).order == pytest.approx(2.0, rel=0.1)
    assert fit_rate(np.arange(slow.size), 0.5 * slow**2).factor == pytest.approx(0.64, rel=1e-6)


def test_rounding_errors_at_the_end_change_nothing():
    noise = 1e-15 * np.array([1.0, 3.0, 0.7, 2.0, 1.4, 0.9])
    e = np.concatenate([linear(0.5, 47), noise])
    fit = fit_rate(np.arange(e.size), e)
    assert fit.factor == pytest.approx(0.5, rel=0.02)
    assert fit.order == pytest.approx(1.0, abs=0.05)


def test_a_standstill_far_above_rounding_is_no_part_of_the_tail():
    e = np.concatenate([linear(0.5, 20), 2e-6 * np.array([1.0, 0.9, 1.1, 0.8, 0.95] * 10)])
    assert fit_rate(np.arange(e.size), e).factor == pytest.approx(0.5, abs=0.05)


def test_an_iteration_that_ends_exactly_shows_a_high_order():
    assert fit_rate(np.arange(6), [1.0, 0.4, 0.2, 0.1, 0.01, 0.0]).order > 2.0


def test_checks_that_are_far_apart_or_uneven_tell_the_same_factor():
    k = np.array([0, 1, 2, 3, 5, 8, 12, 16, 20, 28, 36, 44, 52, 60, 68])
    fit = fit_rate(k, 0.8**k)
    assert fit.factor == pytest.approx(0.8, rel=1e-9)
    assert fit.order == pytest.approx(1.0, abs=1e-6)


def test_a_sequence_that_falls_little_tells_a_factor_but_no_order():
    e = linear(0.99, 50)
    fit = fit_rate(np.arange(50), e)
    assert fit.factor == pytest.approx(0.99, rel=1e-6)
    assert np.isnan(fit.order)


@pytest.mark.parametrize("e", [[], [1.0], [1.0, 0.5], [0.0, 0.0], [1.0, 2.0, 4.0, 8.0], [np.nan, np.inf, 1.0]])
def test_what_tells_nothing_gives_nan(e):
    fit = fit_rate(np.arange(len(e)), e)
    assert np.isnan(fit.factor)
    assert np.isnan(fit.order)


def test_what_comes_before_the_largest_residual_is_no_part_of_the_fit():
    e = np.concatenate([[0.0, 0.2], linear(0.5, 30)])
    assert fit_rate(np.arange(e.size), e).factor == pytest.approx(0.5, rel=1e-6)


def test_entries_that_are_not_finite_are_passed_over():
    e = linear(0.5, 30)
    holes = e.copy()
    holes[[3, 17]] = np.nan, np.inf
    assert fit_rate(np.arange(30), holes).factor == pytest.approx(0.5, rel=1e-6)


def test_columns_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match=r"iteration and residual.*\(2,\).*\(3,\)"):
        fit_rate([0, 1], [1.0, 0.5, 0.2])
    with pytest.raises(ValueError, match="grow"):
        fit_rate([0, 2, 1], [1.0, 0.5, 0.2])


@pytest.mark.parametrize("exponent", [0.0, 1.0, 3.0])
def test_the_exponent_of_a_power_is_found(exponent):
    n = np.array([100, 200, 400, 800])
    assert fit_exponent(n, 1e-6 * n**exponent) == pytest.approx(exponent, abs=1e-12)


def test_the_exponent_of_one_size_or_of_no_times_is_nan():
    assert np.isnan(fit_exponent([100, 100], [0.1, 0.2]))
    assert np.isnan(fit_exponent([], []))
    assert np.isnan(fit_exponent([100, 200], [0.1, 0.0]))
    assert fit_exponent([100, 200, 400], [0.1, np.nan, 0.4]) == pytest.approx(1.0)
