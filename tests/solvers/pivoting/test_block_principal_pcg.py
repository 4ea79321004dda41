"""Block principal pivoting with conjugate gradients inside (THESIS Algorithm 10)."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import BlockPrincipal, BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.linalg.preconditioners import ICT, BlockJacobiPreconditioner

PRECONDITIONERS = ("none", "jacobi", "block_jacobi", "symmetric_gauss_seidel", "ic0", "ict", "imaginary_ic0", "scaled")
PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())


def pcg(preconditioner="jacobi", **options):
    return BlockPrincipal(linear="pcg", preconditioner=preconditioner, **options)


# -- the claims of the thesis -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("dense_pd", {"n": 100}),
        ("boxed_pd", {"n": 100}),
        ("poisson_2d", {"n": 400}),
        ("fluid_like", {"n": 216}),
        ("boxed_stack", {"n": 96, "compliance": 1e-2}),
    ],
)
def test_as_many_outer_iterations_as_with_a_factor_where_inner_solves_are_tight(kind, options, preconditioner):
    problem = gallery.make(kind, **options).problem
    direct = perp.solve(problem, BlockPrincipal(), tol=1e-10)
    inner = perp.solve(problem, pcg(preconditioner, inner_tolerance=1e-12), tol=1e-10)
    assert direct.success
    assert inner.success
    assert inner.iterations == direct.iterations
    assert inner.history.counters["inner_failures"][-1] == 0
    np.testing.assert_allclose(inner.x, direct.x, atol=1e-7)


@given(problem=PROBLEMS, seed=strategies.SEEDS, preconditioner=st.sampled_from(PRECONDITIONERS))
def test_the_index_sets_are_those_of_the_direct_method(problem, seed, preconditioner):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2))
    walks = []
    for method in (BlockPrincipal(), pcg(preconditioner, inner_tolerance=1e-13)):
        state = method.start(problem, x.copy())
        walk = []
        while state.ended is None:
            walk.append(state.sets.tolist())
            method.step(problem, state, 1)
        walks.append(walk)
        assert state.ended[0] is Status.REDUCED_ACCURACY
    assert walks[0] == walks[1]


@given(problem=PROBLEMS, seed=strategies.SEEDS, tolerance=st.sampled_from([1e-3, 1e-6, 1e-10]))
def test_rough_inner_solves_still_end_at_the_solution(problem, seed, tolerance):
    x0 = np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2)
    result = perp.solve(problem, pcg(inner_tolerance=tolerance), tol=1e-10, x0=x0)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, perp.solve(problem, "dantzig", tol=1e-10).x, atol=1e-7)


def test_a_better_preconditioner_takes_fewer_inner_iterations():
    problem = gallery.make("poisson_2d", n=2500).problem
    inner = {}
    for name in ("none", "jacobi", "symmetric_gauss_seidel", "imaginary_ic0", "ict"):
        result = perp.solve(problem, pcg(name), tol=1e-9)
        assert result.success
        inner[name] = result.history.counters["inner_iterations"][-1]
    assert inner["jacobi"] <= inner["none"]  # the diagonal is constant
    assert inner["ict"] < inner["imaginary_ic0"] < inner["symmetric_gauss_seidel"] < 0.5 * inner["jacobi"]


def test_friction_bounds_follow_the_normal_impulses_as_with_a_factor():
    problem = gallery.make("box_stack", n=96, compliance=1e-3).problem  # with it the impulses are unique
    direct = perp.solve(problem, BlockPrincipal(), tol=1e-8)
    inner = perp.solve(problem, pcg("block_jacobi"), tol=1e-8)
    assert direct.success
    assert inner.success
    assert inner.history.counters["bound_updates"][-1] == direct.history.counters["bound_updates"][-1] > 0


def test_adaptive_regularisation_and_its_removal_work_with_it():
    """Algorithm 9 in Algorithm 10: rows that pivot often are softened, and the asked problem is solved from there."""
    problem = gallery.make("boxed_stack", n=300, compliance=1e-3).problem
    method = pcg("ict", regularisation=1e-2, pivot_limit=1)
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    softened = False
    while state.ended is None:
        method.step(problem, state, 1)
        softened |= bool(state.softening.any())
    assert softened
    assert state.hardened
    assert not state.softening.any()
    result = perp.solve(problem, method, tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, BlockPrincipal(), tol=1e-9).x, atol=1e-5)


@pytest.mark.parametrize("kind", ["boxed_pd", "poisson_2d"])
def test_a_warm_start_from_its_own_solution_takes_at_most_one_iteration(kind):
    problem = gallery.make(kind, n=100).problem
    cold = perp.solve(problem, pcg(), tol=1e-10)
    assert perp.solve(problem, pcg(), tol=1e-10, x0=cold).iterations <= 1


@pytest.mark.parametrize("fallback", ["parametric", "progress", "count"])
def test_every_fallback_works_on_inner_solves(fallback):
    problem = gallery.make("boxed_stack", n=96, compliance=1e-3, mass_ratio=100.0).problem
    result = perp.solve(problem, pcg("ict", fallback=fallback, inner_tolerance=1e-12), tol=1e-9)
    assert result.success, result.message


def test_steps_of_two_and_three_are_a_step_of_five():
    problem = gallery.make("boxed_stack", n=96, compliance=1e-3).problem
    method = pcg("symmetric_gauss_seidel")
    states = [method.start(problem, problem.project(np.zeros(problem.n))) for _ in range(2)]
    method.step(problem, states[0], 0)
    for count in (2, 3):
        method.step(problem, states[0], count)
    method.step(problem, states[1], 5)
    np.testing.assert_array_equal(states[0].x, states[1].x)
    assert states[0].counters == states[1].counters


# -- matrix-free ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preconditioner", ["none", "jacobi", "block_jacobi"])
def test_a_factored_a_is_never_formed(preconditioner, monkeypatch):
    problem = gallery.make("boxed_stack", n=96, compliance=1e-2).problem
    monkeypatch.setattr(perp.FactoredOperator, "to_sparse", lambda self: pytest.fail("A was formed"))
    assert perp.solve(problem, pcg(preconditioner), tol=1e-9).success


def test_a_bare_product_with_a_diagonal_is_enough():
    example = gallery.make("poisson_2d", n=400)
    A = example.problem.A
    bare = perp.LCP(perp.MatrixFreeOperator(sparse.csr_array(A.to_sparse()), A.diagonal()), example.problem.b)
    result = perp.solve(bare, pcg("jacobi"), tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)
    with pytest.raises(MethodRefused, match="linear='direct' needs 'to_sparse'"):
        perp.solve(bare, BlockPrincipal())
    with pytest.raises(MethodRefused, match="'imaginary_ic0' needs to_sparse"):
        perp.solve(bare, pcg("imaginary_ic0"))
    with pytest.raises(MethodRefused, match="it needs 'diagonal'"):
        perp.solve(perp.LCP(perp.MatrixFreeOperator(A.to_sparse()), example.problem.b), pcg("none"))


# -- honest ends ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_an_infeasible_problem_is_proved_infeasible(preconditioner):
    result = perp.solve(gallery.make("infeasible_psd", n=30, rank=12).problem, pcg(preconditioner))
    assert result.status is Status.INFEASIBLE
    assert perp.verify_certificate(result.problem, result.certificate.u).valid


@given(seed=strategies.SEEDS, n=st.integers(2, 20), planted=st.booleans())
def test_no_status_lies_on_semidefinite_problems(seed, n, planted):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, max(1, n // 2)))
    A = J @ J.T
    x = rng.exponential(size=n) * (rng.random(n) < 0.5)
    b = np.where(x > 0.0, 0.0, rng.exponential(size=n)) - A @ x if planted else rng.standard_normal(n)
    problem = perp.LCP(A, b)
    result = perp.solve(problem, pcg())
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation == 0.0
    assert result.success == (found.residual <= 1e-8)
    if result.status is Status.INFEASIBLE:
        assert not planted
        assert perp.verify_certificate(problem, result.certificate.u).valid


def test_row_58_negative_curvature_is_a_breakdown():
    problem = BoxLCP(np.array([[1.0, 2.0], [2.0, 1.0]]), [-1.0, 1.0], -np.inf, np.inf)
    result = perp.solve(problem, pcg("none"))
    assert result.status is Status.BREAKDOWN
    assert "negative curvature" in result.message


def test_an_inner_limit_that_is_too_small_is_a_breakdown_that_says_so():
    problem = BoxLCP(gallery.make("poisson_2d", n=400).problem.A, np.sin(np.arange(400.0)), -np.inf, np.inf)
    result = perp.solve(problem, pcg("none", inner_iterations=1))
    assert result.status is Status.BREAKDOWN
    assert "iteration limit" in result.message
    assert result.history.counters["inner_failures"][-1] > 0
    assert np.isfinite(result.x).all()


def test_row_57_a_matrix_that_is_not_symmetric_is_refused():
    with pytest.raises(MethodRefused, match="A must be symmetric"):
        perp.solve(gallery.make("dense_p", n=20).problem, pcg())


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_badly_scaled_rows_are_solved_as_far_as_with_a_factor(scale):
    rng = np.random.default_rng(0)
    D = np.diag(scale ** rng.uniform(0.0, 1.0, 30))
    problem = perp.LCP(D @ strategies.spd_matrix(rng, 30) @ D, D @ rng.standard_normal(30))
    inner, direct = (perp.solve(problem, method, tol=1e-10) for method in (pcg(), BlockPrincipal()))
    assert inner.status is direct.status  # x of 1e8 has no digits beyond 1e-8
    assert inner.residual <= max(2.0 * direct.residual, 1e-10)
    np.testing.assert_allclose(D @ inner.x, D @ direct.x, atol=1e-9)


@pytest.mark.parametrize("tolerance", [0.1, 1e-3, 1e-10])
def test_rough_inner_solves_of_badly_scaled_rows_are_refined_in_units_of_their_own(tolerance):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        D = np.diag(1e8 ** rng.uniform(-0.5, 0.5, 30))
        problem = perp.LCP(D @ strategies.spd_matrix(rng, 30) @ D, D @ rng.standard_normal(30))
        assert perp.solve(problem, pcg(inner_tolerance=tolerance)).success


def test_without_a_preconditioner_a_condition_beyond_all_digits_is_a_breakdown():
    rng = np.random.default_rng(29)
    D = np.diag(1e8 ** rng.uniform(-0.5, 0.5, 30))
    problem = perp.LCP(D @ strategies.spd_matrix(rng, 30) @ D, D @ rng.standard_normal(30))
    result = perp.solve(problem, pcg("none"))
    assert result.status is Status.BREAKDOWN
    assert "could not be solved for" in result.message


# -- options ----------------------------------------------------------------------------------------------------------


def test_options_are_checked_when_the_method_is_made():
    with pytest.raises(ValueError, match="did you mean 'pcg'"):
        BlockPrincipal(linear="pcgg")
    with pytest.raises(ValueError, match="did you mean 'jacobi'"):
        pcg("jacoby")
    with pytest.raises(ValueError, match="inner_tolerance is 0"):
        pcg(inner_tolerance=0.0)
    with pytest.raises(ValueError, match=r"at most 0\.1"):
        pcg(inner_tolerance=0.2)
    with pytest.raises(ValueError, match="inner_iterations is 0"):
        pcg(inner_iterations=0)


@pytest.mark.parametrize("recipe", [BlockJacobiPreconditioner(size=2), ICT(drop_tolerance=0.1)])
def test_a_preconditioner_may_be_given_with_its_options(recipe):
    assert perp.solve(gallery.make("poisson_2d", n=400).problem, pcg(recipe), tol=1e-9).success
