"""The splitting methods converge at the rates that theory gives, on matrices whose rates are known."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery


def measured_factor(problem, method, solution):
    """The factor by which an iteration shrinks the error: the slope of its logarithm between 1e-7 and 1e-12."""
    state = method.start(problem, solution + np.random.default_rng(0).uniform(0.0, 1e-2, problem.n))
    errors = [np.inf]
    while errors[-1] > 1e-12 and len(errors) < 20_000:
        method.step(problem, state, 1)
        errors.append(np.linalg.norm(state.x - solution))
    settled = np.array([error for error in errors if error < 1e-7])
    assert len(settled) > 10
    return np.exp(np.polyfit(np.arange(len(settled)), np.log(settled), 1)[0])


def line(n=15):
    """The 1-D Laplacian with a load that lifts every row off its bound: then the LCP is a linear system."""
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    x = np.full(n, 2.0)
    return perp.LCP(A, -A @ x), x


COSINE = np.cos(np.pi / 16)  # the spectral radius of Jacobi on that line


@pytest.mark.parametrize(
    ("method", "factor"),
    [
        (perp.Jacobi(damping=1.0), COSINE),
        (perp.Jacobi(damping=0.5), 0.5 + 0.5 * COSINE),
        (perp.PGS(), COSINE**2),
        (perp.PGS(order="backward"), COSINE**2),
        (perp.PSOR(relaxation=1.0), COSINE**2),
    ],
    ids=["jacobi", "damped jacobi", "pgs", "backward pgs", "psor 1.0"],
)
def test_the_linear_factor_on_the_laplacian_is_youngs(method, factor):
    problem, x = line()
    assert measured_factor(problem, method, x) == pytest.approx(factor, rel=1e-3)


@pytest.mark.parametrize("relaxation", [1.1, 1.3, 1.5])
def test_over_relaxation_follows_youngs_formula_below_its_optimum(relaxation):
    # Young 1954: for a consistently ordered matrix sqrt(rate) solves rate + w - 1 = w mu sqrt(rate).
    root = (relaxation * COSINE + np.sqrt((relaxation * COSINE) ** 2 - 4 * (relaxation - 1))) / 2
    problem, x = line()
    assert measured_factor(problem, perp.PSOR(relaxation), x) == pytest.approx(root**2, rel=1e-3)


def iteration_matrix(A, relaxation, backward=False):
    """M^-1 N of SOR: x_new = x - M^-1 relaxation (A x + b), M = D + relaxation L (NOTES 5.2 forgets it beside b)."""
    triangle = np.triu(A, 1) if backward else np.tril(A, -1)
    M = np.diag(A.diagonal()) + relaxation * triangle
    return np.eye(len(A)) - np.linalg.solve(M, relaxation * A)


@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.4])
@pytest.mark.parametrize("seed", [0, 1])
def test_once_the_active_set_has_settled_psor_is_sor_on_the_free_rows(relaxation, seed):
    example = gallery.make("dense_pd", n=24, seed=seed, active=0.5, condition=300.0)
    free = example.x > 0
    A = example.problem.A.to_dense()[np.ix_(free, free)]
    radius = np.abs(np.linalg.eigvals(iteration_matrix(A, relaxation))).max()
    found = measured_factor(example.problem, perp.PSOR(relaxation), example.x)
    assert found == pytest.approx(radius, rel=2e-2)


def test_symmetric_psor_is_the_product_of_both_sweeps_on_the_free_rows():
    example = gallery.make("dense_pd", n=24, seed=3, active=0.5, condition=300.0)
    free = example.x > 0
    A = example.problem.A.to_dense()[np.ix_(free, free)]
    radius = np.abs(np.linalg.eigvals(iteration_matrix(A, 1.3, backward=True) @ iteration_matrix(A, 1.3))).max()
    assert measured_factor(example.problem, perp.SymmetricPSOR(1.3), example.x) == pytest.approx(radius, rel=2e-2)


@pytest.mark.parametrize("method", [perp.PGS(), perp.PSOR(1.9), perp.SymmetricPSOR(0.5), perp.PGS(order="random")])
def test_the_quadratic_objective_never_rises_for_symmetric_matrices(method):
    # NOTES eq. 58: every single row move lowers 1/2 x^T A x + b^T x, for any relaxation in (0, 2).
    problem = gallery.make("dense_psd", n=30, seed=0).problem
    state = method.start(problem, np.zeros(30))
    values = []
    for _ in range(40):
        method.step(problem, state, 1)
        values.append(perp.verify(problem, state.x).objective)
    assert (np.diff(values) <= 1e-12).all()


def test_psor_beats_pgs_on_the_fluid_like_problem():
    # NOTES section 7, Table 2: PSOR with 1.4 takes about half the iterations of PGS.
    problem = gallery.make("poisson_2d", n=400, seed=0).problem
    pgs = perp.solve(problem, "pgs", max_iterations=10_000, check_every=1)
    psor = perp.solve(problem, perp.PSOR(1.4), max_iterations=10_000, check_every=1)
    assert pgs.success
    assert psor.success
    assert psor.iterations < 0.6 * pgs.iterations
