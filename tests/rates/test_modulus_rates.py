"""The modulus methods converge at the rates of the splittings that they are on rows off their bounds."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.splitting.modulus import AMAOR, AMGS, AMJ, AMSOR, MAOR, MGS, MJ, MSOR


def radius(A, method):
    """The spectral radius of I - M^-1 A with M = (1 / relaxation + gamma alpha) D / 2 - seen L, A = D - L - U."""
    D, L = np.diag(A.diagonal()), -np.tril(A, -1)
    seen = 1.0 - method.sight.lag + method.sight.lead
    M = 0.5 * (1.0 / method.splitting[0] + method.gamma * method.alpha) * D - seen * L
    return np.abs(np.linalg.eigvals(np.eye(len(A)) - np.linalg.solve(M, A))).max()


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


@pytest.mark.parametrize(
    "method",
    [
        MJ(alpha=0.5),
        MJ(alpha=1.0),
        MGS(alpha=0.5),
        MSOR(alpha=0.5, relaxation=1.2),
        MAOR(alpha=0.5, relaxation=1.1, acceleration=1.3),
        AMJ(alpha=0.7),
        AMGS(alpha=0.5),
        AMGS(alpha=0.3),
        AMGS(gamma=4.0, alpha=0.3),
        AMSOR(alpha=0.5, relaxation=1.3),
        AMAOR(alpha=0.5, relaxation=1.1, acceleration=1.3),
    ],
    ids=repr,
)
def test_where_all_rows_are_off_their_bounds_a_member_is_its_splitting(method):
    A = 2.0 * np.eye(15) - np.eye(15, k=1) - np.eye(15, k=-1)
    solution = np.full(15, 2.0)
    problem = perp.LCP(A, -A @ solution)
    assert measured_factor(problem, method, solution) == pytest.approx(radius(A, method), rel=1e-3)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.8])
def test_once_the_active_set_has_settled_amgs_is_sor_on_the_free_rows(alpha):
    example = gallery.make("dense_pd", n=24, seed=0, active=0.5, condition=300.0)
    free = example.x > 0.0
    method = AMGS(alpha=alpha)
    expected = radius(example.problem.A.to_dense()[np.ix_(free, free)], method)
    assert measured_factor(example.problem, method, example.x) == pytest.approx(expected, rel=2e-2)


def stacked_discs(count):
    """AMGS section 5, "Stacking": discs of 1 kg on one another, with the normal impulses of a time step of 1/60 s."""
    A = 2.0 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    A[0, 0] = 1.0  # the lowest contact is with the ground
    b = np.zeros(count)
    b[0] = -9.80665 / 60.0
    return perp.LCP(A, b)


def iterations_to(problem, method, tol=1e-4):
    result = perp.solve(problem, method, tol=tol, check_every=1, max_iterations=60_000)
    assert result.success
    return result.iterations


def test_the_half_of_table_1_is_not_there():
    # AMGS Table 1 says 7,754 against 16,186 iterations; the two methods are one, so that they take the same number.
    problem = stacked_discs(40)
    pgs = iterations_to(problem, perp.PGS())
    assert iterations_to(problem, AMGS()) == pgs
    assert pgs < iterations_to(problem, AMGS(omega="identity")) < 1.2 * pgs


def test_what_halves_the_iterations_is_a_smaller_alpha():
    problem = stacked_discs(40)
    assert 0.45 < iterations_to(problem, AMGS(alpha=0.25)) / iterations_to(problem, AMGS()) < 0.6
    assert iterations_to(problem, AMGS(adaptive=True)) < 0.25 * iterations_to(problem, AMGS())
