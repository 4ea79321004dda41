"""An answer to one model of some contacts starts a solve of another; and friction with bounds from the normals."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import Status
from perp.errors import InvalidProblem
from perp.gallery import box_stack
from perp.problems.models.change import under_model
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.solvers.fixed_box import solve_fixed_box

CONTACTS = box_stack(48, 2, load="gravity", layout="tower", model="cone", compliance=0.05, friction=3.0).problem
"""All contacts stick, so that box, cone, polygon and convex cone allow the same impulses; with compliance only one."""

METHODS = {
    "box": perp.PGS(),
    "cone": perp.PGS(),
    "convex": perp.APGD(),
    "stewart_trinkle": perp.Fischer(),
    "eight": perp.Fischer(),
}


def make(model):
    return stewart_trinkle(CONTACTS, 8) if model == "eight" else under_model(CONTACTS, model)


@pytest.fixture(scope="module")
def answers():
    found = {}
    for model, method in METHODS.items():
        result = perp.solve(make(model), method, tol=1e-12, max_iterations=200_000)
        assert result.residual <= 1e-11
        found[model] = result
    return found


@pytest.mark.parametrize("target", METHODS)
@pytest.mark.parametrize("source", METHODS)
def test_where_models_agree_the_answer_of_one_solves_the_other(source, target, answers):
    problem = make(target)
    cold = perp.solve(problem, METHODS[target], tol=1e-9, max_iterations=200_000)
    warm = perp.solve(problem, METHODS[target], tol=1e-9, x0=answers[source])
    assert cold.iterations > 0
    assert warm.success
    assert warm.iterations == 0
    assert any("impulses of an answer" in note for note in warm.notes) == (
        source != target and {source, target} & {"stewart_trinkle", "eight"} != set()
    )


@pytest.mark.parametrize("target", [*METHODS, "frictionless"])
def test_any_answer_is_a_point_to_start_from_where_models_differ(target):
    """Contacts that slide: the answer of one model is near that of the other, and the solve goes on from there."""
    contacts = box_stack(48, 3, load="gravity", layout="tower", friction=0.02).problem
    problem = stewart_trinkle(contacts, 8) if target == "eight" else under_model(contacts, target)
    method = METHODS.get(target, perp.Fischer())
    for source in (
        perp.solve(frictionless(contacts), "interior_point"),
        perp.solve(contacts, "pgs", max_iterations=300),
    ):
        result = perp.solve(problem, method, x0=source, tol=1e-7, max_iterations=100_000)
        assert result.success
        assert result.history.residual[0] < perp.verify(problem, np.zeros(problem.n)).residual


def test_an_answer_of_other_contacts_is_refused():
    result = perp.solve(frictionless(box_stack(120, 1, load="gravity", layout="tower").problem), "interior_point")
    with pytest.raises(InvalidProblem, match="says nothing of the impulses"):
        perp.solve(stewart_trinkle(CONTACTS), "fischer", x0=result)
    with pytest.raises(InvalidProblem, match="x0 has length"):
        perp.solve(perp.LCP(np.eye(3), np.ones(3)), "pgs", x0=result)


def test_the_same_unknowns_are_taken_as_they_are():
    first = perp.solve(stewart_trinkle(CONTACTS, 8), "fischer")
    again = perp.solve(stewart_trinkle(CONTACTS, 8), "fischer", x0=first)
    np.testing.assert_array_equal(again.x, first.x)
    assert again.notes == ()


def test_a_fixed_box_takes_its_bounds_from_a_frictionless_solve():
    contacts = box_stack(48, 2, load="gravity", layout="tower").problem
    result = solve_fixed_box(contacts, "interior_pivoting", normals_by=perp.InteriorPoint())
    assert result.success
    assert [attempt.method for attempt in result.methods] == ["interior_point", "interior_pivoting"]
    normals = perp.solve(frictionless(contacts), "interior_point")
    np.testing.assert_allclose(result.problem.origin.limits, 0.5 * normals.x, atol=1e-9)
    by_hand = perp.solve(fixed_box(contacts, normals), "interior_pivoting", x0=normals)
    np.testing.assert_allclose(result.y, by_hand.y, atol=1e-7)
    assert perp.verify(contacts, result.x).residual < 1.0  # which is another question


def test_where_the_normals_fail_their_own_result_comes_back():
    result = solve_fixed_box(box_stack(336, 2, load="gravity").problem, "pgs", max_iterations=1)
    assert result.status is Status.ITERATION_LIMIT
    assert "frictionless" in repr(result.problem)
    assert len(result.methods) == 1


def test_the_time_limit_is_for_both():
    result = solve_fixed_box(box_stack(336, 2, load="gravity").problem, "pgs", tol=0.0, max_seconds=0.0)
    assert result.status is Status.TIME_LIMIT


def test_verify_takes_the_answer_to_another_model():
    stack = perp.gallery.make("box_stack", n=48, model="cone").problem
    polygon = perp.stewart_trinkle(stack, 8)
    result = perp.solve(polygon, "fischer")
    assert perp.verify(stack, result).natural_inf == perp.verify(stack, polygon.impulses(result)).natural_inf
    with pytest.raises(TypeError, match="problem is ndarray"):
        perp.verify(result.x, stack)
