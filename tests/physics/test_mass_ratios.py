"""A heavy box on a light one: 10,000 to one."""

from __future__ import annotations

import numpy as np
import pytest
from time_stepping import march, method_cases, solve_checked, sticking_cases

from perp import Status
from perp.gallery import make


@pytest.mark.parametrize(("model", "method"), method_cases("heavy_on_light"))
def test_nothing_moves_where_a_method_converges_and_others_say_that_they_do_not(model, method):
    scene = make("heavy_on_light", model=model)
    result = solve_checked(scene.problem, method)
    motion = scene.velocity(result.x)
    if result.success:
        assert np.abs(motion).max() < 1e-10
        np.testing.assert_allclose(result.x[:12:3].sum(), scene.x[:12:3].sum(), rtol=1e-10)
    else:
        assert result.status is not Status.CONVERGED
        assert np.abs(motion).max() <= 0.2  # twice the fall of a step: slow, but no explosion


@pytest.mark.parametrize(("model", "method"), [case for case in sticking_cases() if case[0] == "box"])
def test_direct_methods_stand_still_for_a_hundred_steps(model, method):
    scene = make("heavy_on_light", model=model)
    velocities, results = march(scene, lambda problem, x0: solve_checked(problem, method, x0=x0), 100)
    assert np.abs(velocities).max() < 1e-10
    assert all(result.success for result in results)
