"""The last digits of contact problems: every friction model, in every form of A, degenerate and redundant contacts."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.problems.friction import MODELS, ContactProblem
from perp.problems.residuals import Watch
from perp.solvers.polishing import polish as polish_contacts
from perp.solvers.polishing import polish as polishing
from perp.solvers.polishing.polish import polish


def residual_of(problem: ContactProblem, x: np.ndarray) -> float:
    return Watch(problem).look(np.array(x))[0]


def scaled_residual(problem: ContactProblem, x: np.ndarray) -> float:
    residual, cold = residual_of(problem, x), residual_of(problem, np.zeros(problem.n))
    return 0.0 if residual == 0.0 else residual / min(cold, max(1.0, np.abs(x).max()))


def rounding(problem: ContactProblem, x: np.ndarray) -> float:
    """What rounding errors of y = A x + b can amount to."""
    return float(2.0**-52 * np.max(np.abs(problem.A.to_dense()) @ np.abs(x) + np.abs(problem.b)))


def stack(model: str, seed: int = 0, **options: object) -> ContactProblem:
    problem = gallery.make("box_stack", n=90, model="cone" if model == "disc" else model, seed=seed, **options).problem
    assert isinstance(problem, ContactProblem)
    if model == "disc":
        radii = np.random.default_rng(seed).uniform(0.0, 0.3, problem.contacts)
        return problem.with_model("disc", radii=radii)
    return problem


def stopped_early(problem: ContactProblem, tol: float) -> np.ndarray:
    method = "apgd" if problem.model == "convex" else "block_gauss_seidel"
    return np.array(perp.solve(problem, method, tol=tol, max_iterations=5000).x)


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
@pytest.mark.parametrize(
    "shares", [{}, {"degenerate": 0.3, "active": 0.3, "sliding": 0.3}], ids=["plain", "degenerate"]
)
@pytest.mark.parametrize("model", MODELS)
def test_stacks_reach_twelve_digits(model, shares, tol):
    problem = stack(model, seed=2, **shares)
    given_x = stopped_early(problem, tol)
    polished = polish(problem, given_x)
    assert polished is not None
    assert polished.residual == residual_of(problem, polished.x) < residual_of(problem, given_x)
    assert scaled_residual(problem, polished.x) < 1e-12
    np.testing.assert_array_equal(problem.project(polished.x), polished.x)
    assert "Newton steps" in polished.how


def test_steps_are_shortened_where_degenerate_contacts_go_to_and_fro(monkeypatch):
    problem = stack("box", seed=2, degenerate=0.3, active=0.3, sliding=0.3)
    given_x = stopped_early(problem, 1e-6)
    monkeypatch.setattr(polish_contacts, "LENGTHS", (1.0,))
    polished = polish(problem, given_x)
    assert scaled_residual(problem, given_x if polished is None else polished.x) > 1e-12


@pytest.mark.parametrize("model", ["box", "cone"])
def test_the_linear_system_of_the_states_has_the_same_answer(model):
    """A readable twin for a block that is pushed: it sticks, or slides at friction x_n against the slip."""
    problem = gallery.make("rolling_sphere", speed=3.0, spin=0.0, heading=0.0, model=model).problem
    x = np.array(perp.solve(problem, "block_gauss_seidel", tol=1e-14, max_iterations=100_000).x)
    y = problem.slack(x)
    A, b = problem.A.to_dense(), problem.b
    slip = y[1:] / np.linalg.norm(y[1:]) if model == "cone" else np.sign(np.where(np.abs(y[1:]) > 1e-9, y[1:], 0.0))
    pushed = np.array([1.0, *(-problem.friction[0] * slip)])  # x = x_n (1, -friction slip)
    twin = pushed * (-b[0] / (A[0] @ pushed))  # y_n = 0
    polished = polish(problem, problem.project(twin + 1e-6))
    assert polished is not None
    np.testing.assert_allclose(polished.x, twin, atol=1e-13)


@settings(deadline=None, max_examples=40)
@given(strategies.contact_problems(), strategies.SEEDS, st.sampled_from([1e-8, 1e-3, 1.0]), st.sampled_from(MODELS))
def test_an_answer_is_better_and_allowed_or_there_is_none(problem, seed, size, model):
    if model == "disc":
        problem = problem.with_model("disc", radii=0.1)
    elif model == "convex":
        problem = problem.with_model("convex")
    given_x = size * np.random.default_rng(seed).standard_normal(problem.n)
    polished = polish(problem, given_x)
    if polished is not None:
        assert polished.residual == residual_of(problem, polished.x) < residual_of(problem, given_x)
        np.testing.assert_array_equal(problem.project(polished.x), polished.x)


@settings(deadline=None, max_examples=25)
@given(strategies.contact_problems(), strategies.SEEDS)
def test_contacts_in_another_order_give_the_answer_in_that_order(problem, seed):
    result = perp.solve(problem, "cone_newton", tol=1e-10)
    if not result.success:
        return
    contacts = np.random.default_rng(seed).permutation(problem.contacts)
    order = np.concatenate(
        [(3 * contacts[:, None] + np.arange(3)).reshape(-1), np.arange(problem.contact_rows, problem.n)]
    )
    A = problem.A.to_dense()[np.ix_(order, order)]
    bounds = {"lower": problem.lower, "upper": problem.upper}
    other = perp.ContactProblem(A, problem.b[order], problem.friction[contacts], problem.model, **bounds)
    x = problem.project(np.array(result.x) + 1e-7)
    one, two = polish(problem, x), polish(other, x[order])
    best = [x if one is None else one.x, x[order] if two is None else two.x]
    assert scaled_residual(problem, best[0]) < 1e-12
    assert scaled_residual(other, best[1]) < 1e-12


@pytest.mark.parametrize("model", MODELS)
def test_every_form_of_a_matrix_reaches_the_same_digits(model):
    rng = np.random.default_rng(3)
    operator = strategies.factored_operator(rng, 4, 2)
    b, friction = rng.standard_normal(14), np.array([0.0, 0.3, 0.5, 0.9])
    options = {"lower": [-np.inf, -0.5], "upper": [np.inf, 0.5]}
    A = operator.to_dense()
    product = LinearOperator(A.shape, matvec=A.dot, dtype=float)
    forms = {form: strategies.in_form(operator, form) for form in strategies.FORMS}
    forms |= {"product": perp.MatrixFreeOperator(product)}
    exact = None
    for form, matrix in forms.items():
        problem = perp.ContactProblem(matrix, b, friction, model, **options)
        if exact is None:
            exact = np.array(perp.solve(problem, "cone_newton", tol=1e-13).x)
        polished = polish(problem, problem.project(exact + 1e-6))
        assert polished is not None, form
        assert scaled_residual(problem, polished.x) < 1e-13, form
        np.testing.assert_allclose(problem.slack(polished.x), problem.slack(exact), atol=1e-11, err_msg=form)


@pytest.mark.parametrize("model", ["box", "convex"])
def test_large_products_with_a_diagonal_are_polished_and_without_one_left_alone(model, monkeypatch):
    monkeypatch.setattr(polishing, "MOST_PRODUCTS", 20)
    problem = gallery.make("box_stack", n=90, model=model, compliance=1e-2).problem
    A = problem.A.to_dense()
    product = LinearOperator(A.shape, matvec=A.dot, dtype=float)
    x = stopped_early(problem, 1e-6)
    known = perp.ContactProblem(perp.MatrixFreeOperator(product, np.diag(A).copy()), problem.b, problem.friction, model)
    polished = polish(known, x)
    assert polished is not None
    assert scaled_residual(known, polished.x) < 1e-12
    assert polish(perp.ContactProblem(perp.MatrixFreeOperator(product), problem.b, problem.friction, model), x) is None


@pytest.mark.parametrize("name", ["block_on_incline", "pinched_capsule", "heavy_on_light", "painleve_step"])
@pytest.mark.parametrize("model", ["box", "cone"])
def test_small_scenes_reach_twelve_digits_or_rounding_errors_of_the_slack(name, model):
    problem = gallery.make(name, model=model).problem
    given_x = problem.project(np.array(perp.solve(problem, "cone_newton", tol=1e-12).x) + 1e-7)
    polished = polish(problem, given_x)
    assert polished is not None
    assert scaled_residual(problem, polished.x) < 1e-12 or polished.residual < rounding(problem, polished.x)


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_compliances_far_below_the_shift_are_not_hidden_by_it(model, monkeypatch):
    """Contacts of a face that only a compliance of 1e-9 tells apart."""
    stiff = gallery.make("box_on_points", model=model).problem
    problem = perp.ContactProblem(stiff.A.to_dense() + 1e-9 * np.eye(stiff.n), stiff.b, stiff.friction, model)
    x = np.array(perp.solve(problem, "cone_newton", tol=1e-10).x)
    given_x = problem.project(x + 1e-6 * np.cos(np.arange(problem.n)))
    polished = polish(problem, given_x)
    assert polished is not None
    assert scaled_residual(problem, polished.x) < 1e-13
    monkeypatch.setattr(polish_contacts, "SMALLER_SHIFTS", ())
    hidden = polish(problem, given_x)
    assert hidden is not None
    assert scaled_residual(problem, hidden.x) > 1e-11


def test_contacts_in_a_plane_are_polished():
    rng = np.random.default_rng(4)
    A = strategies.spd_matrix(rng, 8)
    for model in MODELS:
        problem = perp.ContactProblem(A, rng.standard_normal(8) - 1.0, 0.4, model, dimension=2)
        x = np.array(perp.solve(problem, "cone_newton", tol=1e-12).x)
        polished = polish(problem, problem.project(x + 1e-6))
        assert polished is not None
        assert scaled_residual(problem, polished.x) < 1e-13
