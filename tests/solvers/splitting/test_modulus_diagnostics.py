"""tau and delta of AMGS Theorem 4.2: as defined, and no guarantee."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import gallery
from perp.errors import InvalidProblem
from perp.solvers.splitting.modulus import AMGS
from perp.solvers.splitting.modulus_diagnostics import modulus_diagnostics


def gauss_seidel_norm(A):
    return np.linalg.norm(np.linalg.solve(np.tril(A), np.triu(A, 1)), 2)


@given(strategies.lcps(), st.floats(0.3, 4.0), st.floats(0.05, 2.0))
def test_tau_and_delta_are_those_of_the_theorem(problem, gamma, alpha):
    A = problem.A.to_dense()
    D, tau = A.diagonal(), gauss_seidel_norm(A)
    for omega, pull in (("diagonal", gamma * alpha * D), ("identity", gamma * alpha * np.ones(problem.n))):
        found = modulus_diagnostics(problem, gamma, omega, alpha)
        delta = 2.0 * (D / (D + pull)).max() * tau + (np.abs(pull - D) / (D + pull)).max()
        assert found.tau == pytest.approx(tau, rel=1e-9, abs=1e-12)
        assert found.delta == pytest.approx(delta, rel=1e-9, abs=1e-12)


@given(strategies.lcps())
def test_delta_is_least_and_equal_to_tau_for_alpha_equal_to_one_over_gamma(problem):  # Remark 4.4, where tau < 1
    best = modulus_diagnostics(problem)
    assert best.delta == pytest.approx(best.tau)
    if best.tau < 1.0:
        for alpha in (0.2, 0.45, 0.55, 1.0):
            assert modulus_diagnostics(problem, alpha=alpha).delta >= best.delta


def test_large_sparse_matrices_have_their_norm_from_lanczos():
    problem = gallery.make("poisson_2d", n=484).problem
    assert modulus_diagnostics(problem).tau == pytest.approx(gauss_seidel_norm(problem.A.to_dense()), rel=1e-8)


def test_lemma_4_1_is_false():
    assert np.linalg.norm(np.array([[1.0, 0.0], [5.0, 1.0]]), 2) > 5.0  # its diagonal has norm 1


def test_an_iteration_may_let_the_error_grow_though_delta_is_below_one():
    A = np.array([[10.0, 0.5], [0.5, 0.05]])
    solution, error = np.ones(2), np.array([0.1, 0.0])
    problem, method = perp.LCP(A, -A @ solution), AMGS(alpha=1.5)
    state = method.start(problem, solution + error)  # off its bounds z = x for gamma = 2
    method.step(problem, state, 1)
    assert modulus_diagnostics(problem, alpha=1.5).delta < 0.8
    assert np.linalg.norm(state.x - solution) > 2.0 * np.linalg.norm(error)
    assert perp.solve(problem, method).success


def test_amgs_converges_where_delta_is_above_one():
    problem = gallery.make("dense_pd", n=30, condition=300.0).problem
    assert modulus_diagnostics(problem, alpha=0.1).delta > 1.0
    assert perp.solve(problem, AMGS(alpha=0.1)).success


def test_a_diagonal_that_is_not_positive_is_refused():
    with pytest.raises(InvalidProblem, match=r"A\[1,1\] is 0"):
        modulus_diagnostics(perp.LCP(np.diag([1.0, 0.0]), np.ones(2)))
    assert modulus_diagnostics(perp.LCP(np.zeros((0, 0)), np.zeros(0))).delta == 0.0
