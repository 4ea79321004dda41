"""Conjugate gradients and GMRES: against dense solves and SciPy, and what they say when they cannot go on."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import linalg as scipy_krylov
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.linalg.krylov import Ending, FreeProduct, Workspace, cg, forcing, gmres, next_gamma
from perp.problems.inputs import freeze

METHODS = {"cg": cg, "gmres": gmres}


def with_spectrum(rng, values):
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    A = Q * values @ Q.T
    return 0.5 * (A + A.T)


def spread(rng, n, condition):
    return with_spectrum(rng, np.geomspace(1.0, 1.0 / condition, n))


class Counted:
    """A product that counts, and keeps what it was asked."""

    def __init__(self, A):
        self.A, self.calls, self.asked = A, 0, []

    def __call__(self, v):
        self.calls += 1
        self.asked.append(v.copy())
        return self.A @ v


def true_residual(A, b, found):
    return np.linalg.norm(b - A @ found.x)


# -- what all three promise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
@given(seed=strategies.SEEDS, n=st.integers(1, 25), warm=st.booleans(), preconditioned=st.booleans())
def test_a_positive_definite_system_is_solved_as_numpy_solves_it(name, seed, n, warm, preconditioned):
    rng = np.random.default_rng(seed)
    A, b = strategies.spd_matrix(rng, n), rng.standard_normal(n)
    A, b = (A * 3.0).copy(), b.copy()
    b.flags.writeable = False  # as the data of a problem are
    found = METHODS[name](
        lambda v: A @ v,
        b,
        x0=rng.standard_normal(n) if warm else None,
        preconditioner=(lambda r: r / A.diagonal()) if preconditioned else None,
        tolerance=1e-10,
        max_iterations=20 * n,
    )
    assert found.ending is Ending.CONVERGED
    assert found.success
    assert true_residual(A, b, found) <= 1e-10
    assert found.residual == pytest.approx(true_residual(A, b, found), rel=0.1, abs=1e-13)
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), atol=1e-8)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("scale_of_a", [1e-12, 1e12])
@pytest.mark.parametrize("scale_of_b", [1e-12, 1e12])
def test_units_do_not_matter(name, scale_of_a, scale_of_b):
    rng = np.random.default_rng(11)
    A, b = spread(rng, 30, 1e3), rng.standard_normal(30)
    plain = METHODS[name](lambda v: A @ v, b, tolerance=1e-8, max_iterations=500)
    scaled = METHODS[name](
        lambda v: scale_of_a * (A @ v), scale_of_b * b, tolerance=1e-8 * scale_of_b, max_iterations=500
    )
    assert plain.success
    assert scaled.success
    assert abs(scaled.iterations - plain.iterations) <= 2
    np.testing.assert_allclose(scaled.x * (scale_of_a / scale_of_b), plain.x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", METHODS)
def test_a_start_at_the_solution_takes_no_iteration(name):
    A = spread(np.random.default_rng(0), 20, 100.0)
    x = np.arange(20.0)
    found = METHODS[name](lambda v: A @ v, A @ x, x0=x, tolerance=1e-9, max_iterations=50)
    assert (found.ending, found.iterations) == (Ending.CONVERGED, 0)
    np.testing.assert_array_equal(found.x, x)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_done_for_a_right_hand_side_of_zero_or_without_rows(name):
    for n in (0, 5):
        found = METHODS[name](lambda v: v, np.zeros(n), tolerance=0.0, max_iterations=5)
        assert (found.ending, found.iterations) == (Ending.CONVERGED, 0)
        np.testing.assert_array_equal(found.x, np.zeros(n))


@pytest.mark.parametrize("name", METHODS)
def test_the_iteration_limit_is_kept_and_said(name):
    rng = np.random.default_rng(3)
    A, b = spread(rng, 60, 1e6), rng.standard_normal(60)
    found = METHODS[name](lambda v: A @ v, b, tolerance=1e-12, max_iterations=7)
    assert (found.ending, found.iterations) == (Ending.ITERATION_LIMIT, 7)
    assert not found.success
    assert found.residual == pytest.approx(true_residual(A, b, found), rel=1e-6)
    nothing = METHODS[name](lambda v: A @ v, b, tolerance=1e-12, max_iterations=0)
    assert (nothing.ending, nothing.iterations) == (Ending.ITERATION_LIMIT, 0)


@pytest.mark.parametrize("name", METHODS)
def test_an_identity_that_hands_back_its_argument_does_no_harm(name):
    b = np.arange(1.0, 6.0)
    found = METHODS[name](lambda v: v, b, preconditioner=lambda r: r, tolerance=1e-14, max_iterations=5)
    assert found.success
    assert found.iterations == 1
    np.testing.assert_allclose(found.x, b)


@pytest.mark.parametrize("name", METHODS)
def test_a_product_may_write_into_the_same_array_every_time(name):
    rng = np.random.default_rng(8)
    A, b = spread(rng, 30, 50.0), rng.standard_normal(30)
    out = np.empty(30)
    once = METHODS[name](lambda v: np.matmul(A, v, out=out), b, tolerance=1e-11, max_iterations=200)
    again = METHODS[name](lambda v: A @ v, b, tolerance=1e-11, max_iterations=200)
    np.testing.assert_array_equal(once.x, again.x)


@pytest.mark.parametrize("name", METHODS)
def test_the_arguments_stay_as_they_are(name):
    rng = np.random.default_rng(1)
    A, b, x0 = spread(rng, 10, 10.0), rng.standard_normal(10), rng.standard_normal(10)
    given_b, given_x0 = b.copy(), x0.copy()
    METHODS[name](lambda v: A @ v, b, x0=x0, tolerance=1e-9, max_iterations=50)
    np.testing.assert_array_equal(b, given_b)
    np.testing.assert_array_equal(x0, given_x0)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_reported_and_x_stays_finite(name, bad):
    b = np.ones(4)
    found = METHODS[name](lambda v: v * bad, b, tolerance=1e-9, max_iterations=9)
    assert found.ending is Ending.NON_FINITE
    assert np.isfinite(found.x).all()
    found = METHODS[name](lambda v: v, b, preconditioner=lambda r: r * bad, tolerance=1e-9, max_iterations=9)
    assert found.ending is Ending.NON_FINITE
    found = METHODS[name](lambda v: v, np.full(4, bad), tolerance=1e-9, max_iterations=9)
    assert found.ending is Ending.NON_FINITE
    assert np.isfinite(found.x).all()


@pytest.mark.parametrize("name", METHODS)
def test_a_tolerance_below_rounding_ends_with_breakdown_and_the_accuracy_that_there_is(name):
    rng = np.random.default_rng(5)
    A, b = spread(rng, 40, 1e4), rng.standard_normal(40)
    found = METHODS[name](lambda v: A @ v, b, tolerance=0.0, max_iterations=100_000)
    assert found.ending is Ending.BREAKDOWN
    assert true_residual(A, b, found) <= 1e-11
    assert found.residual == pytest.approx(true_residual(A, b, found), rel=1e-2)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("condition", [1e6, 1e10, 1e14])
def test_convergence_is_never_claimed_of_a_residual_that_drifted(name, condition):
    rng = np.random.default_rng(6)
    A, b = spread(rng, 50, condition), rng.standard_normal(50)
    for tolerance in (1e-4, 1e-8, 1e-11):
        found = METHODS[name](lambda v: A @ v, b, tolerance=tolerance, max_iterations=3000)
        assert found.success == (true_residual(A, b, found) <= tolerance * (1.0 + 1e-6))


@pytest.mark.parametrize("name", METHODS)
@given(seed=strategies.SEEDS, n=st.integers(2, 20), scale=st.sampled_from([1e-8, 1.0, 1e8]))
def test_a_consistent_singular_system_is_solved(name, seed, n, scale):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, max(1, n // 2)))
    A = J @ J.T * scale
    b = A @ rng.standard_normal(n)
    found = METHODS[name](lambda v: A @ v, b, tolerance=1e-8 * np.linalg.norm(b), max_iterations=30 * n)
    assert found.ending is Ending.CONVERGED
    assert true_residual(A, b, found) <= 1e-8 * np.linalg.norm(b)


@given(seed=strategies.SEEDS, n=st.integers(4, 20))
def test_an_inconsistent_system_breaks_down_at_the_least_residual(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, n // 2))
    A, b = J @ J.T, rng.standard_normal(n)
    least = np.linalg.norm(b - J @ np.linalg.lstsq(J, b, rcond=None)[0])
    found = gmres(lambda v: A @ v, b, tolerance=1e-9, max_iterations=300, restart=n)
    assert found.ending is Ending.BREAKDOWN
    assert found.residual == pytest.approx(least, rel=1e-3)
    assert true_residual(A, b, found) == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_results_repeat_bit_by_bit(name):
    rng = np.random.default_rng(2)
    A, b = sparse.csr_array(spread(rng, 80, 1e3)), rng.standard_normal(80)
    once, again = (METHODS[name](lambda v: A @ v, b, tolerance=1e-9, max_iterations=500) for _ in range(2))
    np.testing.assert_array_equal(once.x, again.x)


# -- conjugate gradients ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distinct", [1, 3, 8])
def test_cg_takes_as_many_iterations_as_there_are_different_eigenvalues(distinct):
    rng = np.random.default_rng(distinct)
    A = with_spectrum(rng, np.repeat(np.arange(1.0, distinct + 1.0), 5))
    found = cg(lambda v: A @ v, rng.standard_normal(5 * distinct), tolerance=1e-10, max_iterations=100)
    assert found.iterations == distinct


@given(seed=strategies.SEEDS, n=st.integers(8, 15), preconditioned=st.booleans())
def test_the_directions_of_cg_are_orthogonal_in_the_norm_of_a(seed, n, preconditioned):
    rng = np.random.default_rng(seed)
    A = spread(rng, n, 20.0)
    P = (lambda r: r / A.diagonal()) if preconditioned else None
    product = Counted(A)
    found = cg(product, rng.standard_normal(n), preconditioner=P, tolerance=0.0, max_iterations=6)
    directions = np.array(product.asked[: found.iterations])
    directions /= np.sqrt(np.einsum("ki,ij,kj->k", directions, A, directions))[:, None]
    np.testing.assert_allclose(directions @ A @ directions.T, np.eye(found.iterations), atol=1e-10)  # eq. 3.4


def test_cg_takes_the_iterates_of_algorithm_8():
    rng = np.random.default_rng(4)
    n = 30
    A, b = spread(rng, n, 200.0), rng.standard_normal(n)
    d = A.diagonal()
    x, r = np.zeros(n), b.copy()
    z = r / d
    q = z.copy()
    for k in range(1, 12):
        alpha = (r @ z) / (q @ A @ q)  # eq. 4.4
        x, r_new = x + alpha * q, r - alpha * (A @ q)
        z_new = r_new / d
        q = z_new + (r_new @ z_new) / (r @ z) * q  # eq. 4.5
        r, z = r_new, z_new
        found = cg(lambda v: A @ v, b, preconditioner=lambda r: r / d, tolerance=0.0, max_iterations=k)
        np.testing.assert_allclose(found.x, x, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("condition", [1e2, 1e4])
def test_cg_converges_at_least_as_fast_as_the_bound_of_eq_3_6(condition):
    rng = np.random.default_rng(7)
    A, b = spread(rng, 200, condition), rng.standard_normal(200)
    exact = np.linalg.solve(A, b)
    factor = (np.sqrt(condition) - 1.0) / (np.sqrt(condition) + 1.0)
    for k in (1, 5, 20, 50):
        error = cg(lambda v: A @ v, b, tolerance=0.0, max_iterations=k).x - exact
        assert error @ A @ error <= (2.0 * factor**k) ** 2 * (exact @ A @ exact)


def test_cg_takes_the_iterations_of_scipy():
    A = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(300, 300)).tocsr()
    b = np.sin(np.arange(300.0))
    steps = []
    theirs, _ = scipy_krylov.cg(A, b, rtol=0.0, atol=1e-8, callback=lambda x: steps.append(1))
    found = cg(lambda v: A @ v, b, tolerance=1e-8, max_iterations=1000)
    assert abs(found.iterations - len(steps)) <= 1
    np.testing.assert_allclose(found.x, theirs, atol=1e-5)


def test_one_product_an_iteration_and_one_more_only_where_rounding_may_have_spoilt_the_residual():
    rng = np.random.default_rng(9)
    for condition, tolerance, extra in ((100.0, 1e-3, 0), (1e12, 1e-10, 1)):
        A, b = spread(rng, 60, condition), rng.standard_normal(60)
        product = Counted(A)
        found = cg(product, A @ b, tolerance=tolerance, max_iterations=5000)
        assert found.success
        assert product.calls == found.iterations + extra


def test_negative_curvature_is_reported_with_its_direction():
    rng = np.random.default_rng(10)
    A = with_spectrum(rng, np.array([-1.0, 0.5, 1.0, 2.0, 3.0]))
    found = cg(lambda v: A @ v, rng.standard_normal(5), tolerance=1e-12, max_iterations=50)
    assert found.ending is Ending.NEGATIVE_CURVATURE
    assert found.direction @ A @ found.direction < 0.0
    assert np.isfinite(found.x).all()


@given(seed=strategies.SEEDS, n=st.integers(4, 20))
def test_a_semidefinite_system_without_solution_ends_with_a_direction_that_has_no_curvature(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, n // 2))
    A, b = J @ J.T, rng.standard_normal(n)
    found = cg(lambda v: A @ v, b, tolerance=1e-9, max_iterations=20 * n)
    assert found.ending is Ending.NEGATIVE_CURVATURE
    d = found.direction / np.linalg.norm(found.direction)
    assert abs(d @ A @ d) <= 1e-12 * np.linalg.norm(A, 2)
    assert abs(d @ b) > 1e-3 * np.linalg.norm(b - J @ np.linalg.lstsq(J, b, rcond=None)[0])


def test_an_indefinite_preconditioner_is_reported():
    found = cg(lambda v: v, np.ones(3), preconditioner=lambda r: -r, tolerance=1e-9, max_iterations=5)
    assert found.ending is Ending.INDEFINITE_PRECONDITIONER
    np.testing.assert_array_equal(found.x, 0.0)


# -- GMRES ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [5, 100])
@given(seed=strategies.SEEDS, n=st.integers(2, 25), preconditioned=st.booleans())
def test_gmres_solves_systems_that_are_not_symmetric(restart, seed, n, preconditioned):
    rng = np.random.default_rng(seed)
    A = np.eye(n) * 3.0 + rng.standard_normal((n, n)) / np.sqrt(n)
    b = rng.standard_normal(n)
    P = (lambda r: r / A.diagonal()) if preconditioned else None
    found = gmres(lambda v: A @ v, b, preconditioner=P, tolerance=1e-10, max_iterations=1000, restart=restart)
    assert found.ending is Ending.CONVERGED
    assert true_residual(A, b, found) <= 1e-10


def test_gmres_without_restart_is_exact_in_n_steps():
    rng = np.random.default_rng(14)
    A, b = rng.standard_normal((12, 12)), rng.standard_normal(12)
    found = gmres(lambda v: A @ v, b, tolerance=1e-9, max_iterations=12, restart=12)
    assert found.ending is Ending.CONVERGED
    assert found.iterations <= 12


def test_gmres_takes_the_iterates_of_scipy():
    rng = np.random.default_rng(15)
    A, b = np.eye(80) * 2.0 + rng.standard_normal((80, 80)) / 12.0, rng.standard_normal(80)
    found = gmres(lambda v: A @ v, b, tolerance=1e-9, max_iterations=500, restart=10)
    theirs, _ = scipy_krylov.gmres(A, b, rtol=0.0, atol=1e-9, restart=10, maxiter=50)
    assert found.success
    np.testing.assert_allclose(found.x, theirs, atol=1e-8)


def test_gmres_that_stands_still_says_so():
    """The cyclic shift: no polynomial of degree below n makes the residual of e_1 smaller."""
    n = 12
    A = np.roll(np.eye(n), 1, axis=0)
    found = gmres(lambda v: A @ v, np.eye(n)[0], tolerance=1e-9, max_iterations=500, restart=6)
    assert found.ending is Ending.BREAKDOWN
    assert found.residual == pytest.approx(1.0)
    assert gmres(lambda v: A @ v, np.eye(n)[0], tolerance=1e-9, max_iterations=500, restart=n).iterations == n


def test_a_restart_of_no_iterations_is_refused():
    with pytest.raises(ValueError, match="restart is 0"):
        gmres(lambda v: v, np.ones(2), tolerance=1e-9, max_iterations=5, restart=0)


# -- how accurately ---------------------------------------------------------------------------------------------------


def test_the_tolerance_of_an_inexact_newton_step():
    assert forcing(0.1, 5.0) == 0.5


def test_the_second_choice_of_eisenstat_and_walker():
    assert next_gamma(0.1, 1.0, 0.1) == pytest.approx(0.9 * 0.01)
    assert next_gamma(0.1, 1.0, 0.8) == pytest.approx(0.9 * 0.64)  # not so much tighter than the last one
    assert next_gamma(2.0, 1.0, 0.5) == 0.9
    assert next_gamma(1.0, 0.0, 0.5) == 0.9


@pytest.mark.parametrize("method", [cg, gmres])
def test_a_matrix_an_operator_and_a_function_are_the_same_to_a_method(method):
    A = np.array([[4.0, 1.0], [1.0, 3.0]])
    for form in (A, sparse.csr_array(A), perp.DenseOperator(A), aslinearoperator(A), A.dot):
        found = method(form, [1.0, 2.0], tolerance=1e-12, max_iterations=10)
        assert found.success
        np.testing.assert_allclose(found.x, np.linalg.solve(A, [1.0, 2.0]))


@pytest.mark.parametrize("method", [cg, gmres])
def test_input_that_makes_no_sense_raises(method):
    A = np.eye(2)
    with pytest.raises(ValueError, match="tolerance"):
        method(A, np.ones(2), tolerance=-1.0, max_iterations=5)
    with pytest.raises(ValueError, match="max_iterations"):
        method(A, np.ones(2), tolerance=0.0, max_iterations=-3)
    with pytest.raises(TypeError, match="whole number"):
        method(A, np.ones(2), tolerance=0.0, max_iterations=2.5)
    with pytest.raises(TypeError, match="function v -> A v"):
        method(3.0, np.ones(2), tolerance=0.0, max_iterations=5)
    with pytest.raises(ValueError, match="shape"):
        method(A, np.ones((2, 1)), tolerance=0.0, max_iterations=5)


# -- products with the free part of a matrix ---------------------------------------------------------------------------


@given(seed=strategies.SEEDS, n=st.integers(1, 20), is_scaled=st.booleans(), is_shifted=st.booleans())
def test_a_product_on_free_rows_is_that_with_the_part_of_the_matrix(seed, n, is_scaled, is_shifted):
    rng = np.random.default_rng(seed)
    A, free = strategies.spd_matrix(rng, n), rng.random(n) < 0.6
    rows, columns = (rng.uniform(0.5, 2.0, (2, n))) if is_scaled else (None, None)
    shift = rng.random(n) if is_shifted else None
    product = FreeProduct(perp.DenseOperator(A), rows, columns)
    product.follow(free, shift)
    z = np.where(free, rng.standard_normal(n), 0.0)
    left, right = (np.ones(n), np.ones(n)) if rows is None else (rows, columns)
    whole = np.diag(left) @ (A + np.diag(np.zeros(n) if shift is None else shift)) @ np.diag(right)
    found = product(z)
    np.testing.assert_allclose(found, np.where(free, whole @ z, 0.0), atol=1e-12)
    assert product(z) is found


@pytest.mark.parametrize("has_start", [False, True])
def test_kept_vectors_change_nothing_but_where_x_lies(has_start):
    rng = np.random.default_rng(0)
    A, work = strategies.spd_matrix(rng, 30), Workspace.for_rows(30)
    for _ in range(3):
        b = rng.standard_normal(30)
        x0 = rng.standard_normal(30) if has_start else None
        plain = cg(A, b, x0=x0, tolerance=1e-9, max_iterations=200)
        kept = cg(A, freeze(b.copy()), x0=x0, tolerance=1e-9, max_iterations=200, work=work)
        assert kept.x is work.x
        assert plain.iterations == kept.iterations
        np.testing.assert_array_equal(plain.x, kept.x)
