"""APGD on what is singular, infeasible, indefinite, badly scaled or not for it at all."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import Status, gallery
from perp.errors import MethodRefused
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.spg import SPG


def test_a_matrix_that_is_not_symmetric_is_refused_with_the_place():
    A = np.eye(400)
    A[390, 7] = 0.5
    for form in (np.asarray, sparse.csr_array):
        with pytest.raises(MethodRefused, match=r"apgd.*asymmetry.*is 0\.5 .*A\[(390,7|7,390)\]"):
            perp.solve(perp.LCP(form(A), -np.ones(400)), APGD())


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("rank", gallery.make("infeasible_psd", n=90).problem),
        ("fluid", gallery.make("closed_fluid", n=36).problem),
        ("zero matrix", perp.LCP(np.zeros((3, 3)), [1.0, -1.0, 0.0])),
        ("coupled", gallery.make("infeasible").problem),
        ("unsolvable", gallery.make("unsolvable").problem),
        ("free rows", perp.BoxLCP(np.ones((2, 2)), [1.0, -1.0], -np.inf, np.inf)),
        ("cones", perp.ContactProblem(np.zeros((3, 3)), [-1.0, 0.2, 0.0], 0.5, "convex")),
        ("discs", perp.ContactProblem(np.zeros((3, 3)), [-1.0, 0.2, 0.0], 0.5, "disc")),
    ],
)
def test_what_has_no_solution_is_never_called_solved(name, problem):
    result = perp.solve(problem, APGD(), max_iterations=3000)
    assert result.status in (Status.INFEASIBLE, Status.RAY, Status.ITERATION_LIMIT, Status.BREAKDOWN), name
    assert np.isfinite(result.x).all()
    if name in ("rank", "fluid", "zero matrix", "coupled", "free rows"):
        assert result.status is Status.INFEASIBLE
    if name in ("cones", "discs"):
        assert result.status is Status.RAY


@pytest.mark.parametrize("method", [APGD(), SPG()], ids=str)
@pytest.mark.parametrize("kind", ["infeasible_psd", "closed_fluid"])
def test_a_direction_that_is_nearly_flat_is_purified_into_a_proof(method, kind):
    problem = gallery.make(kind).problem
    result = perp.solve(problem, method)
    assert result.status is Status.INFEASIBLE
    assert perp.verify_certificate(problem, result.certificate.u).valid
    assert result.iterations <= 500  # the iterates themselves are not flat after 10,000


def test_purifying_is_left_to_problems_that_store_their_matrix():
    problem = gallery.make("infeasible_psd", n=90).problem
    dense = problem.A.to_dense()
    bare = perp.MatrixFreeOperator(
        LinearOperator((90, 90), matvec=lambda x: dense @ x, dtype=np.float64), np.diag(dense)
    )
    result = perp.solve(perp.LCP(bare, problem.b), APGD(), max_iterations=500)
    assert result.status in (Status.RAY, Status.ITERATION_LIMIT)
    assert result.certificate is None


def test_an_indefinite_matrix_ends_honestly():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((12, 12))
        A = A + A.T
        for problem in (perp.LCP(A, rng.standard_normal(12)), perp.BoxLCP(A, rng.standard_normal(12), -1.0, 1.0)):
            result = perp.solve(problem, APGD(), max_iterations=2000)
            assert np.isfinite(result.x).all()
            assert result.success == (result.residual <= 1e-8)
            assert perp.verify(problem, result.x).bound_violation == 0.0


def test_fixed_and_free_rows():
    problem = perp.BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = perp.solve(problem, APGD())
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, -0.75], atol=1e-8)


def test_an_empty_problem_is_solved():
    result = perp.solve(perp.LCP(np.empty((0, 0)), []), APGD())
    assert (result.status, result.iterations) == (Status.CONVERGED, 0)


def test_rows_of_unlike_size_are_no_obstacle():
    rng = np.random.default_rng(0)
    A, size, b = strategies.spd_matrix(rng, 20), np.logspace(-8, 8, 20), rng.standard_normal(20)
    plain = perp.solve(perp.LCP(A, b), APGD(), tol=1e-12)
    # x reaches from 1e-8 to 1e8, so that no absolute tolerance means the same for all of it: until it stands still
    stop = perp.Stopping(tol=0.0, keep="last", max_iterations=500)
    scaled = perp.solve(perp.LCP(size[:, None] * A * size, size * b), APGD(), stop=stop)
    np.testing.assert_allclose(scaled.x * size, plain.x, atol=1e-10)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_row_53_scaling_the_data_by_an_extreme_factor_changes_nothing(factor):
    rng = np.random.default_rng(1)
    A, b = strategies.spd_matrix(rng, 8), rng.standard_normal(8)
    scaled = perp.solve(perp.LCP(A * factor, b * factor), APGD())
    assert scaled.success
    np.testing.assert_allclose(scaled.x, perp.solve(perp.LCP(A, b), APGD()).x, atol=1e-6)


def test_numbers_that_overflow_end_in_a_breakdown_with_a_finite_x():
    problem = perp.BoxLCP(np.diag([1.0, 1.0]), [1e308, -1e308], -np.inf, np.inf)
    result = perp.solve(problem, APGD())
    assert result.status in (Status.BREAKDOWN, Status.CONVERGED)
    assert np.isfinite(result.x).all()


def test_without_a_tolerance_it_runs_until_nothing_changes():
    result = perp.solve(gallery.make("dense_pd", n=30).problem, APGD(), tol=0.0)
    assert result.status in (Status.STAGNATED, Status.CONVERGED, Status.ITERATION_LIMIT)
    assert result.residual <= 1e-14


def test_friction_without_end_and_none_at_all():
    for friction in (0.0, 1e6):
        problem = gallery.make("box_stack", n=48, model="convex", friction=friction, load="gravity").problem
        result = perp.solve(problem, APGD())
        assert result.success or (friction > 1.0 and result.status is Status.ITERATION_LIMIT)
        assert np.isfinite(result.x).all()
