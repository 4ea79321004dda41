"""Staggering converges at the rates that follow from how normals and tangents are coupled, and Anderson helps."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import spd_matrix

import perp
from perp import gallery
from perp.solvers.splitting.staggering import Staggering


def measured_factor(problem, method, solution, iterations):
    """The last ratio of two errors that are both far above rounding."""
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    errors = []
    for _ in range(iterations):
        method.step(problem, state, 1)
        errors.append(np.linalg.norm(state.x - solution))
    useful = [error for error in errors if error > 1e-10]
    return useful[-1] / useful[-2]


@pytest.mark.parametrize("damping", [1.0, 0.5])
def test_where_all_contacts_stick_the_factor_is_that_of_block_gauss_seidel(damping):
    rng = np.random.default_rng(1)
    A = spd_matrix(rng, 9)
    x = np.array([1.0, 0.1, -0.2, 1.5, 0.3, 0.1, 0.8, -0.1, 0.1])
    problem = perp.ContactProblem(A, -A @ x, 1e3)
    n = problem.normal_rows
    t = np.setdiff1d(np.arange(9), n)
    turn = np.linalg.solve(A[np.ix_(n, n)], A[np.ix_(n, t)] @ np.linalg.solve(A[np.ix_(t, t)], A[np.ix_(t, n)]))
    eigenvalues = np.linalg.eigvals(turn)
    radius = np.abs(1.0 - damping + damping * eigenvalues).max()
    method = Staggering(memory=0, damping=damping, proximal=0.0, inner_tolerance=1e-15)
    assert measured_factor(problem, method, x, 400) == pytest.approx(radius, rel=1e-3)


@pytest.mark.parametrize("friction", [0.3, 0.9])
def test_a_sliding_contact_has_the_factor_friction_times_coupling(friction):
    # x_t = -friction x_n, so that x_n' = -(b_n + c x_t) = 1 + c friction x_n
    c = -0.8
    problem = perp.ContactProblem([[1.0, c], [c, 1.0]], [-1.0, 10.0], friction, dimension=2)
    normal = 1.0 / (1.0 - c * friction)
    solution = np.array([normal, -friction * normal])
    method = Staggering(memory=0, proximal=0.0, inner_tolerance=1e-15)
    assert measured_factor(problem, method, solution, 100) == pytest.approx(abs(c) * friction, rel=1e-3)


@pytest.mark.parametrize(
    "options",
    [{"n": 96}, {"n": 96, "model": "cone"}, {"n": 96, "friction": 1.5}, {"n": 200, "layout": "tower"}],
    ids=str,
)
def test_acceleration_takes_less_than_half_the_turns_where_plain_ones_are_slow(options):
    problem = gallery.make("box_stack", **options).problem
    plain = perp.solve(problem, Staggering(memory=0))
    accelerated = perp.solve(problem, Staggering())
    assert plain.iterations > 50
    assert accelerated.success
    assert accelerated.iterations < 0.5 * plain.iterations


def test_redundant_contacts_settle_sooner_where_the_load_is_shared_out_in_one_way():
    problem = gallery.make("box_stack", n=216, points=9).problem
    free = perp.solve(problem, Staggering(proximal=0.0))
    held = perp.solve(problem, Staggering())
    assert held.success
    assert held.iterations < 0.5 * free.iterations
