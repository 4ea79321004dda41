"""Hard and bad inputs for PGCG and MPRGP, by the rows of the table; and problems too large to be assembled."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.gradient.pgcg import PGCG
from perp.solvers.method import misfit

METHODS = [PGCG(), PGCG(at_bounds="stop", rebuild="pass"), MPRGP()]
SIZES = {"box_stack": 96, "boxed_stack": 96, "infeasible_psd": 90, "hilbert": 8, "murty": 6, "several_solutions": 5}

pytestmark = pytest.mark.parametrize("method", METHODS, ids=["pgcg", "pgcg stop", "mprgp"])


def no_worse(result, tol=1e-8):
    """What must hold of every result whatever its status."""
    found = perp.verify(result.problem, result.x)
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.y).all()
    assert found.bound_violation <= 1e-12
    assert result.success == (found.residual <= tol)
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(result.problem, result.certificate.u).valid
    return result


@pytest.mark.parametrize("kind", gallery.kinds())
def test_every_problem_of_the_gallery_is_refused_or_ends_honestly(method, kind):
    size = gallery.kinds()[kind].size
    example = gallery.make(kind) if size is None else gallery.make(kind, n=SIZES.get(kind, 36))
    if misfit(method, example.problem) is not None:
        with pytest.raises(MethodRefused, match=method.name):
            perp.solve(example.problem, method)
        return
    result = no_worse(perp.solve(example.problem, method, max_iterations=300))
    if example.expected in ("infeasible", "unsolvable"):
        assert not result.success
    np.testing.assert_array_equal(perp.solve(example.problem, method, max_iterations=300).x, result.x)


def test_row_8_equal_bounds_fix_a_variable_and_leave_its_slack_free(method):
    problem = BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = no_worse(perp.solve(problem, method))
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, -0.75], atol=1e-10)
    assert perp.solve(BoxLCP(np.zeros((2, 2)), [1.0, -1.0], 3.0, 3.0), method).success


def test_row_9_rows_without_bounds_make_a_linear_system(method):
    system = BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], -np.inf, np.inf)
    np.testing.assert_allclose(perp.solve(system, method).x, np.linalg.solve([[2, 1], [1, 3]], [-1, 2]), atol=1e-8)
    singular = perp.solve(BoxLCP(np.ones((2, 2)), [1.0, 2.0], -np.inf, np.inf), method)
    assert no_worse(singular).status is Status.INFEASIBLE
    assert no_worse(perp.solve(BoxLCP(np.ones((2, 2)), [1.0, 1.0], -np.inf, np.inf), method)).success


@pytest.mark.parametrize("example", gallery.all_signs(), ids=lambda example: f"{example.options}")
def test_rows_10_to_18_the_table_of_signs(method, example):
    result = perp.solve(example.problem, method)
    if example.expected == "infeasible":
        assert result.status is Status.INFEASIBLE
        assert result.certificate.u[0] == 1.0
    else:
        assert result.status is Status.CONVERGED
        assert result.x[0] == pytest.approx(max(-float(example.problem.b[0]), 0.0) if example.options["a"] > 0 else 0.0)


def test_row_19_the_empty_problem_is_solved(method):
    result = perp.solve(perp.LCP(np.empty((0, 0)), []), method)
    assert result.status is Status.CONVERGED
    assert result.iterations == 0
    state = method.start(result.problem, np.empty(0))
    method.step(result.problem, state, 3)
    assert state.unused == 3


def test_row_38_a_faulty_product_is_a_breakdown_at_first_use(method):
    broken = LinearOperator((3, 3), matvec=lambda x: np.full(3, np.nan), dtype=np.float64)
    result = perp.solve(perp.LCP(perp.MatrixFreeOperator(broken, np.ones(3)), np.ones(3)), method)
    assert result.status is Status.BREAKDOWN
    assert result.iterations == 0


def test_row_41_redundant_contacts_have_a_unique_slack(method):
    result = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)), method)
    assert result.success
    np.testing.assert_allclose(result.y, 0.0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_row_42_redundant_rows_that_contradict_each_other_are_proved_infeasible(method, seed):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((100, 20))
    problems = [perp.LCP(J @ J.T, -np.ones(100)), perp.LCP(J @ J.T, -rng.uniform(0, 1, 100))]
    for problem in (*problems, gallery.make("infeasible_psd", n=90, seed=seed).problem):
        result = no_worse(perp.solve(problem, method))
        assert result.status is Status.INFEASIBLE, result.message


def test_row_43_a_matrix_of_zeros(method):
    assert perp.solve(perp.LCP(np.zeros((3, 3)), [1.0, 0.0, 2.0]), method).success
    assert perp.solve(perp.LCP(np.zeros((3, 3)), [1.0, -1.0, 2.0]), method).status is Status.INFEASIBLE


@pytest.mark.parametrize("n", [36, 400])
def test_row_67_a_closed_fluid_region_is_proved_infeasible(method, n):
    result = no_worse(perp.solve(gallery.make("closed_fluid", n=n).problem, method))
    assert result.status is Status.INFEASIBLE, result.message


def test_row_53_scaling_the_data_by_an_extreme_factor_changes_nothing(method):
    plain = gallery.make("dense_pd", n=30).problem
    x = perp.solve(plain, method, tol=1e-10).x
    for factor in (1e-300, 1e-12, 1e12, 1e300):
        scaled = perp.solve(perp.LCP(plain.A.to_dense() * factor, plain.b * factor), method)
        assert scaled.success
        np.testing.assert_allclose(scaled.x, x, atol=1e-8)


def test_row_53_rows_of_very_unlike_size_are_solved(method):
    plain = gallery.make("dense_pd", n=60).problem
    size = 10.0 ** np.random.default_rng(0).uniform(-4, 4, 60)  # A_ii from 1e-8 to 1e8
    A = size[:, None] * plain.A.to_dense() * size
    result = no_worse(perp.solve(perp.LCP(0.5 * (A + A.T), plain.b * size), method))
    assert result.success
    np.testing.assert_allclose(result.x * size, perp.solve(plain, method, tol=1e-10).x, atol=1e-6)


def test_row_54_denormal_numbers_end_honestly(method):
    for A, b in ((np.eye(4), np.full(4, -1e-320)), (np.eye(4) * 1e-310, np.full(4, -1e-310))):
        assert np.isfinite(perp.solve(perp.LCP(A, b), method, tol=0.0).x).all()
    assert np.isfinite(perp.solve(perp.LCP(np.eye(4), np.full(4, -1e-200)), method, tol=0.0).x).all()


def test_rows_57_and_59_an_asymmetric_matrix_is_refused_with_its_worst_place(method):
    A = np.eye(4)
    A[1, 3] = 0.5
    with pytest.raises(MethodRefused, match=r"refuses: .*0.5.*1,3"):
        perp.solve(perp.LCP(A, -np.ones(4)), method)
    A[1, 3] = 1e-16
    assert perp.solve(perp.LCP(A, -np.ones(4)), method).success


def test_row_58_negative_curvature_leads_to_a_bound_or_to_a_breakdown(method):
    A, b = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, 2.0])
    free = perp.solve(BoxLCP(A, b, -np.inf, np.inf), method)
    assert free.status is Status.BREAKDOWN
    assert "negative curvature" in free.message
    assert no_worse(perp.solve(BoxLCP(A, b, -1.0, 1.0), method)).success
    assert perp.solve(gallery.make("unsolvable").problem, method).status is Status.BREAKDOWN


@pytest.mark.parametrize("kind", ["boxed_pd", "dense_psd", "hilbert", "poisson_2d"])
def test_row_70_tolerance_zero_runs_until_only_rounding_is_left(method, kind):
    result = perp.solve(gallery.make(kind, n=12 if kind == "hilbert" else 60).problem, method, tol=0.0)
    assert result.status in (Status.STAGNATED, Status.REDUCED_ACCURACY, Status.CONVERGED)
    assert result.residual < 1e-13


def test_numbers_that_overflow_are_a_breakdown(method):
    huge = perp.LCP(np.full((3, 3), 1e308) + 7e307 * np.eye(3), -np.full(3, 1e308))
    result = perp.solve(huge, method)
    assert np.isfinite(result.x).all()
    assert result.success == (perp.verify(huge, result.x).residual <= 1e-8)


def test_a_solution_beyond_all_numbers_is_a_breakdown(method):
    result = perp.solve(perp.LCP(np.diag([1e-200, 1e-200]), [-1e200, -1e200]), method)
    assert result.status is Status.BREAKDOWN
    assert np.isfinite(result.x).all()


def test_squares_that_underflow_are_not_taken_for_a_solution(method):
    plain = type(method)(preconditioner="none")
    result = perp.solve(perp.LCP([[0.0, -1e-300], [-1e-300, 0.0]], [-1e-300, -1e-300]), plain)
    assert result.status in (Status.BREAKDOWN, Status.INFEASIBLE)


def test_a_product_alone_is_enough_without_a_preconditioner(method):
    problem = gallery.make("dense_pd", n=40).problem
    dense = problem.A.to_dense()
    bare = LinearOperator((40, 40), matvec=lambda x: dense @ x, dtype=np.float64)
    with pytest.raises(MethodRefused, match="'jacobi' needs diagonal"):
        perp.solve(perp.LCP(bare, problem.b), type(method)(preconditioner="jacobi"))
    plain = type(method)(preconditioner="none")
    assert perp.solve(perp.LCP(bare, problem.b), plain).success
    contradiction = LinearOperator((2, 2), matvec=lambda x: np.array([x[0] + x[1]] * 2), dtype=np.float64)
    result = perp.solve(BoxLCP(contradiction, [1.0, 2.0], -np.inf, np.inf), plain)
    assert result.status is Status.RAY  # there is nothing to prove it with


def test_a_factored_problem_is_never_assembled(method, monkeypatch):
    problem = gallery.make("boxed_stack", n=200).problem
    monkeypatch.setattr(perp.FactoredOperator, "to_sparse", lambda self: pytest.fail("A was assembled"))
    assert perp.solve(problem, method, max_iterations=5000).success


@pytest.mark.parametrize("n", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_memory_is_linear_in_the_rows_of_a_factored_problem(method, n):
    problem = gallery.make("boxed_stack", n=n).problem
    perp.solve(problem, method, max_iterations=1)  # kernels are loaded, and what a problem finds once is found
    tracemalloc.start()
    result = perp.solve(problem, method, max_iterations=50 if n > 100_000 else 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 8 * 40 * problem.n  # forty vectors
    assert perp.verify(problem, result.x).objective < 0.0  # the start has zero
