"""Contacts stated as problems with fixed bounds: the same answers, or starts that lead to them."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given

import perp
from perp.solvers.auto import chain
from perp.solvers.auto.boxed_friction import restate_boxes
from perp.solvers.auto.rules import Rule, Step


@given(strategies.contact_problems())
def test_a_solution_of_the_restated_boxes_is_one_of_the_contacts(problem):
    boxes = problem.with_model("box")
    restated, impulses = restate_boxes(boxes)
    assert restated.n == boxes.n + 2 * 2 * boxes.contacts
    result = perp.solve(restated)
    if result.success:
        assert perp.verify(boxes, boxes.project(impulses(result.x))).residual <= 1e-7


@pytest.mark.parametrize("dimension", [2, 3])
def test_signs_and_limits_of_the_restated_boxes_are_those_of_friction(dimension):
    """A block pushed along x: it slides, and friction opposes it with all that it has."""
    b = np.array([-1.0, 3.0, 0.0])[:dimension]
    problem = perp.ContactProblem(np.eye(dimension), b, 0.5, dimension=dimension)
    restated, impulses = restate_boxes(problem)
    x = impulses(perp.solve(restated, "lemke").x)
    np.testing.assert_allclose(x, [1.0, -0.5, 0.0][:dimension], atol=1e-14)


@pytest.mark.parametrize(("model", "dimension"), [("box", 2), ("cone", 2), ("box", 3), ("cone", 3)])
def test_a_chain_may_begin_with_the_contacts_as_an_lcp(monkeypatch, model, dimension):
    stack = perp.gallery.make("box_stack", n=96, mass_ratio=50).problem
    problem = stack.with_model(model)
    if dimension == 2:
        rows = np.flatnonzero(np.arange(stack.n) % 3 != 2)
        problem = perp.ContactProblem(
            stack.A.to_dense()[np.ix_(rows, rows)], stack.b[rows], stack.friction, model, dimension=2
        )
    steps = (Step(perp.ConeNewton(), iterations=300, from_lcp=True),)
    monkeypatch.setattr(chain, "find_rule", lambda features: Rule("made up", bool, steps, "", ""))
    result = perp.solve(problem)
    assert result.methods[0].method == "restated"
    assert "as an LCP of" in result.methods[0].why
    assert result.success
    is_same_problem = model == "box" or dimension == 2
    assert (result.methods[0].residual <= 1e-8) == is_same_problem
