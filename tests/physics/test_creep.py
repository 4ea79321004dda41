"""Nothing that friction holds may creep, not even over hundreds of steps."""

from __future__ import annotations

import numpy as np
import pytest
from time_stepping import march, method_cases, solve_checked, sticking_cases

import perp
from perp.gallery import make

DT = 0.01


def creep(velocities) -> float:
    """How far the fastest coordinate has come in all steps, had each of them gone the same way [m]."""
    return float(DT * np.abs(velocities).sum(axis=0).max())


def checked(method):
    return lambda problem, x0: solve_checked(problem, method, x0=x0)


@pytest.mark.parametrize(
    ("kind", "options", "steps"),
    [("pinched_capsule", {}, 400), ("block_on_incline", {"excess": -0.02}, 100)],
    ids=["capsule", "block"],
)
@pytest.mark.parametrize(("model", "method"), sticking_cases())
def test_hundreds_of_warm_steps_do_not_add_up_to_anything(model, method, kind, options, steps):
    scene = make(kind, model=model, **options)
    velocities, results = march(scene, checked(method), steps)
    assert np.abs(velocities).max() < 1e-10
    assert creep(velocities) < 1e-10
    assert all(result.success for result in results)


@pytest.mark.parametrize(("model", "method"), sticking_cases())
def test_cold_starts_do_not_make_it_creep_either(model, method):
    velocities, _ = march(make("pinched_capsule", model=model), checked(method), 50, warm=False)
    assert np.abs(velocities).max() < 1e-10
    assert creep(velocities) < 1e-10


@pytest.mark.parametrize(("model", "method"), method_cases("pinched_capsule"))
def test_every_method_that_converges_at_every_step_holds_the_capsule(model, method):
    velocities, results = march(make("pinched_capsule", model=model), checked(method), 50)
    if all(result.success for result in results):
        assert creep(velocities) < 1e-10
    else:
        assert (model, method) not in sticking_cases()


@pytest.mark.parametrize("model", ["box", "cone"])
def test_twenty_cold_sweeps_a_step_do_creep(model):
    """The complaint that this suite is about; it also shows that the tests above can fail."""
    scene = make("pinched_capsule", model=model)
    velocities, results = march(
        scene, lambda problem, x0: perp.solve(problem, "pgs", max_iterations=20), 100, warm=False
    )
    assert creep(velocities) > 1e-6
    assert not any(result.success for result in results), "and it must not be called solved"


@pytest.mark.parametrize(("model", "method"), sticking_cases())
def test_a_capsule_that_was_thrown_is_caught_and_then_held(model, method):
    scene = make("pinched_capsule", model=model)
    thrown = scene.before.copy()
    thrown[:6] = [0.0, 0.1, -0.2, 0.05, 0.0, 0.0]  # sliding between the pads, turning about the line through them
    velocity = thrown
    for _ in range(20):
        velocity = scene.velocity(solve_checked(scene.step_from(velocity), method).x, velocity)
    assert np.abs(velocity).max() < 1e-10
