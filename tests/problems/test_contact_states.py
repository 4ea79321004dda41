"""What contacts do, and how fast those open that press."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.errors import InvalidProblem
from perp.gallery import box_stack, contact_like, planted_contacts
from perp.problems.contact_states import ContactState, contact_states
from perp.problems.models.stewart_trinkle import stewart_trinkle


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_planted_contacts_do_what_they_were_planted_for(model, dimension):
    rng = np.random.default_rng(1)
    n = 20 * dimension + 2
    G = rng.standard_normal((n, n))
    example = planted_contacts(
        G @ G.T + np.eye(n),
        0.5,
        model,
        dimension=dimension,
        extra_rows=2,
        active=0.6,
        sliding=0.5,
        degenerate=0.1,
        seed=2,
    )
    states = contact_states(example.problem, example.x)
    assert states.counts == {"sticking": 6, "sliding": 6, "separating": 6, "grazing": 2}
    assert repr(states) == "<20 contacts: 6 sticking, 6 sliding, 6 separating, 2 grazing>"
    x = example.x[: example.problem.contact_rows].reshape(20, dimension)
    y = example.problem.slack(example.x)[: example.problem.contact_rows].reshape(20, dimension)
    np.testing.assert_array_equal(states.sliding | states.sticking, x[:, 0] > 0)
    np.testing.assert_allclose(states.slip, np.linalg.norm(y[:, 1:], axis=1))
    np.testing.assert_allclose(states.opening, y[:, 0])
    for c, state in enumerate(states):
        assert states[c] is state
        assert (state is ContactState.SEPARATING) == bool(states.separating[c])
        assert (state is ContactState.GRAZING) == bool(states.grazing[c])


def test_the_tolerance_is_a_speed_whatever_the_mass():
    for mass in (1e-6, 1.0, 1e6):
        problem = perp.ContactProblem(np.eye(3) / mass, np.array([-0.2, 0.0, 1e-4]), 0.0)
        x = np.array([0.2 * mass, 0.0, 0.0])
        assert contact_states(problem, x, tol=1e-3).counts["sticking"] == 1
        assert contact_states(problem, x, tol=1e-5).counts["sliding"] == 1
        assert contact_states(problem, 1e-9 * x, tol=1e-5).counts["grazing"] == 1  # it does not press to speak of


def test_answers_under_any_model_will_do():
    contacts = box_stack(48, 2, load="gravity", layout="tower").problem
    result = perp.solve(stewart_trinkle(contacts, 8), "fischer")
    by_hand = contact_states(contacts, result.problem.impulses(result))
    assert contact_states(contacts, result).counts == by_hand.counts
    with pytest.raises(InvalidProblem, match="says nothing"):
        contact_states(box_stack(120).problem, result)
    with pytest.raises(TypeError, match="ContactProblem is needed"):
        contact_states(contact_like(30).problem, np.zeros(30))
    with pytest.raises(ValueError, match="tol is -1"):
        contact_states(contacts, np.zeros(contacts.n), tol=-1.0)


def test_no_contacts_have_no_states():
    states = contact_states(perp.ContactProblem(np.zeros((0, 0)), np.zeros(0), 0.5), np.zeros(0))
    assert repr(states) == "<0 contacts>"


def test_the_convex_model_opens_sliding_contacts_by_friction_times_the_slip():
    """A block of 1 kg on level ground, sliding at 10 m/s: 0.16 N s press, and it opens by 5 m/s."""
    b = np.array([-0.16, 8.0, 6.0])
    problem = perp.ContactProblem(np.eye(3), b, 0.5, "convex")
    result = perp.solve(problem, "apgd", tol=1e-10)
    found = result.verify()
    slip = np.linalg.norm(result.y[1:])
    assert result.x[0] > 0.1
    assert found.sliding_gap == pytest.approx(0.5 * slip, abs=1e-8)
    assert found.sliding_gap == pytest.approx(result.y[0])
    assert perp.verify(problem.with_model("cone"), result.x).sliding_gap == found.sliding_gap  # the same motion
    exact = np.array([0.16, -0.08 * 0.8, -0.08 * 0.6])
    assert perp.verify(problem.with_model("cone"), exact).sliding_gap < 1e-15


@pytest.mark.parametrize("model", ["box", "cone", "disc"])
def test_other_models_have_no_sliding_gap(model):
    example = box_stack(120, 3, model=model)
    assert example.x is not None
    assert perp.verify(example.problem, example.x).sliding_gap <= 1e-12
    assert example.problem.slack(example.x)[example.problem.normal_rows].max() > 0.1  # though some separate


def test_the_planted_convex_solution_has_the_largest_gap_of_its_contacts():
    example = box_stack(120, 3, model="convex", friction=0.4)
    assert example.x is not None
    y = example.problem.slack(example.x).reshape(-1, 3)
    carries = example.x[::3] > 0.0
    gap = (0.4 * np.linalg.norm(y[:, 1:], axis=1))[carries].max()
    assert perp.verify(example.problem, example.x).sliding_gap == pytest.approx(gap)


def test_it_says_nothing_of_problems_without_contacts_and_is_nan_with_the_rest():
    assert perp.verify(perp.LCP(np.eye(1), np.ones(1)), np.zeros(1)).sliding_gap is None
    problem = perp.ContactProblem(1e300 * np.eye(3), np.ones(3), 0.5)
    assert np.isnan(perp.verify(problem, np.full(3, 1e300)).sliding_gap)
    assert "sliding gap" in str(perp.verify(problem, np.zeros(3)))
    bare = perp.ContactProblem(np.zeros((0, 0)), np.zeros(0), 0.5)
    assert perp.verify(bare, np.zeros(0)).sliding_gap == 0.0


def test_speeds_that_overflow_are_told_without_a_warning():
    problem = perp.ContactProblem(10.0 * np.eye(3), np.zeros(3), 0.5)
    states = contact_states(problem, [1e308, 1e200, 1e200])
    assert states[0] is ContactState.SLIDING
    assert states.opening[0] == np.inf
    assert states.slip[0] == pytest.approx(1e201 * np.sqrt(2.0))
