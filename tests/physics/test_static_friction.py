"""Static friction against closed forms, by every method that fits: on an incline, on a wall, between fingers."""

from __future__ import annotations

import numpy as np
import pytest
from time_stepping import MODELS, method_cases, solve_checked, sticking_cases

from perp.gallery import make
from perp.solvers.roster import BY_NAME

GRAVITY, DT = 9.81, 0.01
AT_THE_LIMIT = [
    case
    for case in [
        ("box", "dantzig", (3, 12, 24, 192)),
        ("box", "block_principal", (3, 12)),  # eight points and more: its friction bounds settle to 1e-8 only
        ("cone", "cone_newton", (3, 12)),
    ]
    if case[1] in BY_NAME
]
"""Methods that find by linear systems where contacts stick, and the rows up to which they tell the last digit."""


def motion_error(scene, result) -> float:
    return float(np.abs(scene.velocity(result.x) - scene.after).max())


def check(scene, method) -> None:
    """A method that says CONVERGED has the motion; what else may happen, `solve_checked` knows."""
    result = solve_checked(scene.problem, method)
    if result.success:
        assert motion_error(scene, result) < 1e-9


@pytest.mark.parametrize("excess", [-1e-6, 1e-6, -0.1, 0.1])
@pytest.mark.parametrize(("model", "method"), method_cases("block_on_incline", n=3))
def test_a_point_mass_sticks_below_the_friction_angle_and_slides_above(model, method, excess):
    scene = make("block_on_incline", n=3, excess=excess, model=model)
    result = solve_checked(scene.problem, method)
    assert result.success
    speed = np.linalg.norm(scene.velocity(result.x)[:3])
    slope = np.arctan(0.5) + excess
    expected = max(0.0, GRAVITY * DT * (np.sin(slope) - 0.5 * np.cos(slope)))
    if model == "convex":  # y_n = friction y_t, both shorter by 1 + friction^2 than y_t of the exact law
        expected *= np.hypot(1.0, 0.5) / (1.0 + 0.5**2)
    assert speed == pytest.approx(expected, rel=1e-5, abs=1e-11)


@pytest.mark.parametrize("excess", [-1e-6, 1e-6, -0.1, 0.1])
@pytest.mark.parametrize("n", [12, 24])
@pytest.mark.parametrize(("model", "method"), method_cases("block_on_incline"))
def test_a_block_on_an_incline_has_the_motion_of_the_closed_form(model, method, n, excess):
    check(make("block_on_incline", n=n, excess=excess, model=model), method)


@pytest.mark.parametrize(("model", "method", "sizes"), AT_THE_LIMIT)
def test_direct_methods_tell_a_millionth_of_a_radian(model, method, sizes):
    slope = np.arctan(0.5) + 1e-6
    for n in sizes:
        held = make("block_on_incline", n=n, excess=-1e-6, model=model)
        lost = make("block_on_incline", n=n, excess=1e-6, model=model)
        creep = np.abs(held.velocity(solve_checked(held.problem, method).x)).max()
        speed = np.linalg.norm(lost.velocity(solve_checked(lost.problem, method).x)[:3])
        assert creep < 1e-10
        assert speed == pytest.approx(GRAVITY * DT * (np.sin(slope) - 0.5 * np.cos(slope)), abs=1e-11)


@pytest.mark.parametrize("heading", [0.3, np.pi / 4, 2.0])
@pytest.mark.parametrize("model", ["cone", "disc"])
def test_the_exact_cone_has_no_favourite_direction(model, heading):
    scene = make("block_on_incline", n=3, excess=0.05, heading=heading, model=model)
    result = solve_checked(scene.problem, "apgd")
    straight = make("block_on_incline", n=3, excess=0.05, model=model)
    np.testing.assert_allclose(scene.velocity(result.x), straight.after, atol=1e-11)


def test_boxes_of_bounds_hold_more_between_the_tangents():
    slope = np.arctan(0.5 * np.sqrt(2.0))
    for excess, sticks in ((-1e-4, True), (1e-4, False)):
        scene = make("block_on_incline", slope=slope + excess, heading=np.pi / 4, model="box")
        speed = np.linalg.norm(scene.velocity(solve_checked(scene.problem, "dantzig").x))
        assert (speed < 1e-12) == sticks


@pytest.mark.parametrize("margin", [1.0 - 1e-6, 1.0 + 1e-6, 0.5, 3.0])
@pytest.mark.parametrize(("model", "method"), method_cases("block_on_wall"))
def test_a_block_pressed_on_a_wall_holds_as_long_as_friction_carries_its_weight(model, method, margin):
    scene = make("block_on_wall", margin=margin, model=model)
    if model != "convex":
        assert scene.after[2] == pytest.approx(-max(0.0, 1.0 - margin) * GRAVITY * DT, rel=1e-9, abs=1e-16)
    check(scene, method)


@pytest.mark.parametrize("margin", [0.5, 0.99, 1.01, 20.0])
@pytest.mark.parametrize(("model", "method"), method_cases("pinched_capsule"))
def test_a_pinched_capsule_stays_or_slips_as_the_margin_says(model, method, margin):
    check(make("pinched_capsule", margin=margin, model=model), method)


@pytest.mark.parametrize(("model", "method"), sticking_cases())
def test_methods_that_stick_hold_block_and_capsule(model, method):
    for kind, options in (
        ("block_on_incline", {"excess": -1e-2}),
        ("block_on_wall", {"margin": 1.05}),
        ("pinched_capsule", {"margin": 1.01}),
        ("pinched_capsule", {"margin": 20.0}),
    ):
        scene = make(kind, model=model, **options)
        result = solve_checked(scene.problem, method)
        assert result.success
        assert np.abs(scene.velocity(result.x)).max() < 1e-10


@pytest.mark.parametrize("friction", [0.1, 1.0])
@pytest.mark.parametrize("finger_mass", [0.1, 100.0])
@pytest.mark.parametrize(("model", "method"), sticking_cases())
def test_methods_that_stick_hold_the_capsule_whatever_the_fingers_weigh(model, method, finger_mass, friction):
    scene = make("pinched_capsule", friction=friction, finger_mass=finger_mass, model=model)
    result = solve_checked(scene.problem, method)
    assert np.abs(scene.velocity(result.x)).max() < 1e-10


@pytest.mark.parametrize("model", MODELS)
def test_without_a_margin_there_is_something_to_lose(model):
    """So that the tests above can fail: the impulses of a capsule that holds do not hold one that slips."""
    held, lost = (make("pinched_capsule", margin=margin, model=model) for margin in (1.01, 0.99))
    assert np.abs(lost.velocity(held.x)).max() > 1e-4
    assert np.abs(lost.after).max() > 1e-4
