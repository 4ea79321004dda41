"""LCP, BoxLCP and ContactProblem: bounds, projections, conversions, information."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp.errors import InvalidProblem


@given(strategies.box_lcps(), st.integers(0, 100))
def test_a_box_problem_and_its_lcp_have_the_same_solutions(problem, seed):
    finite = np.isfinite(problem.lower) | np.isfinite(problem.upper)
    if not finite.all():
        with pytest.raises(InvalidProblem, match="no finite bound"):
            problem.to_lcp()
        return
    form = problem.to_lcp()
    x = perp.solve(problem, "pgs", tol=1e-12, max_iterations=20_000).x
    # the LCP has a zero diagonal block that no splitting method takes: build its solution from that of the box
    y = problem.slack(x)
    z = np.where(np.isinf(problem.lower), problem.upper - x, x - problem.lower)
    boxed = np.isfinite(problem.lower) & np.isfinite(problem.upper)
    solution = np.concatenate([z, np.maximum(-y, 0.0)[boxed]])
    assert perp.verify(form.problem, solution).residual <= 1e-9
    np.testing.assert_allclose(form.recover(solution), x, atol=1e-12)


def test_an_lcp_written_as_a_box_is_the_same_problem():
    problem = perp.LCP(np.eye(2), [-1.0, 1.0])
    box = problem.to_box()
    np.testing.assert_array_equal(box.lower, [0, 0])
    np.testing.assert_array_equal(box.upper, [np.inf, np.inf])
    np.testing.assert_array_equal(perp.solve(box, "pgs").x, perp.solve(problem, "pgs").x)


def test_a_sparse_box_stays_sparse_as_an_lcp():
    problem = perp.BoxLCP(sparse.eye_array(3, format="csr"), np.zeros(3), 0.0, 1.0)
    assert isinstance(problem.to_lcp().problem.A, perp.SparseOperator)


def test_bounds_may_be_numbers():
    problem = perp.BoxLCP(np.eye(2), np.zeros(2), -1, 2)
    np.testing.assert_array_equal(problem.lower, [-1, -1])
    np.testing.assert_array_equal(problem.upper, [2, 2])


def test_problems_are_frozen():
    problem = perp.LCP(np.eye(2), np.zeros(2))
    with pytest.raises(AttributeError):
        problem.b = np.ones(2)


@given(strategies.contact_problems(), st.integers(0, 1000))
def test_a_projected_contact_point_is_feasible_and_stays_where_it_is(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    found = perp.verify(problem, x)
    assert found.bound_violation <= 1e-15
    if problem.model == "cone":
        assert found.cone_violation <= 1e-15
        for c, mu in enumerate(problem.friction):
            tangents = x[3 * c + 1 : 3 * c + 3]
            np.testing.assert_allclose(twins.project_on_disc(tangents, mu * x[3 * c]), tangents, atol=1e-15)
    np.testing.assert_allclose(problem.project(x), x, atol=1e-15)


def test_contact_rows_come_first_and_other_rows_are_equations_by_default():
    problem = perp.ContactProblem(np.eye(8), np.zeros(8), [0.5, 0.6], extra_rows=2)
    assert (problem.contacts, problem.contact_rows) == (2, 6)
    lower, upper = problem.bounds(np.array([2.0, 0, 0, -1.0, 0, 0, 0, 0]))
    np.testing.assert_array_equal(lower, [0, -1, -1, 0, 0, 0, -np.inf, -np.inf])
    np.testing.assert_array_equal(upper, [np.inf, 1, 1, np.inf, 0, 0, np.inf, np.inf])
    assert repr(problem) == "<ContactProblem with 2 contacts (box friction, 3D), 2 other rows, dense A>"


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: perp.ContactProblem(np.eye(4), np.zeros(4), 0.5), "multiple of 3.*dimension=2.*extra_rows"),
        (lambda: perp.ContactProblem(np.eye(9), np.zeros(9), [0.5, 0.5]), "make 6 rows, but A has 9"),
        (lambda: perp.ContactProblem(np.eye(4), np.zeros(4), 0.5, extra_rows=-1), "extra_rows"),
        (lambda: perp.ContactProblem(np.eye(3), np.zeros(3), 0.5, extra_rows=6), "extra_rows is 6.*only 3"),
        (lambda: perp.ContactProblem(np.eye(3), np.zeros(3), 0.5, lower=0.0), "extra_rows"),
        (lambda: perp.ContactProblem(np.eye(3), np.zeros(3), [0.5, 0.5]), "make 6 rows, but A has 3"),
        (lambda: perp.ContactProblem(np.eye(3), np.zeros(3), 0.5, "cune"), "did you mean 'cone'"),
        (lambda: perp.ContactProblem(np.eye(3), np.zeros(3), 0.5, dimension=5), "dimension is 5"),
        (lambda: perp.ContactProblem(np.eye(4), np.zeros(4), [0.5], extra_rows=1, lower=2.0, upper=1.0), r"lower\[0\]"),
    ],
)
def test_contact_problems_that_make_no_sense_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_info_tells_what_a_problem_looks_like():
    A = np.diag([2.0, 3.0, 4.0])
    A[0, 1] = A[1, 0] = 1.0
    info = perp.BoxLCP(A, np.zeros(3), [0.0, -np.inf, 1.0], [np.inf, np.inf, 1.0]).info()
    assert (info.n, info.nonzeros, info.form, info.kind) == (3, 5, "dense", "box")
    assert info.density == pytest.approx(5 / 9)
    assert info.symmetric
    assert info.positive_definite
    assert (info.positive_diagonal, info.zero_diagonal, info.negative_diagonal) == (3, 0, 0)
    assert (info.lower_bounds, info.upper_bounds, info.fixed, info.free) == (2, 1, 1, 1)
    assert "positive definite: True" in str(info)


def test_info_says_when_it_cannot_tell():
    operator = perp.MatrixFreeOperator(sparse.eye_array(3))
    info = perp.LCP(operator, np.zeros(3)).info()
    assert info.symmetric is None
    assert info.positive_diagonal is None
    assert info.positive_definite is None
    assert "not known" in str(info)


@pytest.mark.parametrize(
    ("A", "definite"),
    [
        (np.ones((2, 2)), False),
        ([[1, 2], [2, 1]], False),
        ([[1, 1], [0, 1]], None),
        ([[0.0]], False),
        (np.eye(3), True),
    ],
)
def test_definiteness_is_told_by_a_cholesky_factor_for_symmetric_matrices_only(A, definite):
    assert perp.LCP(A, np.zeros(len(A))).info().positive_definite is definite


@given(strategies.lcps())
def test_the_residual_is_zero_exactly_at_solutions(problem):
    x = perp.solve(problem, "pgs", tol=1e-13, max_iterations=50_000).x
    assert perp.verify(problem, x).residual <= 1e-12
    assert perp.verify(problem, x + 0.1).residual > 1e-3


def test_the_printed_residuals_are_a_table():
    text = str(perp.verify(perp.LCP(np.eye(2), -np.ones(2)), np.ones(2)))
    assert "natural inf: 0.000e+00" in text
    assert "cone violation: -" in text


def test_verification_refuses_a_point_that_is_none():
    problem = perp.LCP(np.eye(2), -np.ones(2))
    with pytest.raises(ValueError, match=r"x\[1\] is nan"):
        perp.verify(problem, [0.0, np.nan])
    with pytest.raises(ValueError, match="length 3"):
        perp.verify(problem, np.ones(3))


def test_a_rows_extreme_diagonal_is_brought_near_one_by_a_power_of_two():
    diagonal = np.array([1e-300, 1.0, 2.0**19, 2.0**40, 1e300, 0.0, 2.0**-9, 2.0**-12])
    problem = perp.LCP(np.diag(diagonal), np.zeros(8))
    scales = problem.row_scales
    np.testing.assert_array_equal(scales[[1, 2, 5, 6]], 1.0)
    np.testing.assert_array_equal(np.frexp(scales)[0], 0.5)
    assert ((scales * diagonal)[[0, 3, 4, 7]] >= 1.0).all()
    assert ((scales * diagonal)[[0, 3, 4, 7]] < 2.0).all()
