"""Conjugate gradients on boxes converge as their theory says: the bounds of Dostál for MPRGP, of CG for a face."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import BoxLCP, gallery
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.gradient.pgcg import PGCG


def objective(problem, x):
    return float(0.5 * x @ (problem.slack(x) + problem.b))


def dostal_bound(A, length, gamma):
    """eta of Dostál 2009; for length <= 1 / |A| it is that of Dostál & Schöberl 2005."""
    eigenvalues = np.linalg.eigvalsh(A)
    norm, least = eigenvalues[-1], eigenvalues[0]
    larger = max(gamma, 1.0 / gamma)
    shorter = min(length, 2.0 / norm - length)
    t = 2.0 * max(length * norm, 1.0)
    return 1.0 - shorter * least / (t + t * larger**2)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("expansion", [0.5, 1.0, 1.9])
@given(problem=st.one_of(strategies.lcps(), strategies.box_lcps()), seed=strategies.SEEDS)
def test_no_step_of_mprgp_reduces_the_error_of_the_objective_by_less_than_dostals_bound(
    gamma, expansion, problem, seed
):
    method = MPRGP(gamma=gamma, expansion=expansion, scaling=False)
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    state = method.start(problem, x)
    eta = dostal_bound(problem.A.to_dense(), state.length, gamma)
    assert 0.0 <= eta < 1.0
    least = objective(problem, perp.solve(problem, "block_principal", tol=1e-12).x)
    before = objective(problem, state.x) - least
    for _ in range(30):
        method.step(problem, state, 1)
        after = objective(problem, state.x) - least
        assert after <= eta * before + 1e-13 * (1.0 + abs(least))
        before = after


@pytest.mark.parametrize("distinct", [1, 2, 4])
@pytest.mark.parametrize("method", [PGCG(preconditioner="none"), MPRGP(scaling=False)], ids=["pgcg", "mprgp"])
def test_without_bounds_as_many_steps_as_there_are_eigenvalues_are_enough(method, distinct):
    rng = np.random.default_rng(distinct)
    Q = np.linalg.qr(rng.standard_normal((24, 24)))[0]
    A = Q @ np.diag(1.0 + np.arange(24) % distinct) @ Q.T
    problem = BoxLCP(0.5 * (A + A.T), rng.standard_normal(24), -np.inf, np.inf)
    state = method.start(problem, np.zeros(24))
    method.step(problem, state, distinct)
    assert perp.verify(problem, state.x).residual < 1e-12
    if distinct > 1:
        state = method.start(problem, np.zeros(24))
        method.step(problem, state, distinct - 1)
        assert perp.verify(problem, state.x).residual > 1e-4


@pytest.mark.parametrize("method", [PGCG(), PGCG(at_bounds="stop"), MPRGP()], ids=["pgcg", "pgcg stop", "mprgp"])
@pytest.mark.parametrize("n", [15, 60])
def test_once_on_the_right_face_the_error_falls_at_least_at_the_rate_of_conjugate_gradients(method, n):
    """|e_k| <= 2 ((root - 1) / (root + 1))^k |e_0| in the norm of A, root = sqrt(condition number)."""
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    x = np.random.default_rng(0).uniform(1.0, 2.0, n)
    problem = perp.LCP(A, -A @ x)
    root = np.sqrt(np.linalg.cond(A))
    state = method.start(problem, x + np.random.default_rng(1).uniform(-0.5, 0.5, n))

    def error():
        return np.sqrt(np.abs((state.x - x) @ A @ (state.x - x)))

    first = error()
    for k in range(1, n):
        method.step(problem, state, 1)
        assert error() <= 2.0 * ((root - 1.0) / (root + 1.0)) ** k * first + 1e-12


@pytest.mark.parametrize("method", [PGCG(), MPRGP()], ids=["pgcg", "mprgp"])
def test_products_grow_with_the_side_of_a_grid_and_not_with_its_square(method):
    """The condition number of a grid of side s is of order s^2, its root of order s; Gauss-Seidel takes s^2 sweeps."""
    counts = []
    for side in (20, 40, 80):
        result = perp.solve(gallery.make("poisson_2d", n=side * side).problem, method, tol=1e-8)
        assert result.success
        counts.append(result.history.counters["products"][-1])
    assert counts[2] <= 2.6 * counts[1] <= 2.6 * 2.6 * counts[0]
