"""Torsion and rolling: planted solutions, the law of maximum dissipation, and balls that spin and roll to rest."""

from __future__ import annotations

import numpy as np
import pytest
import wide_contacts
from wide_contacts import DIMENSIONS, MODELS

import perp
from perp import ConeInterior, ConeNewton
from perp.solvers.newton.cone.equations import FUNCTIONS, ContactEquations
from perp.solvers.selection import is_selected, select_motion

GRAVITY = 9.81


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", ["cone_interior", "cone_newton", "auto"])
def test_sticking_sliding_and_open_contacts_are_found(method, model, dimension, zeros):
    for seed in range(3):
        problem, x = wide_contacts.planted(model, dimension, zeros=zeros, seed=seed)
        result = perp.solve(problem, method, tol=1e-11)
        assert result.success
        np.testing.assert_allclose(result.x, x, atol=1e-9)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_a_matrix_gives_the_same_answer_to_the_path_and_to_auto_the_last_digits(model, dimension, form):
    problem, x = wide_contacts.planted(model, dimension, form=form, zeros=True)
    by_the_path = perp.solve(problem, "cone_interior", tol=1e-7)
    assert by_the_path.success
    np.testing.assert_allclose(by_the_path.x, x, atol=1e-5)
    result = perp.solve(problem)
    assert result.success
    np.testing.assert_allclose(result.x, x, atol=1e-9)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("compliance", [0.0, 0.01])
def test_redundant_contacts_are_solved_to_rounding_from_any_start(model, dimension, compliance):
    for seed in range(3):
        problem = wide_contacts.redundant(model, dimension, zeros=seed == 1, seed=seed).with_compliance(compliance)
        first = perp.solve(problem, ConeInterior(), tol=1e-11)
        assert first.success
        again = perp.solve(problem, ConeInterior(), tol=1e-11, x0=first.x * 1.001)
        assert again.success
        np.testing.assert_allclose(again.y, first.y, atol=1e-8)


def test_a_start_with_the_right_states_saves_the_path():
    problem, x = wide_contacts.planted("cone", 6, zeros=True)
    warm = perp.solve(problem, ConeInterior(), tol=1e-11, x0=problem.project(x * (1.0 + 1e-6)))
    assert warm.success
    assert warm.iterations <= 3


@pytest.mark.parametrize("dimension", [4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_no_impulse_that_is_allowed_dissipates_more(seed, dimension):
    """The law itself, without levers: of all x_t with |x_t / mu| <= x_n the one that takes most from the motion."""
    problem = wide_contacts.redundant("cone", dimension, zeros=True, seed=seed)
    result = perp.solve(problem, tol=1e-12)
    assert result.success
    x, y = result.x.reshape(5, dimension), result.y.reshape(5, dimension)
    rng = np.random.default_rng(seed)
    assert (x[:, 0] >= 0.0).all()
    assert (y[:, 0] >= -1e-11).all()
    assert np.abs(x[:, 0] * y[:, 0]).max() <= 1e-11
    for _ in range(200):
        direction = rng.standard_normal((5, dimension - 1))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        other = problem.friction * x[:, :1] * direction
        assert ((x[:, 1:] * y[:, 1:]).sum(axis=1) <= (other * y[:, 1:]).sum(axis=1) + 1e-11).all()


def test_coefficients_that_are_equal_make_the_contact_of_one_coefficient():
    narrow = perp.gallery.make("box_stack", n=96, model="cone", mass_ratio=100.0).problem
    wide = perp.ContactProblem(narrow.A, narrow.b, np.repeat(narrow.friction[:, None], 2, axis=1), "cone")
    np.testing.assert_allclose(perp.solve(wide).y, perp.solve(narrow).y, atol=1e-8)


@pytest.mark.parametrize("model", ["cone", "box"])
def test_the_units_of_a_row_change_nothing_not_even_the_motion_that_is_selected(model):
    """A tangent told in millimetres, where redundant contacts leave the motion open."""
    narrow = perp.gallery.make("box_stack", n=48, model=model, load="gravity").problem
    units = np.tile([1.0, 1.0, 1e-3], narrow.contacts)
    A = perp.FactoredOperator(units[:, None] * narrow.A.J.toarray(), narrow.A.mass.to_sparse())
    friction = np.column_stack([narrow.friction, 1e3 * narrow.friction])
    wide = perp.ContactProblem(A, units * narrow.b, friction, model)
    x = perp.solve(narrow, "cone_interior", tol=1e-11, x0=np.ones(narrow.n)).x
    assert perp.verify(wide, x / units).residual == pytest.approx(perp.verify(narrow, x).residual, abs=1e-14)
    assert not is_selected(narrow, x)
    assert not is_selected(wide, x / units)
    first, second = select_motion(narrow, x), select_motion(wide, x / units)
    np.testing.assert_allclose(second.x * units, first.x, atol=1e-10)


# ---- a ball on a plane

MASS, RADIUS, STEP = 2.0, 0.1, 0.01
INERTIA = 0.4 * MASS * RADIUS**2


def ball_on_ground(velocity: np.ndarray, friction: list[float]) -> perp.ContactProblem:
    """One time step: rows normal (z), slip in x and y, spin about z, rolling about x and y; six velocities."""
    J = np.zeros((6, 6))
    J[0, 2] = J[1, 0] = J[2, 1] = J[3, 5] = J[4, 3] = J[5, 4] = 1.0
    J[1, 4], J[2, 3] = -RADIUS, RADIUS  # the point of contact moves with v + omega x (0, 0, -R)
    rows = 1 + len(friction)
    A = perp.FactoredOperator(J[:rows], np.diag([MASS] * 3 + [INERTIA] * 3))
    falling = velocity + STEP * np.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0])
    return perp.ContactProblem(A, J[:rows] @ falling, [friction], "cone", dimension=rows)


def roll(velocity: np.ndarray, friction: list[float], steps: int, tol: float = 1e-12) -> list[np.ndarray]:
    velocity, told = np.array(velocity, dtype=float), []
    for _ in range(steps):
        problem = ball_on_ground(velocity, friction)
        result = perp.solve(problem, tol=tol)
        assert result.success
        velocity = velocity + STEP * np.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0]) + problem.A.velocity(result.x)
        told.append(velocity)
    return told


@pytest.mark.parametrize("rows", [4, 6])
def test_torsional_friction_stops_a_spinning_ball_at_the_known_rate(rows):
    """omega' = -mu m g / I until it is zero, mu the coefficient in metres."""
    torsion, spin = 0.004, 3.0
    friction = [0.5, 0.5, torsion, 0.001, 0.001][: rows - 1]
    rate = torsion * MASS * GRAVITY / INERTIA
    for k, velocity in enumerate(roll(np.array([0.0, 0, 0, 0, 0, spin]), friction, 40), start=1):
        expected = max(spin - k * STEP * rate, 0.0)
        np.testing.assert_allclose(velocity, [0.0, 0, 0, 0, 0, expected], atol=1e-10)


def test_rolling_friction_stops_a_rolling_ball_at_the_known_rate():
    """With a large mu, v' = -(mu_r / R) m g / (m + I / R^2) = -5/7 g mu_r / R."""
    rolling, speed = 0.002, 0.5
    start = np.array([speed, 0.0, 0.0, 0.0, speed / RADIUS, 0.0])
    rate = 5.0 / 7.0 * GRAVITY * rolling / RADIUS
    for k, velocity in enumerate(roll(start, [1e3, 1e3, 0.0, rolling, rolling], 60, tol=1e-10), start=1):
        expected = max(speed - k * STEP * rate, 0.0)
        np.testing.assert_allclose(velocity, [expected, 0.0, 0.0, 0.0, expected / RADIUS, 0.0], atol=1e-7)


def test_a_ball_that_rolls_against_resistance_creeps_by_the_square_of_the_coefficients():
    """One ball bounds all rows: on its surface x_i / x_j = mu_i^2 y_i / (mu_j^2 y_j)."""
    start = np.array([0.5, 0.0, 0.0, 0.0, 5.0, 0.0])
    problem = ball_on_ground(start, [0.5, 0.5, 0.0, 0.01, 0.01])
    result = perp.solve(problem, tol=1e-13)
    (_, x_t, _, _, _, x_r), (_, y_t, _, _, _, y_r) = result.x, result.y
    assert y_t != 0.0
    assert x_t / x_r == pytest.approx(0.5**2 * y_t / (0.01**2 * y_r), rel=1e-6)


def test_sliding_and_spinning_share_one_limit():
    """A ball that spins slides further: what resists the spin is missing where it slides."""
    moving, spinning = np.array([1.0, 0, 0, 0, 0, 0]), np.array([1.0, 0, 0, 0, 0, 50.0])
    (still,), (turned,) = (roll(start, [0.3, 0.3, 0.01], 1) for start in (moving, spinning))
    assert still[0] == pytest.approx(1.0 - STEP * 0.3 * GRAVITY)
    assert still[0] < turned[0] < 1.0
    lost = np.array([(1.0 - turned[0]) * MASS / 0.3, (50.0 - turned[5]) * INERTIA / 0.01])
    assert np.linalg.norm(lost) == pytest.approx(STEP * MASS * GRAVITY)


# ---- Newton's equations


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_the_derivative_is_that_of_the_equations(model, dimension, function):
    rng = np.random.default_rng(3)
    problem = wide_contacts.redundant(model, dimension, zeros=True)
    equations = ContactEquations(problem, function, 1.0)
    x, y, centre = 0.3 * rng.standard_normal((3, problem.n))
    laws = (equations.law, equations.frozen(x, y))
    for equation in (equations.asked, *(equations.near(law, centre, 0.5) for law in laws)):
        E, G = equations.linearise(equation, x, y)
        step = 1e-7

        def change(dx, dy, equation=equation):
            sides = np.empty((2, problem.n))
            for side, F in zip((1.0, -1.0), sides, strict=True):
                equations.measure(equation, x + side * dx, y + side * dy, F)
            return (sides[0] - sides[1]) / 2.0

        for unit in step * np.eye(problem.n):
            np.testing.assert_allclose(change(unit, 0.0 * unit), E.apply(unit), atol=1e-5 * step)
            np.testing.assert_allclose(change(0.0 * unit, unit), G.apply(unit), atol=1e-5 * step)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("model", MODELS)
def test_with_equal_coefficients_they_are_those_of_one_coefficient(model, function):
    rng = np.random.default_rng(0)
    narrow = perp.gallery.make("box_stack", n=48, model=model).problem
    wide = perp.ContactProblem(narrow.A, narrow.b, np.repeat(narrow.friction[:, None], 2, axis=1), model)
    pair = [ContactEquations(problem, function, 1.0) for problem in (narrow, wide)]
    for _ in range(10):
        x, y = 0.5 * rng.standard_normal((2, narrow.n))
        F = np.empty((2, narrow.n))
        merits = [one.measure(one.asked, x, y, F[k]) for k, one in enumerate(pair)]
        assert merits[1] == pytest.approx(merits[0], rel=1e-12)
        np.testing.assert_allclose(F[1], F[0], rtol=1e-12, atol=1e-14)
        for first, second in zip(*(one.linearise(one.asked, x, y) for one in pair), strict=True):
            np.testing.assert_allclose(second.blocks, first.blocks, rtol=1e-12, atol=1e-14)


def test_newton_steps_alone_converge_to_rounding():
    problem, x = wide_contacts.planted("cone", 6, zeros=True)
    method = ConeNewton(start_sweeps=0, sweeps=0, proximal="never")
    result = perp.solve(problem, method, tol=1e-13, x0=problem.project(x + 1e-3))
    assert result.residual <= 1e-12
    assert result.iterations <= 8
