"""The same contacts under another law, and answers carried over from one to another."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import perp
from perp.errors import InvalidProblem
from perp.gallery import box_stack
from perp.problems.models.change import (
    NAMED_MODELS,
    carry_over,
    contacts_of,
    find_impulses,
    has_other_unknowns,
    under_model,
)
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.stewart_trinkle import stewart_trinkle


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
@given(strategies.contact_problems())
def test_another_model_has_the_same_data(model, problem):
    other = problem.with_model(model)
    assert other.model == model
    assert other.A is problem.A
    for name in ("b", "friction", "lower", "upper"):
        np.testing.assert_array_equal(getattr(other, name), getattr(problem, name))
    assert other.dimension == problem.dimension


def test_discs_take_radii_and_give_no_coefficients():
    problem = box_stack(48, 1, model="cone", friction=0.4).problem
    x = problem.project(np.ones(problem.n))
    discs = problem.with_model("disc", radii=problem.tangent_limits(x))
    np.testing.assert_allclose(discs.friction, 0.4)
    np.testing.assert_array_equal(discs.with_model("disc").friction, discs.friction)
    np.testing.assert_array_equal(discs.with_model("cone", friction=0.3).friction, np.full(problem.contacts, 0.3))
    np.testing.assert_array_equal(problem.with_model("disc", radii=2.0).friction, np.full(problem.contacts, 2.0))
    with pytest.raises(InvalidProblem, match="needs radii"):
        problem.with_model("disc")
    with pytest.raises(InvalidProblem, match="needs friction"):
        discs.with_model("cone")
    with pytest.raises(TypeError, match="takes no radii"):
        problem.with_model("box", radii=1.0)
    with pytest.raises(TypeError, match="takes radii"):
        problem.with_model("disc", friction=1.0)
    with pytest.raises(InvalidProblem, match="did you mean 'cone'"):
        problem.with_model("cones")


def all_models(contacts):
    named = [under_model(contacts, model) for model in NAMED_MODELS]
    limits = np.full(contacts.contacts, 10.0)
    return [
        *named,
        stewart_trinkle(contacts, 8),
        fixed_box(contacts, limits=10.0),
        contacts.with_model("disc", radii=limits),
    ]


@settings(max_examples=15)
@given(strategies.contact_problems(), st.integers(0, 1000))
def test_impulses_survive_the_way_between_any_two_models(contacts, seed):
    """From an impulse that every model can express, normals alone for those without friction."""
    impulses = contacts.project(np.random.default_rng(seed).standard_normal(contacts.n))
    rows = np.arange(contacts.contact_rows)
    impulses[rows[rows % 3 > 0]] *= 0.5
    normals_only = impulses.copy()
    normals_only[rows[rows % 3 > 0]] = 0.0
    problems = all_models(contacts)
    for first in problems:
        x = carry_over(impulses, contacts, first)
        np.testing.assert_array_equal(x, first.project(x))
        kept = normals_only if "frictionless" in repr(first) else impulses
        np.testing.assert_allclose(find_impulses(first, x, contacts), kept, atol=1e-13)
        for second in problems:
            z = carry_over(x, first, second)
            assert z.size == second.n
            expected = normals_only if "frictionless" in repr(second) else kept
            np.testing.assert_allclose(find_impulses(second, z, contacts), expected, atol=1e-13)


def test_only_other_unknowns_are_turned_into_one_another():
    contacts = box_stack(48, 1).problem
    four, eight = stewart_trinkle(contacts, 4), stewart_trinkle(contacts, 8)
    again = stewart_trinkle(box_stack(48, 2).problem, 4)  # the contacts of another moment
    plain = perp.LCP(np.eye(4), np.ones(4))
    assert has_other_unknowns(four, eight)
    assert has_other_unknowns(contacts, eight)
    assert has_other_unknowns(eight, contacts)
    assert not has_other_unknowns(four, again)
    assert not has_other_unknowns(contacts, contacts.with_model("cone"))
    assert not has_other_unknowns(plain, contacts)
    assert not has_other_unknowns(four, plain)
    x = np.ones(four.n)
    assert carry_over(x, four, again) is x
    assert contacts_of(eight) is contacts
    assert contacts_of(plain) is None


def test_what_is_not_made_of_the_same_contacts_is_refused():
    plain, contacts = perp.LCP(np.eye(4), np.ones(4)), box_stack(48, 1).problem
    with pytest.raises(InvalidProblem, match="not made of contacts"):
        under_model(plain, "box")
    with pytest.raises(ValueError, match="did you mean 'stewart_trinkle'"):
        under_model(contacts, "stewart")
    with pytest.raises(InvalidProblem, match="says nothing of the impulses"):
        carry_over(np.zeros(contacts.n), contacts, stewart_trinkle(box_stack(336, 1).problem))
