"""What a result can be asked, and what it shows."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp.solvers.results import Attempt

PROBLEM = perp.LCP([[4.0, -1.0], [-1.0, 4.0]], [-3.0, 2.0])
ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems())


def test_a_result_is_read_by_name_like_those_of_scipy():
    result = perp.solve(PROBLEM, "lemke")
    assert result["x"] is result.x
    assert result["nit"] == result.nit == result.iterations
    assert result["success"] is True
    assert "active_mask" in result
    assert "hess_inv" not in result
    assert result.get("hess_inv", 7) == 7
    with pytest.raises(KeyError, match="hess_inv"):
        result["hess_inv"]
    as_dict = dict(result)
    assert list(as_dict) == list(result) == list(result.keys())
    assert len(as_dict) == len(result)
    assert as_dict["status"] is perp.Status.CONVERGED


@given(ANY_PROBLEM, st.integers(0, 3))
def test_the_reason_is_what_the_message_tells_beyond_the_sentence_of_the_status(problem, limit):
    for method in ("auto", "fischer" if problem.kind in ("lcp", "box") else "block_gauss_seidel"):
        result = perp.solve(problem, method, max_iterations=limit)
        if result.certificate is None or result.certificate.kind != "exhausted":
            told = result.message.removeprefix(result.status.value).rpartition(" (residual")[0].removeprefix(": ")
            assert result.reason == told


def test_names_that_are_methods_are_no_values():
    assert "verify" not in perp.solve(PROBLEM, "lemke")


def test_a_part_of_islands_is_read_by_name_as_well():
    result = perp.solve_islands(PROBLEM, "lemke")
    assert result["parts"] is result.parts


def test_results_that_read_the_same_are_still_two():
    first, second = (perp.solve(PROBLEM, "lemke") for _ in range(2))
    assert first != second
    assert len({first, second}) == 2


@given(strategies.lcps())
def test_the_objective_is_that_of_the_symmetric_problem_and_of_no_other(problem):
    result = perp.solve(problem, "lemke")
    A = problem.A.to_dense()
    if problem.is_symmetric:
        assert result.fun == pytest.approx(0.5 * result.x @ A @ result.x + problem.b @ result.x, abs=1e-12)
    else:
        assert result.fun is None


def test_a_problem_that_is_not_symmetric_has_no_objective():
    assert perp.solve(perp.LCP([[2.0, 1.0], [0.0, 2.0]], [-1.0, -1.0]), "lemke").fun is None


@given(ANY_PROBLEM)
def test_the_active_mask_tells_rows_at_their_bounds_from_those_between(problem):
    result = perp.solve(problem)
    lower, upper = problem.bounds(result.x)
    mask = result.active_mask
    assert mask.dtype == np.int8
    np.testing.assert_array_equal(mask[result.x <= lower], -1)
    np.testing.assert_array_equal(mask[(result.x >= upper) & (lower < upper)], 1)
    room = 1e-7 * max(1.0, np.abs(result.x).max(initial=0.0))
    between = (result.x > lower + room) & (result.x < upper - room)
    np.testing.assert_array_equal(mask[between], 0)


def test_a_point_from_the_inside_counts_as_at_the_bound_that_its_slack_pushes_it_to():
    problem = perp.BoxLCP(np.eye(4), [1.0, -9.0, 0.0, 5.0], [0.0, 0.0, -1.0, 3.0], [1.0, 1.0, 1.0, 3.0])
    result = perp.solve(problem, "lemke", x0=[1e-10, 1.0 - 1e-10, 1e-10, 3.0], max_iterations=0, tol=1e-9)
    np.testing.assert_array_equal(result.active_mask, [-1, 1, 0, -1])


def test_rows_far_from_a_bound_are_between_although_the_natural_map_takes_the_bound():
    result = perp.solve(perp.LCP(np.eye(1), [10.0]), "pgs", x0=[5.0], max_iterations=0)
    np.testing.assert_array_equal(result.active_mask, [0])


def test_a_result_without_numbers_still_answers():
    operator = LinearOperator((2, 2), matvec=lambda v: np.full(2, np.nan), dtype=np.float64)
    result = perp.solve(perp.LCP(operator, [-1.0, -1.0]), "apgd")
    assert not result.success
    assert np.isnan(result.scaled_residual)
    assert "BREAKDOWN (12)" in str(result)


@given(ANY_PROBLEM)
def test_printing_tells_what_matters_line_by_line(problem):
    result = perp.solve(problem, "pgs", max_iterations=3)
    text = str(result)
    assert f"{result.status.name} ({int(result.status)})" in text
    assert result.message in text
    assert f"residual: {result.residual:.3e}" in text
    assert problem.kind in text
    assert len(text.splitlines()) < 16
    assert "\n" not in repr(result)


def test_printing_lists_every_attempt_with_its_reason():
    one = Attempt("lemke", perp.Status.RAY, 3, 0.5, 1.0, "it was first")
    other = Attempt("presolve", None, 0, 0.1, 2.0)
    text = str(replace(perp.solve(PROBLEM, "pgs"), methods=(other, one)))
    assert "attempt 1: presolve: residual 2.000e+00, 0.1 s" in text
    assert "attempt 2: lemke: RAY, residual 1.000e+00, 0.5 s (it was first)" in text


def test_printing_shows_both_ends_of_a_long_x():
    result = perp.solve(perp.LCP(np.eye(9), -np.arange(1.0, 10.0)), "lemke")
    assert "x: [1, 2, 3, ..., 7, 8, 9]" in str(result)
    short = perp.solve(perp.LCP(np.eye(3), -np.arange(1.0, 4.0)), "lemke")
    assert "x: [1, 2, 3]" in str(short)


def test_printing_shows_why_there_is_no_solution():
    result = perp.solve(perp.LCP([[-1.0]], [-1.0]), "lemke")
    assert result.status is perp.Status.INFEASIBLE
    assert f"certificate: {result.certificate.reason}" in str(result)


def through_pickle(result):
    return pickle.loads(pickle.dumps(result))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, through_pickle])
def test_a_copy_of_a_result_knows_all_of_it(again):
    result = perp.solve(PROBLEM, "pgs")
    twin = again(result)
    np.testing.assert_array_equal(twin.history.residual, result.history.residual)
    np.testing.assert_array_equal(twin.active_mask, result.active_mask)
    assert twin.status is result.status
    assert twin.scaled_residual == result.scaled_residual
