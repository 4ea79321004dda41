"""The scenes of static friction: what they call their solution solves them, and moves the bodies as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import perp
from perp.gallery import Scene, make
from perp.gallery.blocks import pressed_contact
from perp.gallery.grips import HALF_LENGTH, MASS, RADIUS, _capsule_inertia

MODELS = ("box", "cone", "convex", "disc")
SCENES = [
    ("block_on_incline", {"n": 3, "excess": 0.3}),
    ("block_on_incline", {"n": 12, "excess": -1e-6}),
    ("block_on_incline", {"n": 24, "excess": 1e-6, "heading": 0.4}),
    ("block_on_incline", {"n": 192, "slope": 0.2, "heading": 2.0}),
    ("block_on_wall", {"margin": 0.5}),
    ("block_on_wall", {"margin": 2.0, "n": 27}),
    ("box_on_points", {"lean": 0.3}),
    ("box_on_points", {"n": 192, "lean": -0.3}),
    ("pinched_capsule", {"margin": 0.5, "finger_mass": 2.0}),
    ("pinched_capsule", {}),
    ("rolling_sphere", {}),
    ("rolling_sphere", {"spin": 0.98}),
    ("rolling_sphere", {"spin": -2.0}),
    ("heavy_on_light", {}),
]
models = st.sampled_from(MODELS)
angles = st.floats(-3.0, 3.0)


def check(scene: Scene) -> None:
    size = np.abs(scene.x).max() + np.abs(scene.problem.b).max()
    for x in (scene.x, *scene.solutions):
        assert perp.verify(scene.problem, x).residual <= 1e-13 * max(size, 1.0)
    np.testing.assert_allclose(scene.velocity(scene.x), scene.after, atol=1e-13 * max(size, 1.0))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("kind", "options"), SCENES)
def test_the_known_impulses_solve_the_scene_and_give_the_known_motion(kind, options, model):
    scene = make(kind, model=model, **options)
    assert isinstance(scene, Scene)
    check(scene)
    np.testing.assert_allclose(scene.problem.b, scene.jacobian @ (scene.before + scene.push), atol=1e-15)


@given(model=models, friction=st.floats(0.0, 0.4), excess=st.floats(-0.5, 0.5), heading=angles, n=st.integers(1, 120))
def test_a_block_on_any_incline_is_solved_by_its_closed_form(model, friction, excess, heading, n):
    assume(0.0 <= np.arctan(friction) + excess <= 1.5)
    scene = make("block_on_incline", n=n, friction=friction, excess=excess, heading=heading, model=model)
    check(scene)


@given(
    model=models,
    free=st.tuples(st.floats(-5.0, 0.0), st.floats(-5.0, 5.0), st.floats(-5.0, 5.0)),
    masses=st.tuples(st.floats(0.1, 10.0), st.floats(0.1, 10.0)),
    friction=st.floats(0.0, 3.0),
)
def test_a_pressed_contact_obeys_its_law(model, free, masses, friction):
    velocity = np.array(free)
    x = pressed_contact(velocity, *masses, friction, model)
    A = np.diag(1.0 / np.array([masses[0], masses[1], masses[1]]))
    strength = -friction * masses[0] * free[0] if model == "disc" else friction
    assert perp.verify(perp.ContactProblem(A, velocity, strength, model), x).residual < 1e-12


def test_the_block_slides_with_the_textbook_acceleration():
    for excess in (1e-6, 0.2):
        slope = np.arctan(0.5) + excess
        scene = make("block_on_incline", excess=excess, model="cone", dt=0.02)
        downhill = np.array([np.cos(slope), 0.0, -np.sin(slope)])
        speed = 0.02 * 9.81 * (np.sin(slope) - 0.5 * np.cos(slope))
        np.testing.assert_allclose(scene.after[:3], speed * downhill, rtol=1e-9, atol=1e-17)
        assert not scene.after[3:].any()


def test_what_slides_in_the_convex_model_opens_by_friction_times_its_slip():
    for kind, options in (("block_on_incline", {"excess": 0.2}), ("pinched_capsule", {"margin": 0.3})):
        scene = make(kind, model="convex", **options)
        y = scene.problem.slack(scene.x)[: scene.problem.contact_rows].reshape(-1, 3)
        slip = np.linalg.norm(y[:, 1:], axis=1)
        assert slip.min() > 1e-3
        np.testing.assert_allclose(y[:, 0], 0.5 * slip, atol=1e-14)


@pytest.mark.parametrize(
    ("rows", "points"),
    [(1, 1), (3, 1), (6, 1), (12, 4), (20, 8), (24, 8), (27, 9), (48, 16), (192, 64), (30_000, 10_000)],
)
def test_rows_are_rounded_to_a_known_number_of_points(rows, points):
    assert make("box_on_points", n=rows).problem.contacts == points


def test_points_are_spread_over_the_face_and_carry_the_load_evenly():
    for rows in (12, 24, 48):
        scene = make("box_on_points", n=rows)
        np.testing.assert_allclose(scene.x[::3], 2.0 * 9.81 * 0.01 / scene.problem.contacts, rtol=1e-12)
        assert np.linalg.matrix_rank(scene.jacobian.toarray(), tol=1e-9) == 6


def test_the_known_load_is_the_shortest_there_is():
    scene = make("box_on_points", n=48, lean=0.3)
    normal = scene.jacobian.toarray()[::3]
    shortest = np.linalg.pinv(normal.T) @ (normal.T @ scene.x[::3])
    np.testing.assert_allclose(scene.x[::3], shortest, atol=1e-14)


def test_a_block_that_would_tip_over_is_refused():
    with pytest.raises(ValueError, match="lift off"):
        make("block_on_incline", friction=5.0)
    assert make("block_on_incline", friction=5.0, n=3).x is not None
    with pytest.raises(ValueError, match="must not be negative"):
        make("block_on_incline", friction=0.1, excess=-0.5)


@pytest.mark.parametrize("model", MODELS)
def test_another_velocity_changes_b_alone(model):
    scene = make("pinched_capsule", model=model)
    same = scene.step_from(scene.before)
    np.testing.assert_array_equal(same.b, scene.problem.b)
    velocity = np.random.default_rng(0).standard_normal(18)
    other = scene.step_from(velocity)
    np.testing.assert_allclose(other.b, scene.jacobian @ (velocity + scene.push), atol=1e-14)
    assert other.A is scene.problem.A
    assert (other.model, other.contact_rows, other.n) == (model, 12, 20)
    np.testing.assert_array_equal(other.friction, scene.problem.friction)
    x = np.ones(20)
    np.testing.assert_allclose(scene.velocity(x, velocity) - scene.velocity(x), velocity, atol=1e-13)


def test_the_inertia_of_the_capsule_is_that_of_its_volume():
    """By summing over thin discs: a disc of radius s has s^2 / 2 about the axis, s^2 / 4 + y^2 across, a kilogram."""
    edges = np.linspace(-HALF_LENGTH - RADIUS, HALF_LENGTH + RADIUS, 200_001)
    y = 0.5 * (edges[1:] + edges[:-1])
    square = RADIUS**2 - np.maximum(np.abs(y) - HALF_LENGTH, 0.0) ** 2
    weight = MASS * square / square.sum()
    along, across = (weight * square / 2).sum(), (weight * (square / 4 + y**2)).sum()
    np.testing.assert_allclose(np.diag(_capsule_inertia()), [across, along, across], rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "expected", "count"),
    [
        ({}, "infeasible", 0),
        ({"spin": 6.0}, "several", 2),
        ({"friction": 0.5}, "solvable", 1),
        ({"friction": 0.5, "spin": 6.0}, "solvable", 1),
        ({"friction": 1.32}, "solvable", 1),
        ({"friction": 1.34}, "infeasible", 0),
    ],
)
def test_painleves_rod_has_no_force_or_two_beyond_a_friction_of_four_thirds(options, expected, count):
    example = make("painleve_rod", **options)
    assert example.expected == expected
    assert len(example.solutions) == count
    for x in example.solutions:
        assert perp.verify(example.problem, x).residual < 1e-13


@given(
    friction=st.floats(0.0, 4.0),
    lean=st.floats(0.05, 1.5),
    spin=st.floats(-10.0, 10.0),
    slip=st.floats(-3.0, 3.0),
    dt=st.floats(1e-4, 1e-1),
)
def test_impulses_of_painleves_rod_exist_in_odd_number_and_the_convex_ones_are_unique(friction, lean, spin, slip, dt):
    for model in ("box", "cone", "convex"):
        scene = make("painleve_step", friction=friction, lean=lean, spin=spin, slip=slip, dt=dt, model=model)
        assert len(scene.solutions) in ((1,) if model == "convex" else (1, 3))
        check(scene)


def test_the_step_of_painleves_rod_has_the_accelerations_of_its_forces():
    """While the end slides on, x = dt f, and y_n / dt is the normal acceleration."""
    step, rod = (make(kind, friction=0.5) for kind in ("painleve_step", "painleve_rod"))
    np.testing.assert_allclose(step.x[0] / 0.001, rod.x[0], rtol=1e-12)
    step, rod = (make(kind, friction=0.5, spin=6.0) for kind in ("painleve_step", "painleve_rod"))
    assert not step.x.any()
    np.testing.assert_allclose(step.problem.b[0] / 0.001, rod.problem.b[0], rtol=1e-9)
