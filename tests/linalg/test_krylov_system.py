"""Free rows by preconditioned conjugate gradients: the answers of a direct solve, and honest about what fails."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import gallery
from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems import BodySpace, KrylovSystem, SparseSymmetric, choose_system
from perp.linalg.preconditioners import make_recipe

PRECONDITIONERS = ("none", "jacobi", "block_jacobi", "symmetric_gauss_seidel", "imaginary_ic0")


def krylov_system(problem, preconditioner="jacobi", tolerance=1e-11, limit=5000):
    return KrylovSystem(problem, make_recipe(preconditioner), tolerance, limit)


def in_form(rng, n, form):
    if form == "factored":
        return strategies.factored_operator(rng, max(1, n // 3))
    A = strategies.spd_matrix(rng, n)
    if form == "matrix-free":
        return perp.MatrixFreeOperator(sparse.csr_array(A), A.diagonal())
    return strategies.explicit(A, form)


@pytest.mark.parametrize("form", ["dense", "sparse", "sparse runs", "factored", "matrix-free"])
@given(seed=strategies.SEEDS, n=st.integers(1, 20), preconditioner=st.sampled_from(PRECONDITIONERS))
def test_free_rows_are_solved_for_and_the_others_stay_at_zero(form, seed, n, preconditioner):
    rng = np.random.default_rng(seed)
    operator = in_form(rng, n, form)
    problem = perp.LCP(operator, np.zeros(operator.n))
    if form == "matrix-free":
        preconditioner, A = "jacobi", operator.product.A.toarray()
    else:
        A = operator.to_dense()
    system = krylov_system(problem, preconditioner)
    for share in (1.0, 0.5, 0.0, 0.8):
        free, shift = rng.random(problem.n) < share, rng.choice([0.05, 0.3], problem.n)
        system.factor(free, shift)
        r = rng.standard_normal(problem.n)
        kept = r.copy()
        dx = system.solve(r)
        np.testing.assert_array_equal(r, kept)
        assert not dx[~free].any()
        F = np.flatnonzero(free)
        expected = np.linalg.solve(A[np.ix_(F, F)] + np.diag(shift[F]), r[F])
        np.testing.assert_allclose(dx[F], expected, rtol=1e-6, atol=1e-8)
    counted = system.counters()
    assert counted["factorisations"] == 4
    assert counted["inner_failures"] == 0
    assert counted["inner_iterations"] >= 1
    np.testing.assert_array_equal(system.added, shift)


def test_a_factored_operator_is_never_formed(monkeypatch):
    problem = gallery.make("boxed_stack", n=96, compliance=1e-2).problem
    A = problem.A.to_dense()
    monkeypatch.setattr(perp.FactoredOperator, "to_sparse", lambda self: pytest.fail("A was formed"))
    free = np.arange(problem.n) % 3 != 1
    for name in ("none", "jacobi", "block_jacobi"):
        system = krylov_system(problem, name)
        system.factor(free, np.zeros(problem.n))
        r = np.where(free, np.sin(np.arange(problem.n)), 0.0)
        np.testing.assert_allclose(np.where(free, A @ system.solve(r), 0.0), r, atol=1e-8)


def test_dependent_rows_are_met_with_a_small_shift_and_refinement_takes_it_back():
    """A direction without curvature and a right-hand side that has a part along it."""
    A = np.ones((4, 4)) + np.diag([0.0, 0.0, 1.0, 1.0])  # rows 0 and 1 are the same
    system = krylov_system(perp.LCP(A, np.zeros(4)), "jacobi")
    free, r = np.ones(4, dtype=bool), np.array([1.0, 1.0, 2.0, 0.0])
    system.factor(free, np.zeros(4))
    np.testing.assert_allclose(A @ system.solve(r), r, atol=1e-9)  # consistent: nothing needs to be done
    assert system.dependent == 0
    r = np.array([1.0, 0.0, 0.0, 0.0])
    dx = system.solve(r)
    assert system.dependent == 1
    assert (system.added > 0.0).all()
    np.testing.assert_allclose((A + np.diag(system.added)) @ dx, r, atol=1e-6)
    system.factor(free, np.zeros(4))
    assert system.dependent == 0
    assert not system.added.any()


def test_a_matrix_that_is_not_positive_semidefinite_is_named():
    problem = perp.LCP(np.diag([1.0, -1.0, 2.0]), np.zeros(3))
    system = krylov_system(problem)
    system.factor(np.ones(3, dtype=bool), np.zeros(3))
    with pytest.raises(NotPositive, match="negative curvature"):
        system.solve(np.ones(3))
    assert system.counters()["inner_failures"] == 1
    system.factor(np.array([True, False, True]), np.zeros(3))  # without the bad row all is well
    np.testing.assert_allclose(system.solve(np.ones(3)), [1.0, 0.0, 0.5])
    assert system.complaint == ""


def test_overflow_is_named():
    system = krylov_system(perp.LCP(np.eye(2) * 1e300, np.zeros(2)), "none")
    system.factor(np.ones(2, dtype=bool), np.zeros(2))
    with pytest.raises(NotFinite):
        system.solve(np.full(2, 1e300))


def test_the_iteration_limit_is_a_complaint_and_no_exception():
    problem = gallery.make("poisson_2d", n=400).problem
    system = krylov_system(problem, limit=3)
    system.factor(np.ones(400, dtype=bool), np.zeros(400))
    dx = system.solve(np.ones(400))
    assert np.isfinite(dx).all()
    assert "limit" in system.complaint
    assert system.counters() == {"factorisations": 1, "inner_iterations": 3, "inner_failures": 1}


@pytest.mark.parametrize("form", ["sparse", "factored"])
def test_uncoupled_rows_are_found_as_the_direct_systems_find_them(form):
    problem = gallery.make("boxed_stack", n=96).problem
    if form == "sparse":
        problem = perp.LCP(problem.A.to_sparse(), problem.b)
    direct = choose_system(problem, "sparse" if form == "sparse" else "body")
    assert isinstance(direct, SparseSymmetric if form == "sparse" else BodySpace)
    rows = np.random.default_rng(0).permutation(problem.n)[:40]
    system = krylov_system(problem)
    assert system.can_keep_apart
    np.testing.assert_array_equal(system.keep_apart(rows), direct.keep_apart(rows))


def test_a_bare_product_cannot_tell_which_rows_are_uncoupled():
    problem = perp.LCP(perp.MatrixFreeOperator(sparse.eye_array(5), np.ones(5)), np.zeros(5))
    system = krylov_system(problem)
    system.factor(np.ones(5, dtype=bool), np.zeros(5))
    assert not system.can_keep_apart
    np.testing.assert_array_equal(np.flatnonzero(system.keep_apart(np.array([3, 1]))), [3])


def test_a_scaled_matrix_that_overflows_is_told_as_not_finite():
    A = np.array([[1e-300, 1e200], [1e200, 1e-300]])
    system = krylov_system(perp.LCP(A, np.ones(2)))
    with pytest.raises(NotFinite), np.errstate(over="ignore"):
        system.factor(np.ones(2, dtype=bool), np.zeros(2))
