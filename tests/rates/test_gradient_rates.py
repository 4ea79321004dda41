"""Acceleration is worth a square root, and restarts keep it; spectral steps beat steps of fixed length."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.gradient.apgd import APGD
from perp.solvers.gradient.spg import SPG


def definite_problem(condition, n=40, seed=0):
    """A boxed problem whose eigenvalues are spread evenly in their logarithms; a tenth of the rows ends at a bound."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    A = (Q * np.logspace(-np.log10(condition), 0.0, n)) @ Q.T
    return gallery.planted_box(0.5 * (A + A.T), -1.0, 1.0, active=0.9, seed=seed)


def iterations_until(example, method, error):
    """How many it takes to bring the error of x below that share of the first one."""
    problem = example.problem
    state = method.start(problem, np.zeros(problem.n))
    goal = error * np.linalg.norm(example.x)
    for k in range(1, 1_000_000):
        method.step(problem, state, 1)
        if np.linalg.norm(state.x - example.x) <= goal:
            return k
    raise AssertionError("no end")


@cache
def plain_iterations_until(condition, error):
    """The same for projected gradient steps of length 1 / L, L the largest eigenvalue, which is 1 here."""
    example = definite_problem(condition)
    A, b, x = example.problem.A.to_dense(), example.problem.b, np.zeros(example.problem.n)
    goal = error * np.linalg.norm(example.x)
    for k in itertools.count(1):
        x = np.clip(x - (A @ x + b), -1.0, 1.0)
        if np.linalg.norm(x - example.x) <= goal:
            return k


@pytest.mark.parametrize("restart", ["gradient", "function"])
def test_accelerated_iterations_grow_with_the_square_root_of_the_condition(restart):
    easy, hard = definite_problem(1e2), definite_problem(1e4)
    plain_growth = plain_iterations_until(1e4, 1e-5) / plain_iterations_until(1e2, 1e-5)
    method = APGD(restart=restart, scaling="none")
    growth = iterations_until(hard, method, 1e-5) / iterations_until(easy, method, 1e-5)
    assert plain_growth > 50  # of a hundred
    assert 5 < growth < 15  # of ten
    assert iterations_until(hard, method, 1e-5) < 0.05 * plain_iterations_until(1e4, 1e-5)


def test_the_square_root_holds_once_more():
    hard, harder = definite_problem(1e4), definite_problem(1e6)
    method = APGD(scaling="none")
    assert 5 < iterations_until(harder, method, 1e-5) / iterations_until(hard, method, 1e-5) < 15


def test_without_restarts_the_objective_obeys_the_bound_of_the_accelerated_method():
    # f(x_k) - f* <= 2 eta L |x_0 - x*|^2 / (k + 1)^2 (Beck & Teboulle 2009, theorem 4.4), eta = 2 for doubling
    example = gallery.make("dense_psd", n=60, seed=0)
    problem, x = example.problem, example.x
    largest = np.linalg.eigvalsh(problem.A.to_dense()).max()
    best = perp.verify(problem, x).objective
    method = APGD(restart="none", scaling="none")
    state = method.start(problem, np.zeros(problem.n))
    for k in range(1, 300):
        method.step(problem, state, 1)
        bound = 4.0 * largest * (x @ x) / (k + 1) ** 2
        assert perp.verify(problem, state.x).objective - best <= bound


def test_restarts_spare_what_momentum_wastes_on_a_definite_problem():
    example = definite_problem(1e3)
    restarted = iterations_until(example, APGD(scaling="none"), 1e-8)
    assert restarted < 0.5 * iterations_until(example, APGD(restart="none", scaling="none"), 1e-8)


@pytest.mark.parametrize(("steps", "share"), [("long", 0.3), ("alternating", 0.03)])
def test_spectral_steps_beat_steps_of_fixed_length(steps, share):
    hard = definite_problem(1e4)
    spectral = iterations_until(hard, SPG(steps=steps, scaling="none"), 1e-5)
    assert spectral < share * plain_iterations_until(1e4, 1e-5)


def test_two_unknowns_are_solved_faster_than_at_any_linear_rate():
    # Barzilai & Borwein 1988: R-superlinear in two dimensions
    problem = perp.BoxLCP(np.diag([1.0, 40.0]), [-1.0, -80.0], -np.inf, np.inf)
    method = SPG(scaling="none", steps="long", memory=50)
    state = method.start(problem, np.zeros(2))
    errors = []
    while not errors or errors[-1] > 1e-14:
        method.step(problem, state, 1)
        errors.append(np.abs(state.x - [1.0, 2.0]).max())
        assert len(errors) < 60
    logs = -np.log10(np.array(errors))
    middle = np.searchsorted(logs, 5.0)
    assert len(errors) - middle < 0.75 * middle  # the second half of the digits takes fewer iterations
