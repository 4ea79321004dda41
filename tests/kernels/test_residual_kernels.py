"""The compiled measures against formulas written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
import twins
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.problems.residuals import Watch

ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems())


def random_point(problem, seed):
    """A point within its bounds, or, for odd seeds, anywhere."""
    x = np.random.default_rng(seed).standard_normal(problem.n)
    return x if seed % 2 else problem.project(x)


@given(ANY_PROBLEM, st.integers(0, 1000))
def test_the_natural_map_is_that_of_its_twin(problem, seed):
    x = random_point(problem, seed)
    natural = twins.natural_map(problem, x)
    found = perp.verify(problem, x)
    assert found.natural_inf == pytest.approx(np.abs(natural).max(), abs=1e-13)
    assert found.natural_2 == pytest.approx(np.linalg.norm(natural), abs=1e-13)
    assert found.residual == found.natural_inf


@given(st.one_of(strategies.lcps(), strategies.box_lcps()), st.integers(0, 1000))
def test_the_fischer_merit_is_billups_form_and_for_an_lcp_eq_17(problem, seed):
    x = random_point(problem, seed)
    y = problem.slack(x)
    lower, upper = problem.bounds(x)
    rows = [twins.fischer(a - lo, twins.fischer(hi - a, -s)) for a, s, lo, hi in zip(x, y, lower, upper, strict=True)]
    assert perp.verify(problem, x).fischer == pytest.approx(0.5 * np.sum(np.square(rows)), rel=1e-9, abs=1e-13)
    if isinstance(problem, perp.LCP):
        plain = np.sqrt(x**2 + y**2) - x - y
        assert perp.verify(problem, x).fischer == pytest.approx(0.5 * plain @ plain, rel=1e-9, abs=1e-13)


@given(strategies.lcps(), st.integers(0, 1000))
def test_the_other_measures_of_an_lcp_are_their_formulas(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    A, b = problem.A.to_dense(), problem.b
    y = A @ x + b
    found = perp.verify(problem, x)
    impulse = x - np.maximum(x - y / A.diagonal(), 0.0)
    energy = 0.5 * A.diagonal() * impulse**2
    assert found.modified_merit == pytest.approx(x @ np.abs(y), rel=1e-9, abs=1e-13)
    assert found.gap == pytest.approx(x @ np.maximum(y, 0.0), rel=1e-9, abs=1e-13)
    assert found.slack_violation == pytest.approx(max(0.0, -y.min()), abs=1e-13)
    assert found.objective == pytest.approx(0.5 * x @ A @ x + b @ x, rel=1e-9, abs=1e-12)
    assert found.energy_max == pytest.approx(energy.max(), rel=1e-9, abs=1e-13)
    assert found.energy_mean == pytest.approx(energy.mean(), rel=1e-9, abs=1e-13)
    assert found.bound_violation == 0.0
    assert found.active == np.count_nonzero(x > 0)


@given(strategies.box_lcps(), st.integers(0, 1000))
def test_the_gap_and_the_violations_of_a_box_are_their_formulas(problem, seed):
    x = np.random.default_rng(seed).standard_normal(problem.n)
    y = problem.slack(x)
    low, high = np.isfinite(problem.lower), np.isfinite(problem.upper)
    gap = np.abs(x - problem.lower)[low] @ np.maximum(y, 0)[low]
    gap += np.abs(problem.upper - x)[high] @ np.maximum(-y, 0)[high]
    found = perp.verify(problem, x)
    assert found.gap == pytest.approx(gap, rel=1e-9, abs=1e-13)
    outside = np.maximum(problem.lower - x, x - problem.upper).max(initial=0.0)
    assert found.bound_violation == pytest.approx(max(outside, 0.0), abs=1e-13)
    unanswered = np.maximum(np.where(low, 0.0, y), np.where(high, 0.0, -y))
    assert found.slack_violation == pytest.approx(max(unanswered.max(), 0.0), abs=1e-13)


@given(strategies.contact_problems(), st.integers(0, 1000))
def test_cone_measures_are_their_formulas(problem, seed):
    x = random_point(problem, seed)
    y = problem.slack(x)
    cone, dissipation, de_saxce = 0.0, 0.0, 0.0
    for c, mu in enumerate(problem.friction):
        here, slip = x[3 * c : 3 * c + 3], y[3 * c : 3 * c + 3]
        cone = max(cone, np.linalg.norm(here[1:]) - mu * here[0], -here[0])
        speed = np.linalg.norm(slip[1:])
        dissipation = max(dissipation, mu * max(here[0], 0.0) * speed + here[1:] @ slip[1:])
        shifted = slip + np.array([mu * speed, 0.0, 0.0])
        de_saxce = max(de_saxce, np.abs(here - twins.project_on_cone(here - shifted, mu)).max())
    found = perp.verify(problem, x)
    assert found.cone_violation == pytest.approx(cone, abs=1e-12)
    assert found.dissipation_error == pytest.approx(dissipation, abs=1e-12)
    assert found.de_saxce == pytest.approx(de_saxce, abs=1e-12)


@given(strategies.contact_problems(), st.integers(0, 1000))
def test_gap_merit_and_energy_of_cone_friction_are_their_formulas(problem, seed):
    cone = perp.ContactProblem(problem.A, problem.b, problem.friction, "cone", lower=problem.lower, upper=problem.upper)
    x = random_point(cone, seed)
    found = perp.verify(cone, x)
    for name, value in twins.disc_measures(cone, x).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-9, abs=1e-12), name


def test_de_saxce_vanishes_at_a_separating_contact_without_friction():
    for dimension in (2, 3):
        problem = perp.ContactProblem(np.eye(dimension), [1.0, 0, 0][:dimension], 0.0, "cone", dimension=dimension)
        assert perp.verify(problem, np.zeros(dimension)).de_saxce == 0.0


@pytest.mark.parametrize("model", ["box", "cone"])
def test_a_planar_contact_is_measured_with_its_one_tangent(model):
    problem = perp.ContactProblem(np.diag([2.0, 4.0]), [-1.0, 3.0], 0.5, model, dimension=2)
    found = perp.verify(problem, [0.5, 0.1])  # y = (0, 3.4); the bound of the tangent is 0.25
    assert found.natural_inf == pytest.approx(0.35)
    assert found.dissipation_error == pytest.approx(0.25 * 3.4 + 0.1 * 3.4)
    assert perp.solve(problem, "pgs").x == pytest.approx([0.5, -0.25])


@pytest.mark.parametrize(
    ("A", "b"), [(1e-200 * np.eye(3), [-1e-200, 1e120, 1e120]), (np.eye(3), [-1.0, 1.7e308, 1.7e308])]
)
def test_a_slip_beyond_all_numbers_does_not_hide_the_error_of_a_cone(A, b):
    problem = perp.ContactProblem(A, b, 0.5, "cone")
    found = perp.verify(problem, [1.0, 0.0, 0.0])
    assert found.residual == pytest.approx(0.5 / np.sqrt(2.0))
    assert Watch(problem).look(np.array([1.0, 0.0, 0.0]))[0] == pytest.approx(0.5 / np.sqrt(2.0))


def test_a_small_slack_is_seen_beside_a_large_x():
    problem = perp.LCP([[1e-6]], [-1e7])
    assert perp.verify(problem, [1e13 + 500.0]).natural_inf == pytest.approx(5e-4, rel=1e-3)


@given(ANY_PROBLEM, st.integers(0, 1000))
def test_what_the_loop_watches_is_what_verification_finds(problem, seed):
    x = random_point(problem, seed)
    watch = Watch(problem)
    residual, merit, active, changed, change, _, _, largest, probe = watch.look(x)
    found = perp.verify(problem, x)
    assert residual == pytest.approx(found.residual, abs=1e-13)
    assert merit == pytest.approx(found.fischer, rel=1e-9, abs=1e-13)
    assert active == found.active == changed
    assert change == np.inf
    assert largest == np.abs(x).max()
    assert probe == 0.0


def test_the_watch_counts_changes_since_the_last_accepted_point():
    problem = perp.LCP(np.eye(3), [-1.0, 1.0, 1.0])
    watch = Watch(problem)
    watch.look(np.array([1.0, 0.0, 0.0]))
    watch.accept(np.array([1.0, 0.0, 0.0]))
    watch.set_mark(np.array([1.0, 2.0, 0.0]))
    _, _, active, changed, change, drift, from_mark, _, _ = watch.look(np.array([1.0, 2.0, 0.0]))
    assert (active, changed, change, from_mark) == (2, 1, 2.0, 0.0)
    assert drift == pytest.approx(2.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_probe_sees_every_number_that_is_not_finite(bad):
    watch = Watch(perp.LCP(np.eye(3), np.zeros(3)))
    with np.errstate(all="ignore"):
        assert np.isnan(watch.look(np.array([0.0, bad, 1.0]))[-1])
