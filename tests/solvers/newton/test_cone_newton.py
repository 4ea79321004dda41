"""Newton's method for contact laws: its iterates against a twin, every model and form, hard inputs, honest ends."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import ContactProblem, Status, gallery
from perp.errors import MethodRefused
from perp.solvers.newton.cone.cone_newton import ConeNewton

PLAIN = {"start_sweeps": 0, "sweeps": 0, "proximal": "never"}
MODELS = ["box", "cone", "convex", "disc"]


def no_worse(result, problem, tol=1e-8):
    """What must hold of every result whatever its status."""
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation <= 1e-12 * max(1.0, np.abs(result.x).max(initial=0.0))
    assert result.success == (found.residual <= tol)
    return result


# -- a twin -----------------------------------------------------------------------------------------------------------


def alart_curnier(mu, rho, x, y):
    """F, E and G of one contact (Alart & Curnier 1991)."""
    F, E, G = np.empty(3), np.zeros((3, 3)), np.zeros((3, 3))
    normal, w = max(0.0, x[0] - rho * y[0]), x[1:] - rho * y[1:]
    on, radius, length = float(normal > 0.0), mu * normal, np.linalg.norm(w)
    F[0], E[0, 0], G[0, 0] = x[0] - normal, 1.0 - on, rho * on
    if length <= radius and radius > 0.0:  # sticks
        F[1:], slope = rho * y[1:], np.eye(2)
    else:
        unit = w / length if length > 0.0 else np.zeros(2)
        F[1:] = x[1:] - radius * unit
        slope = (radius / length if length > 0.0 else 0.0) * (np.eye(2) - np.outer(unit, unit))
        E[1:, 0], G[1:, 0] = -mu * on * unit, rho * mu * on * unit
    E[1:, 1:], G[1:, 1:] = np.eye(2) - slope, rho * slope
    return F, E, G


def iterates_of_twin(problem, count):
    """Plain Newton from zero: dense blocks, regularised by 0.01 ||F||, monotone back-tracking on the energy of F."""
    A, b = problem.A.to_dense(), problem.b
    stiffness = np.repeat(A.diagonal().reshape(-1, 3).mean(axis=1), 3)
    unit = 1.0 / np.sqrt(stiffness)
    largest = max(np.abs(F / unit).max() for F in [b / stiffness, natural(problem, A, stiffness, np.zeros(b.size))])
    unit *= 2.0 ** np.frexp(largest)[1]
    x, share = np.zeros(b.size), 0.01
    for _ in range(count):
        F, E, G = full_equations(problem, A, stiffness, x)
        theta = 0.5 * np.sum((F / unit) ** 2)
        added = min(1.0 / 32.0, max(1e-9, share * np.sqrt(2.0 * theta)))
        dx = np.linalg.solve(E + G @ (A + added * np.diag(stiffness)), -F)
        slope = np.sum((F / unit) * ((E + G @ A) @ dx / unit))
        tau = 1.0
        while 0.5 * np.sum((full_equations(problem, A, stiffness, x + tau * dx)[0] / unit) ** 2) > (
            theta + 1e-4 * tau * slope
        ):
            tau *= 0.5
        share = share * 0.1 if tau == 1.0 and -slope < theta else min(0.01, 4.0 * share) if tau < 0.1 else share
        x = x + tau * dx
        yield problem.project(x)


def full_equations(problem, A, stiffness, x):
    y = A @ x + problem.b
    F, E, G = np.empty(x.size), np.zeros(A.shape), np.zeros(A.shape)
    for c in range(problem.contacts):
        own = slice(3 * c, 3 * c + 3)
        F[own], E[own, own], G[own, own] = alart_curnier(problem.friction[c], 1.0 / stiffness[3 * c], x[own], y[own])
    return F, E, G


def natural(problem, A, stiffness, x):
    return full_equations(problem, A, stiffness, x)[0]


@pytest.mark.parametrize("seed", range(6))
def test_plain_iterates_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    A = strategies.factored_operator(rng, 6)
    problem = gallery.planted_contacts(A, rng.choice([0.0, 0.3, 0.9], 6), "cone", seed=seed).problem
    method = ConeNewton(**PLAIN, memory=1)
    state = method.start(problem, np.zeros(problem.n))
    for expected in iterates_of_twin(problem, 6):
        if perp.verify(problem, state.x).residual < 1e-9:
            break  # from here on both are right up to rounding
        method.step(problem, state, 1)
        np.testing.assert_allclose(state.x, expected, rtol=1e-6, atol=1e-8)


# -- contracts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"proximal": "always"}, PLAIN, {"function": "natural_map"}])
@pytest.mark.parametrize("seed", [0, 1])
def test_two_steps_and_three_are_five(options, seed):
    problem = gallery.make("box_stack", n=144, model="cone", mass_ratio=100.0, load="gravity", seed=seed).problem
    method = ConeNewton(**options)
    at_once, in_parts = (method.start(problem, np.zeros(problem.n)) for _ in range(2))
    for _ in range(8):
        method.step(problem, at_once, 5)
        method.step(problem, in_parts, 0)
        method.step(problem, in_parts, 2)
        method.step(problem, in_parts, 3)
        np.testing.assert_array_equal(at_once.x, in_parts.x)
        assert at_once.counters == in_parts.counters


@given(problem=strategies.contact_problems(), model=st.sampled_from(MODELS), start=st.sampled_from([0.0, 1.0]))
def test_every_model_form_and_extra_row_is_solved(problem, model, start):
    problem = ContactProblem(problem.A, problem.b, problem.friction, model, lower=problem.lower, upper=problem.upper)
    result = no_worse(perp.solve(problem, ConeNewton(), tol=1e-9, x0=np.full(problem.n, start)), problem, 1e-9)
    if result.status is not Status.CONVERGED:  # random contacts and joints may contradict each other
        assert result.status in (Status.STAGNATED, Status.NON_DESCENT, Status.REDUCED_ACCURACY)


@pytest.mark.parametrize("function", ["alart_curnier", "natural_map"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("form", strategies.FORMS)
def test_planted_contacts_are_found_in_every_form(form, model, function):
    rng = np.random.default_rng(7)
    operator = strategies.factored_operator(rng, 6, 2)
    example = gallery.planted_contacts(
        strategies.in_form(operator, form), 0.4, model, extra_rows=2, lower=-0.5, upper=0.5, seed=3
    )
    result = perp.solve(example.problem, ConeNewton(function=function), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_planar_contacts_are_solved_in_every_space(space, model):
    rng = np.random.default_rng(2)
    A = perp.FactoredOperator(sparse.csr_array(rng.standard_normal((12, 20))), np.full(20, 2.0))
    example = gallery.planted_contacts(A, 0.6, model, dimension=2, seed=1)
    result = perp.solve(example.problem, ConeNewton(space=space), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_redundant_contacts_are_solved_in_every_space(space):
    problem = gallery.make("box_stack", n=144, model="cone", mass_ratio=100.0).problem
    assert perp.solve(problem, ConeNewton(space=space), tol=1e-10).success


def test_frictionless_and_empty_problems_are_no_special_case():
    for model in MODELS:
        smooth = gallery.make("box_stack", n=48, model=model, friction=0.0).problem
        assert perp.solve(smooth, ConeNewton(), tol=1e-10).success
        nothing = ContactProblem(np.empty((0, 0)), np.empty(0), np.empty(0), model)
        assert perp.solve(nothing, ConeNewton()).success
        state = ConeNewton().start(nothing, np.empty(0))
        ConeNewton().step(nothing, state, 3)
        assert state.ended is not None


# -- what it is for ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["alart_curnier", "natural_map"])
@pytest.mark.parametrize("excess", [-1e-6, 1e-6])
def test_a_block_at_the_edge_of_sliding_sticks_or_slides(excess, function):
    """m = 2 kg on a slope of atan(mu) + excess: sticks below, slides with g (sin - mu cos) dt above."""
    mu, mass, dt = 0.5, 2.0, 0.01
    slope = np.arctan(mu) + excess
    b = 9.81 * dt * np.array([-np.cos(slope), np.sin(slope), 0.0])
    result = perp.solve(ContactProblem(np.eye(3) / mass, b, mu, "cone"), ConeNewton(function=function), tol=1e-13)
    assert result.success
    speed = max(0.0, 9.81 * dt * (np.sin(slope) - mu * np.cos(slope)))
    np.testing.assert_allclose(result.y, [0.0, speed, 0.0], atol=1e-13)


@pytest.mark.parametrize("mass_ratio", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("friction", [0.1, 1.0])
@pytest.mark.parametrize("load", ["planted", "gravity"])
def test_stacks_with_redundant_contacts_are_solved_to_many_digits(mass_ratio, friction, load):
    problem = gallery.make("box_stack", n=48, model="cone", mass_ratio=mass_ratio, friction=friction, load=load).problem
    result = perp.solve(problem, ConeNewton(), tol=1e-10)
    assert result.success
    found = perp.verify(problem, result.x)
    assert found.de_saxce < 1e-9
    assert found.cone_violation < 1e-12


@pytest.mark.parametrize("name", ["fclib/local_problem_test.hdf5", "siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5"])
def test_published_problems_are_solved_to_rounding(shared, name):
    pytest.importorskip("h5py")
    problem = perp.load(shared / "data" / name)
    assert perp.solve(problem, ConeNewton(), tol=1e-12).success


@pytest.mark.parametrize(
    "name",
    [
        "fclib/local_problem_test.hdf5",
        "siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5",
        "siconos/fc/OneObject-i1028-138.hdf5.dat",
        "siconos/fc/NESpheres_10_1.dat",
        "siconos/fc/Rover1040.dat",
        "siconos/fc/FrictionContactProblem00071.dat",
    ],
)
def test_newton_solves_published_problems_without_a_single_sweep(shared, name):
    pytest.importorskip("h5py")
    result = perp.solve(perp.load(shared / "data" / name), ConeNewton(start_sweeps=0, sweeps=0), tol=1e-10)
    assert result.success
    assert result.history.counters["sweeps"][-1] == 0
    assert result.history.counters["factorisations"][-1] > 0


def test_a_matrix_that_is_not_symmetric_is_welcome():
    rng = np.random.default_rng(5)
    A = strategies.spd_matrix(rng, 12) + 0.05 * (lambda S: S - S.T)(rng.standard_normal((12, 12)))
    example = gallery.planted_contacts(A, 0.5, "cone", seed=2)
    result = perp.solve(example.problem, ConeNewton(), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-8)


# -- how it goes on, and how it ends ----------------------------------------------------------------------------------


def test_the_proximal_point_loop_helps_where_newton_stalls():
    problem = gallery.make("box_stack", n=144, model="cone", mass_ratio=100.0, load="gravity").problem
    alone = no_worse(perp.solve(problem, ConeNewton(proximal="never"), tol=1e-10), problem, 1e-10)
    assert alone.status in (Status.STAGNATED, Status.NON_DESCENT)
    helped = perp.solve(problem, ConeNewton(), tol=1e-10)
    assert helped.success
    counters = helped.history.counters
    assert counters["proximal_steps"][-1] > 0
    assert counters["frozen_steps"][-1] > 0
    assert counters["sweeps"][-1] >= 40
    assert counters["factorisations"][-1] < helped.iterations


def test_sweeps_are_one_iteration_and_lower_the_residual():
    problem = gallery.make("box_stack", n=144, model="cone").problem
    swept = perp.solve(problem, ConeNewton(start_sweeps=50), max_iterations=1)
    assert swept.history.counters["sweeps"][-1] == 50
    assert swept.history.counters["factorisations"][-1] == 0
    assert swept.history.residual[-1] < swept.history.residual[0]


def test_an_unsolvable_problem_ends_with_a_reason():
    """A normal row that no impulse moves, and that penetrates."""
    for A in (np.zeros((3, 3)), np.diag([0.0, 1.0, 1.0])):
        problem = ContactProblem(A, [-1.0, 0.3, 0.0], 0.5, "cone")
        result = no_worse(perp.solve(problem, ConeNewton()), problem)
        assert result.status in (Status.STAGNATED, Status.NON_DESCENT)
        assert result.message


@given(
    seed=st.integers(0, 2**31), model=st.sampled_from(MODELS), scale=st.sampled_from([1e-200, 1e-8, 1.0, 1e8, 1e200])
)
def test_any_matrix_at_any_scale_ends_without_a_fault(seed, model, scale):
    rng = np.random.default_rng(seed)
    A = scale * rng.standard_normal((6, 6)) * rng.choice([0.0, 1.0], (6, 6))
    problem = ContactProblem(A, scale * rng.standard_normal(6), rng.choice([0.0, 0.5, 1e6], 2), model)
    no_worse(perp.solve(problem, ConeNewton(), max_iterations=60), problem)


def test_asking_for_more_than_rounding_allows_ends_soon():
    for model in MODELS:
        problem = gallery.make("box_stack", n=48, model=model).problem
        result = no_worse(perp.solve(problem, ConeNewton(), tol=0.0), problem, 0.0)
        assert result.residual < 1e-13
        assert result.iterations < 500


def test_a_solution_is_left_as_it_is():
    example = gallery.make("box_stack", n=144, model="cone")
    assert perp.solve(example.problem, ConeNewton(), x0=example.x).iterations == 0
    warm = perp.solve(example.problem, ConeNewton(start_sweeps=0), x0=example.x * (1.0 + 1e-4), tol=1e-10)
    assert warm.success


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"function": "alart"}, "function"),
        ({"proximal": "often"}, "proximal"),
        ({"space": "bodies"}, "space"),
        ({"rho": 0.0}, "rho"),
        ({"regularisation": -1.0}, "regularisation"),
        ({"start_sweeps": -1}, "start_sweeps"),
        ({"sweeps": 1.5}, "sweeps"),
        ({"memory": 0}, "memory"),
        ({"reduction": 1.0}, "reduction"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, word):
    with pytest.raises((ValueError, TypeError), match=word):
        ConeNewton(**options)


def test_problems_outside_its_class_are_refused():
    with pytest.raises(MethodRefused, match="contact/cone"):
        perp.solve(perp.LCP(np.eye(3), -np.ones(3)), ConeNewton())
    with pytest.raises(MethodRefused, match="factored"):
        perp.solve(ContactProblem(np.eye(3), -np.ones(3), 0.5, "cone"), ConeNewton(space="body"))
