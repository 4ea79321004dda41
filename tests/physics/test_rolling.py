"""A sphere thrown along the ground slides, spins up, and rolls with 5/7 of its speed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from time_stepping import march, method_cases, solve_checked

from perp.gallery import make

GRAVITY, RADIUS = 9.81, 0.2
EXACT_LAWS = ("box", "cone", "disc")


def thrown(model, method, steps, **options):
    options = {"heading": 0.0, **options} if model == "box" else options
    scene = make("rolling_sphere", model=model, **options)
    return scene, *march(scene, lambda problem, x0: solve_checked(problem, method, x0=x0), steps)


@pytest.mark.parametrize(("model", "method"), method_cases("rolling_sphere", EXACT_LAWS))
def test_speed_falls_with_friction_times_gravity_until_it_rolls_with_five_sevenths(model, method):
    friction, dt, speed = 0.3, 0.01, 1.0
    _, velocities, _ = thrown(model, method, 30, friction=friction, speed=speed, dt=dt)
    time = dt * np.arange(1, 31)
    until = 2.0 * speed / (7.0 * friction * GRAVITY)
    expected = np.where(time < until, speed - friction * GRAVITY * time, 5.0 / 7.0 * speed)
    np.testing.assert_allclose(np.linalg.norm(velocities[:, :2], axis=1), expected, atol=1e-10)
    np.testing.assert_allclose(velocities[:, 2], 0.0, atol=1e-10)
    spin = np.linalg.norm(velocities[:, 3:], axis=1)
    np.testing.assert_allclose(RADIUS * spin, 2.5 * (speed - expected), atol=1e-10)


@pytest.mark.parametrize(("model", "method"), method_cases("rolling_sphere", EXACT_LAWS))
def test_a_rolling_sphere_needs_no_friction(model, method):
    scene, velocities, results = thrown(model, method, 20, spin=1.0)
    for result in results:
        assert result.success
        np.testing.assert_allclose(result.x[1:], 0.0, atol=1e-11)
    np.testing.assert_allclose(velocities[-1], scene.before, atol=1e-10)


@pytest.mark.parametrize(("model", "method"), method_cases("rolling_sphere"))
def test_one_step_is_that_of_the_closed_form(model, method):
    for spin in (0.0, 0.95, 3.0):
        scene = make("rolling_sphere", spin=spin, model=model)
        result = solve_checked(scene.problem, method)
        assert result.success
        np.testing.assert_allclose(result.x, scene.x, atol=1e-11)
        np.testing.assert_allclose(scene.velocity(result.x), scene.after, atol=1e-11)


@given(
    friction=st.floats(0.01, 2.0),
    speed=st.floats(0.0, 10.0),
    spin=st.floats(-3.0, 3.0),
    heading=st.floats(-4.0, 4.0),
    dt=st.floats(1e-3, 1e-1),
)
def test_friction_keeps_the_momentum_about_the_ground_and_takes_energy(friction, speed, spin, heading, dt):
    scene = make("rolling_sphere", friction=friction, speed=speed, spin=spin, heading=heading, dt=dt)
    velocities, _ = march(scene, lambda problem, x0: solve_checked(problem, "pgs", x0=x0), 10)
    states = np.concatenate([scene.before[None], velocities])
    spun = RADIUS * np.stack([states[:, 4], -states[:, 3]], axis=1)
    kept = states[:, :2] + 0.4 * spun
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=1e-9)
    energy = 0.5 * (states[:, :3] ** 2).sum(axis=1) + 0.2 * RADIUS**2 * (states[:, 3:] ** 2).sum(axis=1)
    assert (np.diff(energy) <= 1e-9).all()
