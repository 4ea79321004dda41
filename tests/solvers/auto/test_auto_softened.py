"""Contacts with a little compliance as a start, or as the answer, where the rigid law is not solved."""

from __future__ import annotations

import pytest

import perp
from perp.linalg.contact_compliance import contact_compliance
from perp.solvers.auto import chain, softened
from perp.solvers.auto.rules import Rule, Step

LAST = softened.COMPLIANCES[-1]


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
    assert [step.status.name for step in steps] == ["CONVERGED"] * len(softened.COMPLIANCES)
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
