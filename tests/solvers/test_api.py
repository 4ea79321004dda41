"""`perp.solve`: choosing, refusing, judging."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

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


def test_a_refusal_names_the_reason_and_the_methods_that_would_work():
    A = np.eye(2)
    matrix_free = perp.MatrixFreeOperator(aslinearoperator(A), A.diagonal())
    with pytest.raises(MethodRefused, match=r"pgs refuses: it needs 'rows' of A.*would work: jacobi"):
        perp.solve(perp.LCP(matrix_free, np.ones(2)), "pgs")
    with pytest.raises(MethodRefused, match="pgs refuses: it divides by the diagonal"):
        perp.solve(perp.LCP([[0.0]], [1.0]), "pgs")


def test_suitable_methods_are_those_that_do_not_refuse():
    names = [method.name for method in suitable_methods(perp.LCP(sparse.csr_array(np.eye(3)), np.ones(3)))]
    assert {"jacobi", "pgs", "psor", "symmetric_psor"} <= set(names)
    assert "pgs" not in [method.name for method in suitable_methods(perp.LCP([[0.0]], [1.0]))]


@pytest.mark.parametrize(("word", "meant"), [("maxiter", "max_iterations"), ("to", "tol"), ("x_0", "x0")])
def test_a_misspelt_argument_is_answered_with_the_one_that_was_meant(word, meant):
    for method in ("auto", "pgs"):
        with pytest.raises(TypeError, match=f"(did you mean|known here as).*'{meant}'"):
            perp.solve(perp.LCP([[1.0]], [1.0]), method, **{word: 1})


@pytest.mark.parametrize("method", ["pgs", "jacobi"])
@pytest.mark.parametrize("exponent", [-300, -100, -12, -9, -6, -3, 0, 3, 6, 9, 12, 100, 300])
def test_the_answer_does_not_depend_on_the_scale_of_the_data(method, exponent):
    factor = 10.0**exponent
    A, b = np.array([[4.0, -1.0], [-1.0, 4.0]]) * factor, np.array([-3.0, -2.0]) * factor
    for form in (A, sparse.csr_array(A)):
        result = perp.solve(perp.LCP(form, b), method)
        assert result.success
        np.testing.assert_allclose(result.x, [14 / 15, 11 / 15], atol=1e-4)
    contact = perp.ContactProblem(np.eye(3) * factor, np.array([-1.0, 0.1, 0.1]) * factor, 0.5)
    np.testing.assert_allclose(perp.solve(contact, method).x, [1.0, -0.1, -0.1], atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_data_that_no_scaling_can_hold_end_in_a_status_not_in_an_exception():
    assert not perp.solve(perp.LCP([[1e-300]], [-1e10]), "pgs").success
    for form in (np.asarray, sparse.csr_array):
        result = perp.solve(perp.LCP(form([[1e-300, 1e20], [0.0, 1.0]]), [1.0, -1.0]), "pgs")
        assert np.isfinite(result.x).all()


def test_best_so_far_tells_divergence_and_cycles_like_the_method_that_it_wraps():
    diverging = perp.BoxLCP([[1.0, 20.0], [30.0, 1.0]], [-1.0, -1.1], -np.inf, np.inf)
    assert perp.solve(diverging, perp.best_so_far(perp.PGS()), max_iterations=2000).status is perp.Status.BREAKDOWN
    cyclic = perp.LCP([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], -np.ones(3))
    assert perp.solve(cyclic, perp.best_so_far(perp.PGS())).status is perp.Status.CYCLING


def test_results_compare_by_identity():
    problem = perp.LCP([[1.0]], [-1.0])
    result = perp.solve(problem)
    assert result == result
    assert result != perp.solve(problem)
    assert {result}


def test_warming_up_loads_the_kernels_and_changes_nothing():
    assert perp.warm_up() is None


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


@given(st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems()))
def test_jacobi_steps_are_those_of_its_twin(problem):
    method = perp.Jacobi(damping=0.4)
    x = problem.project(np.zeros(problem.n))
    state = method.start(problem, x.copy())
    for _ in range(5):
        method.step(problem, state, 1)
        x = twins.jacobi_step(problem, x, 0.4)
        np.testing.assert_allclose(state.x, x, atol=1e-12)


def test_jacobi_solves_cone_friction_with_nothing_but_a_product_and_the_diagonal():
    rng = np.random.default_rng(0)
    A, b = strategies.spd_matrix(rng, 6), rng.standard_normal(6)
    product = perp.MatrixFreeOperator(aslinearoperator(A), A.diagonal())
    found = perp.solve(perp.ContactProblem(product, b, 0.5, "cone"))
    assert found.success
    np.testing.assert_allclose(found.x, perp.solve(perp.ContactProblem(A, b, 0.5, "cone"), "pgs").x, atol=1e-6)


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


def test_the_residual_computed_last_decides_about_success():
    """A product that turns faulty after the loop was content: no success, whatever the loop saw."""
    calls = []

    def product(v):
        calls.append(1)
        return np.full(2, np.nan) if len(calls) > 1 else 2.0 * v

    operator = LinearOperator((2, 2), matvec=product, dtype=np.float64)
    problem = perp.LCP(perp.MatrixFreeOperator(operator, diagonal=[2.0, 2.0]), [-2.0, -4.0])
    result = perp.solve(problem, "jacobi", x0=[1.0, 2.0])  # the solution: one product tells the loop
    assert result.status is perp.Status.BREAKDOWN
    assert np.isnan(result.residual)


def test_a_refusal_of_options_says_that_the_defaults_would_do():
    operator = LinearOperator((3, 3), matvec=lambda v: 2.0 * v, dtype=np.float64)
    with pytest.raises(MethodRefused, match=r"'none' needs nothing.*mprgp with its default options"):
        perp.solve(perp.LCP(operator, -np.ones(3)), "mprgp", preconditioner="ic0")


def test_auto_takes_another_method_where_the_diagonal_has_zeros():
    stack = perp.gallery.make("box_stack", n=48, model="cone").problem
    assert perp.solve(perp.stewart_trinkle(stack, 4)).success
    planar = perp.ContactProblem(np.diag([1.0, 1.0, 0.0]), [-1.0, -0.2, 0.0], 0.5, "cone")
    assert perp.solve(planar).success


def test_a_wrapper_that_refuses_does_not_recommend_what_it_wraps():
    stack = perp.gallery.make("box_stack", n=48, model="cone").problem
    warm = perp.warm_started_by(perp.PGS(), 5, model="convex")(perp.ConeNewton())
    with pytest.raises(perp.errors.MethodRefused, match="its starter pgs would refuse") as refusal:
        perp.solve(stack, warm)
    assert "would work" not in str(refusal.value)
