"""Starts for contacts: problems with fixed bounds, and contacts with a little compliance."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given

import perp
from perp.linalg.contact_compliance import contact_compliance
from perp.solvers.auto import chain, contact_starts
from perp.solvers.auto.contact_starts import restate_boxes
from perp.solvers.auto.rules import Rule, Step

LAST = contact_starts.COMPLIANCES[-1]


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


def solve_softened(monkeypatch, model, **options):
    """By a chain that has nothing else, whose method cannot do anything, and without a polish."""
    monkeypatch.setattr(chain, "polish_best", lambda search: None)
    steps = (Step(perp.PGS(), iterations=0, from_compliance=True),)
    monkeypatch.setattr(chain, "find_rule", lambda features: Rule("made up", bool, steps, "", ""))
    problem = perp.gallery.make("box_stack", n=336, mass_ratio=100.0, model=model).problem
    return problem, perp.solve(problem, **options)


@pytest.mark.parametrize("model", ["cone", "box"])
def test_the_answer_is_that_of_the_least_compliance_and_says_so(monkeypatch, model):
    problem, result = solve_softened(monkeypatch, model)
    assert not result.success
    steps = [step for step in result.methods if step.method == "softened"]
    assert [step.status.name for step in steps] == ["CONVERGED"] * len(contact_starts.COMPLIANCES)
    assert steps[0].residual > steps[-1].residual == result.residual == perp.verify(problem, result.x).residual
    assert (
        f"no solution of the rigid law was found: the answer is that of contacts with a compliance of {LAST:g} A_ii"
        in (result.notes)
    )
    compliant = problem.with_compliance(contact_compliance(problem, LAST, "by_inertia"))
    assert perp.verify(compliant, result.x).residual <= 1e-8


def test_nothing_is_said_where_the_answer_is_within_the_tolerance(monkeypatch):
    _, result = solve_softened(monkeypatch, "cone", tol=0.5)
    assert result.success
    assert not any("rigid law" in note for note in result.notes)


@pytest.mark.parametrize("model", ["convex", "disc"])
def test_convex_laws_pass_it_over(monkeypatch, model):
    _, result = solve_softened(monkeypatch, model)
    assert not any(step.method == "softened" for step in result.methods)
