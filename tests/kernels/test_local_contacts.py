"""The exact solve of one contact, and the sweeps made of it, against readable twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

import perp
from perp import BlockGaussSeidel
from perp.solvers.splitting.block_gauss_seidel import padded_blocks

MODELS = ["box", "cone", "convex", "disc"]
FRICTION = [0.0, 1e-3, 0.1, 0.5, 1.0, 3.0, 30.0]


def solve_one(model, W, q, friction):
    """The impulse of a single contact with slack W x + q, by cases and by a root that brackets alone find."""
    if model == "box":
        return box_by_cases(W, q, friction)
    if model == "cone":
        return coulomb_by_cases(W, q, friction)
    return convex_by_gradients(model, W, q, friction)


def coulomb_by_cases(W, q, friction):
    if q[0] >= 0:
        return np.zeros(3)
    sticking = np.linalg.solve(W, -q)
    if np.linalg.norm(sticking[1:]) <= friction * sticking[0]:
        return sticking
    if friction == 0.0:
        return np.array([-q[0] / W[0, 0], 0.0, 0.0])

    def impulse(alpha):  # y_n = 0, y_t = -alpha x_t
        return np.linalg.solve(W + alpha * np.diag([0.0, 1.0, 1.0]), -q)

    def excess(alpha):
        x = impulse(alpha)
        return friction * x[0] - np.linalg.norm(x[1:])

    high = 1.0
    while excess(high) < 0.0:
        high *= 2.0
    return impulse(brentq(excess, 0.0, high, xtol=1e-15, rtol=1e-15))


def box_by_cases(W, q, friction):
    if q[0] >= 0:
        return np.zeros(3)
    found = []
    for sides in itertools.product((0, -1, 1), repeat=2):
        E = np.eye(3)  # x = E (n and the free tangents)
        for tangent, side in enumerate(sides, start=1):
            if side:
                E[tangent] = [side * friction, 0.0, 0.0]
        rows = [0] + [tangent for tangent, side in enumerate(sides, start=1) if not side]
        x = E[:, rows] @ np.linalg.solve((W @ E)[np.ix_(rows, rows)], -q[rows])
        y = W @ x + q
        wrong = [-x[0]] + [
            side * y[tangent] if side else abs(x[tangent]) - friction * x[0]
            for tangent, side in enumerate(sides, start=1)
        ]
        found.append((max(wrong), x))
    return min(found, key=lambda case: max(case[0], 0.0))[1]


def convex_by_gradients(model, W, q, friction):
    """Many projected gradient steps, accelerated: slow, and right."""
    problem = perp.ContactProblem(W, q, [friction], model)
    x = z = np.zeros(3)
    t, length = 1.0, 1.0 / np.linalg.eigvalsh(W)[-1]
    for _ in range(20_000):
        new = problem.project(z - length * (W @ z + q))
        if (z - new) @ (new - x) > 0.0:
            t = 1.0
        t_new = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        z = new + (t - 1.0) / t_new * (new - x)
        if np.array_equal(new, x):
            break
        x, t = new, t_new
    return x


def one_sweep(problem, x0, method=None):
    method = method or BlockGaussSeidel()
    state = method.start(problem, x0.copy())
    method.step(problem, state, 1)
    return state.x


@given(
    st.integers(0, 10_000),
    st.sampled_from(MODELS),
    st.sampled_from(FRICTION),
    st.sampled_from([2, 3]),
    st.floats(-5.0, 0.0),
)
def test_a_single_contact_is_solved_by_one_sweep_from_anywhere(seed, model, friction, dimension, exponent):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((dimension, dimension))
    problem = perp.ContactProblem(
        G @ G.T + 10.0**exponent * np.eye(dimension),
        rng.standard_normal(dimension),
        [friction],
        model,
        dimension=dimension,
    )
    x = one_sweep(problem, problem.project(rng.standard_normal(dimension)))
    scale = 1.0 + np.abs(problem.A.to_dense()).max() * np.abs(x).max()
    assert perp.verify(problem, x).residual <= 1e-9 * scale


@given(st.integers(0, 10_000), st.sampled_from(MODELS), st.sampled_from(FRICTION[:-1]))
def test_a_single_contact_has_the_impulse_of_its_twin(seed, model, friction):
    rng = np.random.default_rng(seed)
    W = strategies.spd_matrix(rng, 3)
    q = rng.standard_normal(3)
    problem = perp.ContactProblem(W, q, [friction], model)
    twin = solve_one(model, W, q, friction)
    np.testing.assert_allclose(one_sweep(problem, np.zeros(3)), twin, rtol=1e-7, atol=1e-7 * np.abs(twin).max() + 1e-12)


@pytest.mark.parametrize("model", ["box", "cone"])
@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.3])
def test_a_sweep_visits_contacts_and_then_rows_as_its_twin_does(model, relaxation):
    rng = np.random.default_rng(5)
    operator = strategies.factored_operator(rng, contacts=4, others=3)
    b, friction = rng.standard_normal(operator.n), rng.uniform(0.2, 1.0, 4)
    A = operator.to_dense()
    for form in strategies.FORMS:
        problem = perp.ContactProblem(
            strategies.in_form(operator, form),
            b,
            friction,
            model,
            lower=[-0.1, 0.0, -np.inf],
            upper=[0.1, np.inf, np.inf],
        )
        W = padded_blocks(problem) / relaxation
        method, twin = BlockGaussSeidel(relaxation), np.zeros(problem.n)
        state = method.start(problem, twin.copy())
        for _ in range(4):
            method.step(problem, state, 1)
            for c in range(problem.contacts):
                rows = slice(3 * c, 3 * c + 3)
                y = A[rows] @ twin + b[rows]
                twin[rows] = solve_one(model, W[c], y - W[c] @ twin[rows], friction[c])
            for k, i in enumerate(range(problem.contact_rows, problem.n)):
                moved = twin[i] - relaxation * (A[i] @ twin + b[i]) / A[i, i]
                twin[i] = np.clip(moved, problem.lower[k], problem.upper[k])
            np.testing.assert_allclose(state.x, twin, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from(MODELS))
def test_all_forms_of_the_same_matrix_give_the_same_block_iterates(seed, model):
    rng = np.random.default_rng(seed)
    operator = strategies.factored_operator(rng, contacts=4, others=2)
    b, friction = rng.standard_normal(operator.n), rng.uniform(0, 1, 4)
    runs = []
    for form in strategies.FORMS:
        problem = perp.ContactProblem(strategies.in_form(operator, form), b, friction, model, extra_rows=2)
        method = BlockGaussSeidel()
        state = method.start(problem, np.zeros(problem.n))
        method.step(problem, state, 5)
        runs.append(state.x)
    for run in runs[1:]:
        np.testing.assert_allclose(run, runs[0], rtol=1e-8, atol=1e-8)
