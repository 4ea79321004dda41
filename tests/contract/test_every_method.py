"""What holds for every method on every problem of the gallery, whatever comes to either list."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.errors import MethodRefused
from perp.solvers.method import misfit
from perp.solvers.roster import METHODS, default_methods

SIZES = {
    "box_stack": 96,
    "boxed_stack": 96,
    "infeasible_psd": 90,
    "hilbert": 8,
    "murty": 6,
    "fathi": 6,
    "several_solutions": 5,
}
KINDS = list(gallery.kinds())
EASY = ["dense_pd", "fluid_like", "poisson_2d", "poisson_3d", "boxed_pd"]


ENDS_AT = {"cone_program": 1e-7}
"""Residuals at which other people's solvers end: Clarabel loses half the digits where contacts slide."""


def make(kind: str) -> gallery.Example:
    size = gallery.kinds()[kind].size
    return gallery.make(kind) if size is None else gallery.make(kind, n=SIZES.get(kind, 36))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", default_methods(), ids=lambda method: method.name)
def test_a_method_refuses_with_a_reason_or_returns_an_honest_result(method, kind):
    example = make(kind)
    problem = example.problem
    if misfit(method, problem) is not None:
        with pytest.raises(MethodRefused, match=method.name):
            perp.solve(problem, method)
        return
    result = perp.solve(problem, method, max_iterations=300)
    found = perp.verify(problem, result.x)
    assert result.method == method.label
    assert np.isfinite(result.x).all()
    assert result.residual == pytest.approx(found.residual, rel=1e-12, abs=1e-15)
    assert found.bound_violation <= 1e-12
    assert result.success == (result.residual <= 1e-8)
    assert result.iterations <= 300
    assert result.history.iteration[0] == 0
    if example.expected in ("infeasible", "unsolvable"):
        assert not result.success
    again = perp.solve(problem, method, max_iterations=300)
    np.testing.assert_array_equal(again.x, result.x)


@pytest.mark.parametrize("kind", EASY)
@pytest.mark.parametrize("method", default_methods(), ids=lambda method: method.name)
def test_a_method_solves_the_easy_problems_that_it_accepts(method, kind):
    example = make(kind)
    if misfit(method, example.problem) is not None:
        pytest.skip("refused, as the test above saw")
    result = perp.solve(example.problem, method, tol=1e-9, max_iterations=50_000)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-5)


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("method", default_methods(), ids=lambda method: method.name)
def test_a_method_solves_a_small_stack_with_friction(method, model):
    example = gallery.make("box_stack", n=48, model=model)
    if example.problem.kind not in method.accepts:
        pytest.skip("not for this kind of problem")
    result = perp.solve(example.problem, method, tol=ENDS_AT.get(method.name, 1e-8), max_iterations=200_000)
    assert result.success
    # redundant contacts leave the impulses open, not the slack
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-4)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_describes_itself(method):
    assert method.name == method.name.lower()
    contacts = {f"{kind}/{model}" for kind in ("contact", "wide") for model in ("box", "cone", "convex", "disc")}
    assert method.accepts <= {"lcp", "box", *contacts}
    assert method.family in method.__module__
    assert method.requires
    assert any(letter.isdigit() for letter in method.reference), "name a section, an equation or a year"
    assert method.__doc__
    assert method() == method()
    with pytest.raises(AttributeError):
        method().name = "other"
