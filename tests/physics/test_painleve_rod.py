"""Painleve's rod: honest about forces that do not exist or are not unique; impulses exist."""

from __future__ import annotations

import numpy as np
import pytest
from time_stepping import fitting_methods, method_cases, solve_checked

import perp
from perp import Status
from perp.gallery import make

JAMMED, LIFTING, TAME = {"friction": 2.0}, {"friction": 2.0, "spin": 6.0}, {"friction": 0.5}
PLANAR = ("box", "cone", "convex")


def near_one_of(x, solutions) -> bool:
    return min(np.abs(x - known).max() for known in solutions) < 1e-9


def methods_for(example) -> list[str]:
    return [method.name for method in fitting_methods(example.problem)]


@pytest.mark.parametrize("method", methods_for(make("painleve_rod", **JAMMED)))
def test_where_no_force_fits_it_is_proved_or_at_least_not_called_solved(method):
    example = make("painleve_rod", **JAMMED)
    result = perp.solve(example.problem, method)
    assert not result.success
    if method in ("lemke", "enumeration", "principal", "minimum_map", "fischer", "interior_point"):
        assert result.status is Status.INFEASIBLE
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(example.problem, result.certificate.u).valid
        assert "certificate proves it" in result.message
    assert "no force fits" in example.note


@pytest.mark.parametrize("method", methods_for(make("painleve_rod", **LIFTING)))
def test_where_two_forces_fit_each_method_finds_one_of_them(method):
    example = make("painleve_rod", **LIFTING)
    result = perp.solve(example.problem, method)
    assert result.success
    assert near_one_of(result.x, example.solutions)


def test_enumeration_lists_both_forces():
    example = make("painleve_rod", **LIFTING)
    found = perp.enumerate(example.problem)
    assert found.count == len(example.solutions) == 2
    for x, known in zip(found.by_length, example.solutions, strict=True):
        np.testing.assert_allclose(x, known, rtol=1e-12)
    assert perp.enumerate(make("painleve_rod", **JAMMED).problem).count == 0
    assert perp.enumerate(make("painleve_rod", **TAME).problem).count == 1


@pytest.mark.parametrize("method", methods_for(make("painleve_rod", **TAME)))
def test_with_little_friction_there_is_nothing_special(method):
    example = make("painleve_rod", **TAME)
    result = perp.solve(example.problem, method)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)


@pytest.mark.parametrize("options", [JAMMED, LIFTING, TAME])
@pytest.mark.parametrize(("model", "method"), method_cases("painleve_step", PLANAR))
def test_impulses_exist_in_every_case(model, method, options):
    scene = make("painleve_step", model=model, **options)
    result = solve_checked(scene.problem, method)
    assert result.success
    assert near_one_of(result.x, scene.solutions)


@pytest.mark.parametrize(("model", "method"), method_cases("painleve_step", PLANAR))
def test_the_end_jams_at_once_however_short_the_step(model, method):
    scene = make("painleve_step", model=model, dt=1e-6, **JAMMED)
    result = solve_checked(scene.problem, method)
    if model == "cone" and method == "admm" and not result.success:
        return  # no impulse is a solution but for 1e-5: De Saxcé's shift does not bring it away from there
    assert result.success
    np.testing.assert_allclose(result.y, 0.0, atol=1e-11)
    assert result.x[0] > 0.1  # a finite impulse in no time


@pytest.mark.parametrize(("model", "method"), method_cases("painleve_step", ("box", "cone")))
def test_a_warm_start_stays_with_the_solution_that_it_is(model, method):
    scene = make("painleve_step", model=model, **LIFTING)
    assert len(scene.solutions) == 3
    for x in scene.solutions:
        result = solve_checked(scene.problem, method, x0=x)
        np.testing.assert_allclose(result.x, x, atol=1e-12)
