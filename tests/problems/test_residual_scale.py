"""The scale of residuals: follows the data, is capped by x, and is not fooled."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp.problems.residual_scale import cold_residual, cold_start, least_scale, look, measure_cold, scaled_residual

ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems())


@given(ANY_PROBLEM, st.integers(-3, 3))
def test_the_scale_is_the_formula(problem, exponent):
    start = problem.project(np.zeros(problem.n))
    r0 = perp.verify(problem, start).residual
    x = problem.project(np.linspace(-3.0, 3.0, problem.n) * 10.0**exponent)
    y, residual = problem.slack(x), perp.verify(problem, x).residual
    np.testing.assert_array_equal(cold_start(problem), start)
    if r0 <= 1e-12:
        return
    assert cold_residual(problem) == r0
    if isinstance(problem, perp.ContactProblem):
        expected = residual / min(r0, max(1.0, np.abs(x).max()))
    else:
        lower, upper = problem.bounds(x)
        r = x - np.clip(x - y, lower, upper)
        expected = max(abs(r[i]) / min(r0, max(1.0, abs(x[i]))) for i in range(problem.n))
    assert scaled_residual(problem, x, y, residual) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert least_scale(problem) == min(1.0, r0)


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1.0])
def test_tiny_units_are_not_called_solved_by_zero(unit):
    problem = perp.LCP(np.eye(2), np.array([-1.0, 0.5]) * unit)
    result = perp.solve(problem, "pgs", max_iterations=0)
    assert result.residual == unit
    assert result.scaled_residual == 1.0


def scaled(problem, x):
    x = np.asarray(x, dtype=float)
    return scaled_residual(problem, x, problem.slack(x), perp.verify(problem, x).residual)


def test_one_large_row_does_not_loosen_the_others():
    assert scaled(perp.LCP(np.diag([1e6, 1.0]), [-1e6, -1.0]), [1.0, 0.0]) == 1.0
    assert scaled(perp.LCP(np.diag([1.0, 1.0]), [-1e9, -1.0]), [1e9, 0.0]) == 1.0
    assert scaled(perp.LCP(np.diag([1.0, 1.0]), [-1e9, -1.0]), [1e9 * (1.0 + 1e-9), 1.0]) == pytest.approx(
        1e-9, rel=1e-6
    )


def test_an_iterate_that_runs_away_does_not_become_good_by_its_size():
    assert scaled(perp.LCP([[0.0]], [-2.0]), [1e300]) == 1.0
    assert scaled(perp.LCP(np.array([[1.0, -1.0], [-1.0, 1.0]]), [-1.0, -2.0]), [1e9, 1e9]) == 1.0


def test_a_problem_that_its_cold_start_solves_has_the_scale_one():
    assert scaled(perp.LCP(np.eye(2), [1.0, 0.0]), [5.0, 5.0]) == 5.0
    assert scaled(perp.LCP(np.zeros((0, 0)), []), []) == 0.0
    assert least_scale(perp.LCP(np.eye(1), [1.0])) == 1.0


def test_rounding_errors_at_a_cold_start_that_solves_are_no_unit():
    problem = perp.BoxLCP([[0.1]], [-0.3 - 2.0**-53], [3.0], [9.0])
    assert 0.0 < perp.verify(problem, [3.0]).residual < 1e-15
    assert cold_residual(problem) == 0.0


def test_a_small_but_true_cold_residual_is_a_unit():
    problem = perp.BoxLCP([[1.0]], [-3.0 - 1e-9], [3.0], [9.0])
    assert cold_residual(problem) == pytest.approx(1e-9, rel=1e-6)


def test_what_is_no_number_gives_no_scale():
    operator = LinearOperator((2, 2), matvec=lambda v: np.full(2, np.nan), dtype=np.float64)
    faulty = perp.LCP(operator, [-1.0, -1.0])
    assert np.isnan(cold_residual(faulty))
    assert least_scale(faulty) == 1.0
    huge = perp.BoxLCP([[1e200]], [0.0], [1e200], [np.inf])
    assert least_scale(huge) > 0.0


def test_rounding_in_one_row_is_no_excuse_for_another():
    problem = perp.BoxLCP(np.eye(2), [1e16, -8.0], [1.0, 0.0], np.inf)
    assert cold_residual(problem) == 8.0
    assert measure_cold(problem, np.array([1.0, 0.0]))[1] == 8.0


def test_a_point_beyond_all_numbers_has_no_residual():
    problem = perp.LCP([[1e-310]], [-1.0])
    assert np.isnan(look(problem, np.array([np.inf]))[0])
