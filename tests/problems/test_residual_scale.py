"""The scale of residuals: follows the data, is capped by x, and is not fooled."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp.problems.residual_scale import cold_residual, cold_start, residual_scale, scale_of

ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems())


@given(ANY_PROBLEM)
def test_the_scale_is_the_formula(problem):
    start = problem.project(np.zeros(problem.n))
    r0 = perp.verify(problem, start).residual
    x = np.linspace(-3.0, 3.0, problem.n)
    np.testing.assert_array_equal(cold_start(problem), start)
    if r0 > 1e-12:
        assert cold_residual(problem) == r0
        assert residual_scale(problem, x) == min(r0, max(1.0, np.abs(x).max(initial=0.0)))


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1.0])
def test_tiny_units_are_not_called_solved_by_zero(unit):
    problem = perp.LCP(np.eye(2), np.array([-1.0, 0.5]) * unit)
    result = perp.solve(problem, "pgs", max_iterations=0)
    assert result.residual == unit
    assert result.scaled_residual == 1.0


def test_one_large_row_does_not_loosen_the_others():
    problem = perp.LCP(np.diag([1e6, 1.0]), [-1e6, -1.0])
    assert residual_scale(problem, np.ones(2)) == 1.0


def test_an_iterate_that_runs_away_does_not_become_good_by_its_size():
    problem = perp.LCP(np.eye(2), [-1.0, -2.0])
    assert residual_scale(problem, np.full(2, 1e300)) == 2.0
    assert residual_scale(problem, np.full(2, np.inf)) == 2.0


def test_a_problem_that_its_cold_start_solves_has_the_scale_one():
    assert residual_scale(perp.LCP(np.eye(2), [1.0, 0.0]), np.full(2, 5.0)) == 1.0
    assert residual_scale(perp.LCP(np.zeros((0, 0)), []), np.zeros(0)) == 1.0
    assert scale_of(0.0, np.ones(1)) == 1.0


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
    assert residual_scale(faulty, np.ones(2)) == 1.0
    huge = perp.BoxLCP([[1e200]], [0.0], [1e200], [np.inf])
    assert residual_scale(huge, np.ones(1)) > 0.0
