"""`perp.solve`: choosing, refusing, judging."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.errors import MethodRefused
from perp.solvers.roster import suitable_methods


@given(st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems()))
def test_success_means_finite_feasible_and_within_tolerance(problem):
    result = perp.solve(problem, tol=1e-8)
    found = perp.verify(problem, result.x)
    assert result.residual == pytest.approx(found.residual, abs=1e-15)
    np.testing.assert_array_equal(result.y, problem.slack(result.x))
    if result.success:
        assert np.isfinite(result.x).all()
        assert found.bound_violation <= 1e-12
        assert found.residual <= 1e-8


def test_auto_over_relaxes_symmetric_problems_and_nothing_else():
    rng = np.random.default_rng(0)
    A, b = strategies.spd_matrix(rng, 6), rng.standard_normal(6)
    skew = np.triu(np.ones((6, 6)), 1) * 0.1
    assert perp.solve(perp.LCP(A, b)).method == "psor"
    assert perp.solve(perp.LCP(A + skew - skew.T, b)).method == "pgs"
    assert perp.solve(perp.ContactProblem(A, b, 0.5)).method == "pgs"
    product = perp.MatrixFreeOperator(aslinearoperator(A), A.diagonal())
    assert perp.solve(perp.LCP(product, b)).method == "jacobi"


def test_a_refusal_names_the_reason_and_the_methods_that_would_work():
    A = np.eye(2)
    matrix_free = perp.MatrixFreeOperator(aslinearoperator(A), A.diagonal())
    with pytest.raises(MethodRefused, match=r"pgs refuses: it needs 'rows' of A.*would work: jacobi"):
        perp.solve(perp.LCP(matrix_free, np.ones(2)), "pgs")
    with pytest.raises(MethodRefused, match="no method of this version would work"):
        perp.solve(perp.LCP([[0.0]], [1.0]), "pgs")


def test_suitable_methods_are_those_that_do_not_refuse():
    rng = np.random.default_rng(0)
    names = [m.name for m in suitable_methods(perp.LCP(sparse.csr_array(np.eye(3)), rng.standard_normal(3)))]
    assert names == ["jacobi", "pgs", "psor", "symmetric_psor"]


@pytest.mark.parametrize("method", [3, None, perp.LCP])
def test_a_method_that_is_none_is_refused(method):
    with pytest.raises(TypeError, match="method is"):
        perp.solve(perp.LCP([[1.0]], [1.0]), method)


def test_options_of_a_method_object_belong_in_the_object():
    with pytest.raises(TypeError, match="PSOR"):
        perp.solve(perp.LCP([[1.0]], [1.0]), perp.PSOR(), relaxation=1.1)


def test_something_that_is_no_problem_is_refused():
    with pytest.raises(TypeError, match=r"perp\.LCP"):
        perp.solve(np.eye(2), "pgs")


def test_keywords_override_the_criteria_of_a_preset():
    result = perp.solve(
        perp.LCP(np.eye(2), -np.ones(2)), "jacobi", stop=perp.Stopping(max_iterations=5), max_iterations=0
    )
    assert result.iterations == 0


def restless_problem():
    """Strongly over-relaxed Gauss-Seidel does not settle here."""
    rng = np.random.default_rng(2)
    G = rng.standard_normal((30, 40))
    return perp.ContactProblem(G @ G.T / 40 + 0.1 * np.eye(30), rng.standard_normal(30), 0.8)


def test_best_so_far_never_lets_the_residual_rise():
    problem = restless_problem()
    plain = perp.solve(problem, perp.PSOR(1.9), max_iterations=50, check_every=1, tol=0.0)
    assert (np.diff(plain.history.residual) > 0).any()
    wrapped = perp.solve(problem, perp.best_so_far(perp.PSOR(1.9)), max_iterations=50, check_every=1, tol=0.0)
    assert (np.diff(wrapped.history.residual) <= 0).all()
    assert wrapped.method == "best_so_far(psor)"
    assert wrapped.residual == plain.history.residual.min()


def test_best_so_far_finds_an_iterate_between_two_checks():
    problem = restless_problem()
    every = perp.solve(problem, perp.PSOR(1.9), max_iterations=50, check_every=1, tol=0.0)
    seldom = perp.solve(problem, perp.best_so_far(perp.PSOR(1.9)), max_iterations=50, check_every=50, tol=0.0)
    assert every.best_iteration not in (0, 50)
    assert seldom.residual == every.history.residual.min()


def test_best_so_far_refuses_what_the_wrapped_method_refuses():
    with pytest.raises(MethodRefused, match="best_so_far"):
        perp.solve(perp.LCP([[0.0]], [1.0]), perp.best_so_far(perp.PGS()))
    with pytest.raises(TypeError, match=r"perp\.PGS"):
        perp.best_so_far("pgs")


def test_jacobi_steps_are_those_of_its_twin():
    import twins

    rng = np.random.default_rng(0)
    problem = perp.BoxLCP(strategies.spd_matrix(rng, 7), rng.standard_normal(7), -0.5, 1.0)
    method = perp.Jacobi(damping=0.4)
    state, x = method.start(problem, np.zeros(7)), np.zeros(7)
    for _ in range(5):
        method.step(problem, state, 1)
        x = twins.jacobi_step(problem, x, 0.4)
        np.testing.assert_allclose(state.x, x, atol=1e-13)


def test_jacobi_damps_itself_by_the_largest_eigenvalue():
    from perp.solvers.splitting.jacobi import estimate_largest_eigenvalue

    ones = perp.LCP(np.ones((9, 9)), -np.ones(9))
    assert estimate_largest_eigenvalue(ones, np.ones(9)) == pytest.approx(9.0)
    assert perp.solve(ones, "jacobi").success
    assert not perp.solve(ones, perp.Jacobi(damping=1.0)).success


@pytest.mark.parametrize("damping", [0.0, -1.0, 2.5, np.nan])
def test_jacobi_refuses_a_damping_outside_its_range(damping):
    with pytest.raises(ValueError, match="damping"):
        perp.Jacobi(damping=damping)
