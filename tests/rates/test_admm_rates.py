"""ADMM: its linear rate where that is known, what acceleration and penalties of contacts are worth, and mass ratios."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.gradient.admm import ADMM

PUBLISHED = ADMM(penalty="spectral", power=0.2, proximal=1e-6, memory=0)


@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("power", [0.2, 0.4])
def test_the_rate_on_free_rows_is_that_of_the_splitting(relaxation, power):
    """Where no bound matters, u <- u + relaxation (x - u) with x - u = -(A + rho)^-1 (A u + b).

    An error along an eigenvector of A with eigenvalue a then falls by 1 - relaxation a / (a + rho) an iteration.
    """
    eigenvalues = np.array([0.25, 1.0, 4.0])
    problem = perp.BoxLCP(np.diag(eigenvalues), -eigenvalues, -np.inf, np.inf)  # x = 1
    method = ADMM(penalty="fixed", power=power, memory=0, relaxation=relaxation, scaling="none")
    state = method.start(problem, np.zeros(3))
    rho = state.counters["penalty"]
    for _ in range(20):
        before = 1.0 - state.z
        method.step(problem, state, 1)
        expected = (1.0 - relaxation * eigenvalues / (eigenvalues + rho)) * before
        np.testing.assert_allclose(1.0 - state.x, expected, atol=1e-12)


def test_without_acceleration_steps_never_grow_and_the_error_falls_linearly():
    """One iteration is firmly nonexpansive in the metric of a fixed penalty (Lions & Mercier 1979)."""
    rng = np.random.default_rng(1)
    Q, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    example = gallery.planted_box((Q * np.logspace(-3, 0, 30)) @ Q.T, -1.0, 1.0, active=0.6, seed=1)
    method, problem = ADMM(penalty="fixed", memory=0), example.problem
    state = method.start(problem, np.zeros(30))
    steps, errors = [], []
    for _ in range(160):
        before = state.u.copy()
        method.step(problem, state, 1)
        steps.append(np.sum(state.values * (state.u - before) ** 2))
        errors.append(np.linalg.norm(state.x - example.x))
    assert (np.diff(steps) <= 1e-14 * np.array(steps[:-1])).all()
    rates = [(errors[k + 40] / errors[k]) ** (1 / 40) for k in (39, 79, 119)]
    assert 0.5 < min(rates) <= max(rates) < 0.97
    assert max(rates) - min(rates) < 0.02


def iterations_of(problem, method, most=3000):
    result = perp.solve(problem, method, max_iterations=most, check_every=1)
    return result.iterations if result.success else np.inf


@pytest.mark.parametrize("model", ["cone", "convex", "disc"])
def test_acceleration_and_penalties_of_contacts_are_worth_much(model):
    """Summed over a few stacks: on a single one, mixing may cost some iterations (fixed discs: 108 against 101)."""
    problems = [gallery.make("box_stack", n=144, model=model, load="gravity", seed=seed).problem for seed in range(3)]
    published = sum(iterations_of(problem, PUBLISHED, most=1000) for problem in problems)
    by_contacts = sum(iterations_of(problem, ADMM(memory=0)) for problem in problems)
    both = sum(iterations_of(problem, ADMM()) for problem in problems)
    assert both < by_contacts < 0.5 * published
    assert both < 0.2 * published


@pytest.mark.parametrize("model", ["cone", "convex", "disc"])
@pytest.mark.parametrize("load", ["planted", "gravity"])
def test_a_mass_ratio_of_ten_thousand_takes_at_most_five_times_the_iterations(model, load):
    even, uneven = (
        iterations_of(gallery.make("box_stack", n=72, model=model, load=load, mass_ratio=ratio).problem, ADMM())
        for ratio in (1.0, 1e4)
    )
    assert uneven <= 5 * even


def test_factors_are_made_only_when_the_penalty_changes():
    problem = gallery.make("box_stack", n=96, model="convex", load="gravity").problem
    for method in (ADMM(), PUBLISHED, ADMM(penalty="fixed")):
        result = perp.solve(problem, method, max_iterations=200, check_every=1)
        made = result.history.counters["factorisations"]
        updates = result.history.counters["penalty_updates"]
        np.testing.assert_array_equal(made[1:], updates[1:] + 1)
        rises = np.diff(result.history.counters["penalty"][1:]) != 0
        assert (np.diff(updates[1:])[rises] == 1).all()
    assert made[-1] == 1


def test_the_penalty_begins_where_the_spectral_rule_says():
    problem = gallery.make("dense_pd", n=20).problem
    for power, proximal in ((0.2, 1e-6), (0.3, 1e-4)):
        state = ADMM(power=power, proximal=proximal).start(problem, np.zeros(20))
        L, m = state.stiffness, proximal * state.stiffness
        assert state.counters["penalty"] == pytest.approx(np.sqrt(m * L) * (L / m) ** power)
