"""PGS-SM ends exactly, falls back where sets were wrong, and does what its options say."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import FORMS, factored_operator, in_form

import perp
from perp import gallery
from perp.errors import MethodRefused
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import choose_system
from perp.solvers.splitting import subspace
from perp.solvers.splitting.subspace import ACTIVE, FIXED, LOWER, PGSSM, UPPER, ReducedEquation, find_sets


def test_index_sets_are_those_of_equation_19_and_rows_without_room_are_fixed():
    inf = np.inf
    x = np.array([0.0, 0.5, 1.0, 0.0, -3.0])
    lower, upper = np.array([0.0, 0.0, 0.0, 0.0, -inf]), np.array([1.0, 1.0, 1.0, 0.0, inf])
    assert find_sets(x, lower, upper).tolist() == [LOWER, ACTIVE, UPPER, FIXED, ACTIVE]


def test_without_subspace_steps_it_is_pgs():
    problem = gallery.make("box_stack", n=96, layout="tower").problem
    state = PGSSM(k_sm=0, fallback="none").start(problem, np.zeros(problem.n))
    PGSSM(k_sm=0, fallback="none").step(problem, state, 4)
    sweeps = perp.solve(problem, "pgs", max_iterations=100, tol=0.0, stop=perp.Stopping(keep="last"))
    np.testing.assert_allclose(state.x, sweeps.x, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_any_split_of_the_steps_gives_the_same_bits(form):
    rng = np.random.default_rng(3)
    problem = perp.ContactProblem(
        in_form(factored_operator(rng, 4, 2), form), rng.standard_normal(14), 0.4, extra_rows=2
    )
    method = PGSSM(k_pgs=2, k_sm=2)
    states = []
    for widths in ((5,), (2, 3), (0, 1, 4)):
        state = method.start(problem, problem.project(np.zeros(14)))
        for width in widths:
            method.step(problem, state, width)
        states.append(state)
    for state in states[1:]:
        np.testing.assert_array_equal(state.x, states[0].x)
        assert state.counters == states[0].counters


@pytest.mark.parametrize("linear", ["direct", "cg", "pcg"])
@pytest.mark.parametrize("kind", ["dense_pd", "dense_psd", "boxed_pd", "poisson_2d", "redundant_contacts"])
def test_it_ends_at_rounding_level_once_the_sets_are_right(kind, linear):
    problem = gallery.make(kind).problem
    result = perp.solve(problem, PGSSM(linear=linear), max_iterations=20)
    assert result.success
    assert result.residual < (1e-13 if linear == "direct" else 1e-8)
    assert result.history.counters["factorisations"][-1] >= 1
    if kind != "redundant_contacts":  # which the sweeps solve alone
        assert (result.history.counters["cg_iterations"][-1] > 0) == (linear != "direct")


def test_reduced_equations_that_contradict_each_other_are_solved_in_the_least_squares_sense():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((5, 3))
    A = G @ G.T
    free = np.array([True, True, True, True, False])
    problem = perp.BoxLCP(A, rng.standard_normal(5), -np.inf, np.inf)
    equation = ReducedEquation(problem, choose_system(problem), np.zeros(5))
    x = rng.standard_normal(5)
    equation.solve(x, free)
    assert equation.contradicts
    found = equation.solve_least_squares(x, free)
    D = 1.0 / np.sqrt(A.diagonal()[free])
    expected = x.copy()
    expected[free] += D * np.linalg.lstsq(D[:, None] * A[np.ix_(free, free)] * D, -D * problem.slack(x)[free])[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    consistent = perp.BoxLCP(A, G @ rng.standard_normal(3), -np.inf, np.inf)
    equation = ReducedEquation(consistent, choose_system(consistent), np.zeros(5))
    assert np.abs(consistent.slack(equation.solve(x, free))[free]).max() < 1e-12
    assert not equation.contradicts


def test_equations_without_a_solution_end_honestly_with_finite_numbers():
    problem = perp.BoxLCP(np.ones((2, 2)), [-1.0, -2.0], -np.inf, np.inf)
    for fallback in ("proximal", "best", "none"):
        result = perp.solve(problem, PGSSM(fallback=fallback), max_iterations=30)
        assert not result.success
        assert np.isfinite(result.x).all()


def test_an_iteration_that_may_fall_back_is_better_than_all_before_or_one_of_pgs_from_the_best():
    problem = gallery.make("boxed_pile", n=300).problem
    method = PGSSM(fallback="best")
    state = method.start(problem, np.zeros(problem.n))
    pgs = perp.PGS()
    for _ in range(20):
        best, least, fallbacks = state.refuge.copy(), state.least, state.counters["fallbacks"]
        method.step(problem, state, 1)
        assert perp.verify(problem, state.x).residual <= state.least * (1 + 1e-12)
        if state.counters["fallbacks"] == fallbacks:
            assert state.least < least
        else:
            swept = pgs.start(problem, best)
            pgs.step(problem, swept, 25)
            np.testing.assert_allclose(state.refuge, swept.x, rtol=1e-9, atol=1e-9)
    assert state.counters["fallbacks"] > 5
    assert state.counters["sweeps"] == 25 * (20 + state.counters["fallbacks"])


def test_wrong_sets_lead_astray_as_printed_and_the_proximal_fallback_solves():
    problem = gallery.make("boxed_pile", n=300).problem
    last = perp.Stopping(keep="last")
    printed = perp.solve(problem, PGSSM(fallback="none"), max_iterations=20, stop=last)
    assert printed.residual > 100.0 * perp.solve(problem, "pgs", max_iterations=500).residual
    assert perp.solve(problem, PGSSM(), max_iterations=20).success


def test_lazy_bounds_lead_another_way_to_the_same_slack():
    problem = gallery.make("box_stack", n=240, layout="tower").problem
    methods = [PGSSM(bounds=bounds) for bounds in ("inside", "lazy")]
    states = [method.start(problem, np.zeros(problem.n)) for method in methods]
    for method, state in zip(methods, states, strict=True):
        method.step(problem, state, 1)
    assert np.abs(states[0].point - states[1].point).max() > 0.01
    results = [perp.solve(problem, method) for method in methods]
    assert all(result.success for result in results)
    np.testing.assert_allclose(results[0].y, results[1].y, atol=1e-6)


def softened(problem, gamma):
    return perp.ContactProblem(problem.A.to_dense() + np.diag(gamma), problem.b, problem.friction)


@pytest.mark.parametrize("regularise", ["all", "friction"])
def test_a_regularised_iteration_ends_at_the_answer_of_the_regularised_problem(regularise):
    problem = gallery.make("box_stack", n=36, layout="tower", compliance=0.1).problem
    gamma = np.full(problem.n, 0.05)
    if regularise == "friction":
        gamma[problem.normal_rows] = 0.0
    expected = perp.solve(softened(problem, gamma), "pgs", tol=1e-12, max_iterations=20_000)
    assert expected.success
    method = PGSSM(regularisation=0.05, regularise=regularise, k_sm=60)
    result = perp.solve(problem, method, max_iterations=10, stop=perp.Stopping(keep="last"))
    np.testing.assert_allclose(result.x, expected.x, atol=1e-9)
    assert not result.success  # it is not the answer of the problem that was asked
    assert result.residual > 1e-4


def test_friction_rows_of_a_box_are_those_with_two_bounds():
    problem = perp.BoxLCP(np.eye(4), -np.ones(4), [0.0, -0.5, -np.inf, 0.0], [np.inf, 2.0, np.inf, np.inf])
    method = PGSSM(regularisation=1.0, regularise="friction")
    result = perp.solve(problem, method, max_iterations=3, stop=perp.Stopping(keep="last"))
    np.testing.assert_allclose(result.x, [1.0, 0.5, 1.0, 1.0])


def test_steps_end_early_where_the_residual_hardly_changes():
    problem = gallery.make("box_stack", n=240, layout="tower").problem
    steps = [
        perp.solve(problem, PGSSM(relative=relative), max_iterations=4).history.counters["subspace_steps"][-1]
        for relative in (0.0, 0.9)
    ]
    assert steps[1] < steps[0]


def test_an_indefinite_matrix_breaks_conjugate_gradients_down_and_not_the_factors():
    A, b = np.array([[1.0, 3.0], [3.0, 1.0]]), np.array([-1.0, -1.0])
    result = perp.solve(perp.BoxLCP(A, b, 0.0, 10.0), PGSSM(linear="cg", k_pgs=1), x0=[1.0, 1.0])
    assert result.success or result.status is perp.Status.BREAKDOWN
    assert np.isfinite(result.x).all()
    assert np.isfinite(perp.solve(perp.BoxLCP(A, b, 0.0, 10.0), PGSSM(k_pgs=1), x0=[1.0, 1.0]).x).all()


def test_factors_take_an_asymmetric_matrix_and_conjugate_gradients_refuse_it():
    problem = perp.LCP([[2.0, 1.0], [0.0, 2.0]], [-1.0, -1.0])
    assert perp.solve(problem, PGSSM()).success
    with pytest.raises(MethodRefused, match=r"symmetric.*A\[0,1\]"):
        perp.solve(problem, PGSSM(linear="cg"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k_pgs": 0}, "k_pgs"),
        ({"k_sm": -1}, "k_sm"),
        ({"bounds": "outside"}, "inside"),
        ({"fallback": "worst"}, "best"),
        ({"regularise": "normals"}, "friction"),
        ({"regularisation": -1.0}, "regularisation"),
        ({"linear": "lu"}, "direct"),
        ({"space": "outer"}, "body"),
        ({"relative": -0.1}, "relative"),
        ({"preconditioner": "magic"}, "jacobi"),
        ({"inner_tolerance": 0.0}, "inner_tolerance"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        PGSSM(**options)


def test_a_factor_that_failed_is_not_taken_for_the_one_before_it(monkeypatch):
    problem = perp.LCP(np.array([[2.0, 1.0], [1.0, 3.0]]), [-1.0, -1.0])
    equation = ReducedEquation(problem, choose_system(problem), np.zeros(2))
    everything, first, system = np.array([True, True]), np.array([True, False]), equation.system
    solution = equation.solve(np.zeros(2), everything)
    kept = system.factor

    def spoil(free, shift):
        kept(np.array([False, False]), shift)
        raise NotFinite("given up half-way")

    monkeypatch.setattr(system, "factor", spoil)
    with pytest.raises(NotFinite):
        equation.solve(np.zeros(2), first)
    monkeypatch.setattr(system, "factor", kept)
    np.testing.assert_array_equal(equation.solve(np.zeros(2), everything), solution)


def test_sweeps_are_as_many_as_asked_for_however_they_are_called(monkeypatch):
    problem = gallery.make("box_stack", n=48).problem
    method = PGSSM(k_pgs=250, k_sm=0, fallback="none")
    points = []
    for most in (100, 1000):
        monkeypatch.setattr(subspace, "SWEEPS_A_CALL", most)
        state = method.start(problem, np.zeros(problem.n))
        method.step(problem, state, 1)
        assert state.counters["sweeps"] == 250
        points.append(state.x)
    np.testing.assert_array_equal(*points)


def test_an_empty_problem_and_one_without_friction_are_solved():
    assert perp.solve(perp.LCP(np.zeros((0, 0)), []), PGSSM()).success
    stack = gallery.make("box_stack", n=96).problem
    smooth = perp.solve(perp.ContactProblem(stack.A, stack.b, 0.0), PGSSM())
    assert smooth.success
    assert not smooth.x.reshape(-1, 3)[:, 1:].any()


@pytest.mark.parametrize(
    "name", ["Box_Stacks-i0122-82-5.hdf5", "Capsules-i125-1213.hdf5", "../../fclib/local_problem_test.hdf5"]
)
def test_the_box_model_of_real_contacts_is_solved_in_few_iterations(shared, name):
    pytest.importorskip("h5py")
    problem = perp.load(shared / "data/siconos/fclib_hdf5" / name)
    boxed = perp.ContactProblem(problem.A, problem.b, problem.friction, "box")
    result = perp.solve(boxed, PGSSM(), max_iterations=30)
    assert result.success
