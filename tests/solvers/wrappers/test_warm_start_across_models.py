"""The starter runs on the same contacts under another model, and its impulses start the method."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import Status, gallery
from perp.errors import MethodRefused
from perp.gallery import box_stack
from perp.problems.models.change import carry_over, under_model
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.solvers.wrappers import warm_started_by

CONTACTS = box_stack(48, 3, load="gravity", layout="tower", friction=0.3, compliance=0.05).problem
PROBLEMS = {
    "box": (CONTACTS, perp.PGS()),
    "cone": (CONTACTS.with_model("cone"), perp.PGS()),
    "convex": (CONTACTS.with_model("convex"), perp.APGD()),
    "stewart_trinkle": (stewart_trinkle(CONTACTS, 6), perp.Fischer()),
    "frictionless": (frictionless(CONTACTS), perp.Lemke()),
    "fixed_box": (fixed_box(CONTACTS, limits=0.1), perp.BlockPrincipal()),
}
STARTERS = {
    "box": perp.PSOR(),
    "cone": perp.PGS(),
    "convex": perp.APGD(),
    "frictionless": perp.InteriorPoint(),
    "stewart_trinkle": perp.Fischer(),
}
LAST = perp.Stopping(keep="last", tol=0.0)


@pytest.mark.parametrize("model", STARTERS)
@pytest.mark.parametrize("own", PROBLEMS)
def test_the_method_goes_on_from_the_impulses_of_the_starter(own, model):
    problem, method = PROBLEMS[own]
    starter = STARTERS[model]
    wrapped = warm_started_by(starter, iterations=5, model=model)(method)
    result = perp.solve(problem, wrapped, tol=1e-8, max_iterations=50_000)
    assert result.success
    assert result.method == f"warm_started_by({starter.name}, iterations=5, model={model})({method.name})"
    other = under_model(problem, model)
    nothing = carry_over(problem.project(np.zeros(problem.n)), problem, other)
    before = perp.solve(other, starter, x0=nothing, max_iterations=5, stop=LAST)
    seen = {}
    stop = perp.Stopping(keep="last", tol=0.0)
    perp.solve(
        problem,
        wrapped,
        check_every=1,
        max_iterations=5,
        stop=stop,
        callback=lambda now: seen.update({now.iteration: now.x}),
    )
    expected = problem.project(carry_over(before.x, other, problem))
    np.testing.assert_allclose(seen[max(seen)], expected, atol=1e-12)
    np.testing.assert_array_equal(problem.project(expected), expected)


@pytest.mark.parametrize(("own", "model"), [("cone", "box"), ("stewart_trinkle", "cone"), ("box", "stewart_trinkle")])
def test_steps_of_two_and_three_are_a_step_of_five(own, model):
    problem, method = PROBLEMS[own]
    wrapped = warm_started_by(STARTERS[model], iterations=3, model=model)(method)
    whole, pieces = (wrapped.start(problem, problem.project(np.zeros(problem.n))) for _ in range(2))
    wrapped.step(problem, whole, 5)
    for count in (0, 2, 3):
        wrapped.step(problem, pieces, count)
    np.testing.assert_array_equal(whole.x, pieces.x)
    assert whole.x.size == problem.n


def test_a_starter_that_ends_by_itself_hands_over():
    problem, method = PROBLEMS["cone"]
    wrapped = warm_started_by(perp.Lemke(), iterations=5000, model="stewart_trinkle")(method)
    result = perp.solve(problem, wrapped, tol=1e-9, max_iterations=50_000)
    assert result.success
    assert 0 < result.history.counters["warm_up_iterations"][-1] < 5000
    assert result.history.counters["warm_up_iterations"][-1] < result.iterations  # the law is not the same


def test_where_both_models_have_one_answer_the_starter_solves_the_problem():
    problem = CONTACTS.with_model("cone", friction=3.0)
    result = perp.solve(problem, warm_started_by(perp.Fischer(), iterations=100, model="stewart_trinkle")(perp.PGS()))
    assert result.success
    assert result.history.counters["warm_up_iterations"][-1] == result.iterations


def test_a_starter_that_breaks_down_ends_it_with_a_point_of_the_right_size():
    """Jacobi without damping diverges on redundant contacts."""
    problem = stewart_trinkle(box_stack(120, 1, load="gravity").problem, 4)
    for model in ("frictionless", "box"):
        wrapped = warm_started_by(perp.Jacobi(damping=1.0), iterations=3000, model=model)(perp.Fischer())
        result = perp.solve(problem, wrapped, max_iterations=4000, tol=0.0, check_every=500)
        assert result.status is Status.BREAKDOWN
        assert result.x.size == problem.n
        assert np.isfinite(result.x).all()


def test_what_does_not_fit_is_refused_with_the_reason():
    with pytest.raises(MethodRefused, match="not made of contacts"):
        perp.solve(gallery.make("dense_pd", n=10).problem, warm_started_by(perp.PGS(), model="box")(perp.PGS()))
    with pytest.raises(MethodRefused, match="its starter lemke would refuse"):
        perp.solve(CONTACTS, warm_started_by(perp.Lemke(), model="box")(perp.PGS()))
    with pytest.raises(MethodRefused, match="it solves"):
        perp.solve(CONTACTS, warm_started_by(perp.PGS(), model="box")(perp.Lemke()))
    discs = CONTACTS.with_model("disc", radii=1.0)
    with pytest.raises(MethodRefused, match="needs friction"):
        perp.solve(discs, warm_started_by(perp.PGS(), model="cone")(perp.APGD()))
    with pytest.raises(ValueError, match="did you mean 'cone'"):
        warm_started_by(perp.PGS(), model="cones")


def test_a_starter_for_other_problems_will_do_under_another_model():
    """Lemke knows no friction bounds that follow the normals, but starts a method that does."""
    wrapped = warm_started_by(perp.Lemke(), iterations=200, model="stewart_trinkle")(perp.PGS())
    result = perp.solve(CONTACTS, wrapped, tol=1e-9, max_iterations=20_000)
    assert result.success
