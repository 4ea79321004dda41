"""The nonsmooth nonlinear conjugate gradient method makes the iterates of its readable twin, in every form of A."""

from __future__ import annotations

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from strategies import FORMS, SEEDS, box_lcps, contact_problems, factored_operator, in_form, lcps

import perp
from perp import gallery
from perp.errors import MethodRefused
from perp.solvers.splitting.nncg import NNCG


def twin(problem, x, iterations, restart="published", order="forward", sign=1.0):
    """Silcowitz-Hansen, Niebe & Erleben 2010, Algorithm: x_0 first, then the swept points; and how often it restarts.

    `sign=-1` is the mistake of a published library, which calls PGS(x) - x the gradient and walks along -p.
    """

    def pgs(point):
        rows, contacts = None, None
        if isinstance(problem, perp.ContactProblem):
            contacts, rows = np.arange(problem.contacts)[::-1], np.arange(problem.contact_rows, problem.n)[::-1]
        else:
            rows = np.arange(problem.n)[::-1]
        if order != "backward":
            point = twins.sweep(problem, point, 1.0)
        return point if order == "forward" else twins.sweep(problem, point, 1.0, contacts, rows, rows_first=True)

    swept, restarts = [x.copy()], 0
    gradient, p = None, np.zeros(problem.n)
    for _ in range(iterations):
        last = gradient
        target = pgs(x)
        gradient = -(target - x)
        x = target
        swept.append(x.copy())
        if last is None or not last.any():
            p = -gradient
            continue
        beta = (gradient @ gradient) / (last @ last)
        bad = beta > 1 if restart == "published" else gradient @ p > 0
        if bad:
            p = np.zeros(problem.n)
            restarts += 1
        else:
            beta = min(beta, 1.0)
            x = x + sign * beta * p
            p = beta * p - gradient
    return swept, restarts


def run(problem, method, x, iterations):
    state = method.start(problem, x.copy())
    iterates = [x.copy()]
    for _ in range(iterations):
        method.step(problem, state, 1)
        iterates.append(state.x.copy())
    return iterates, state


def same_iterates(problem, iterations=15, **options):
    x = problem.project(np.random.default_rng(1).standard_normal(problem.n))
    found, state = run(problem, NNCG(**options), x, iterations)
    expected, restarts = twin(problem, x, iterations, **options)
    largest = max(1.0, max(np.abs(point).max() for point in expected))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-7 * largest)
    return state, restarts


OPTIONS = st.fixed_dictionaries(
    {
        "restart": st.sampled_from(["published", "gradient"]),
        "order": st.sampled_from(["forward", "backward", "symmetric"]),
    }
)


@given(st.one_of(lcps(), box_lcps()), OPTIONS)
def test_rows_in_every_explicit_form_follow_the_twin(problem, options):
    same_iterates(problem, **options)


@given(contact_problems(), OPTIONS)
def test_contacts_in_every_form_follow_the_twin(problem, options):
    same_iterates(problem, **options)


@given(SEEDS, st.sampled_from(FORMS[3:]), OPTIONS)
def test_rows_of_a_factored_matrix_follow_the_twin(seed, form, options):
    rng = np.random.default_rng(seed)
    A = in_form(factored_operator(rng, 3), form)
    same_iterates(perp.BoxLCP(A, rng.standard_normal(9), -0.5, rng.choice([0.5, np.inf], 9)), **options)


@pytest.mark.parametrize("restart", ["published", "gradient"])
def test_contacts_in_the_plane_and_restarts_follow_the_twin(restart):
    A = gallery.make("dense_pd", n=24, condition=1e3).problem.A
    problem = perp.ContactProblem(A, np.random.default_rng(0).standard_normal(24), 0.4, dimension=2, extra_rows=4)
    state, restarts = same_iterates(problem, 60, restart=restart)
    assert restarts > 0
    assert state.counters["restarts"] == restarts


def test_with_the_sign_of_the_direction_turned_round_it_is_another_method():
    problem = gallery.make("dense_pd", n=24, condition=1e3).problem
    right, wrong = (twin(problem, np.zeros(24), 10, sign=sign)[0][-1] for sign in (1.0, -1.0))
    found = run(problem, NNCG(), np.zeros(24), 10)[0][-1]
    np.testing.assert_allclose(found, right, atol=1e-10)
    assert np.abs(found - wrong).max() > 1e-3


@given(contact_problems(), OPTIONS)
def test_every_iterate_lies_within_its_bounds_though_the_swept_point_may_not(problem, options):
    method = NNCG(**options)
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for _ in range(20):
        method.step(problem, state, 1)
        assert perp.verify(problem, state.x).bound_violation <= 1e-15 * max(1.0, np.abs(state.x).max())


def test_momentum_leads_out_of_the_bounds_and_the_sweep_back():
    problem = gallery.make("dense_pd", n=40, condition=1e4, active=0.5).problem
    method, lowest = NNCG(), 0.0
    state = method.start(problem, np.zeros(40))
    for _ in range(30):
        method.step(problem, state, 1)
        lowest = min(lowest, state.point.min())
        assert state.x.min() >= 0.0
    assert lowest < 0.0


@pytest.mark.parametrize("form", FORMS)
def test_any_split_of_the_steps_gives_the_same_bits(form):
    rng = np.random.default_rng(3)
    problem = perp.ContactProblem(
        in_form(factored_operator(rng, 4, 2), form), rng.standard_normal(14), 0.4, extra_rows=2
    )
    for method in (NNCG(), NNCG(restart="gradient", order="symmetric")):
        states = []
        for widths in ((150,), (2, 3, 0, 60, 85), (1,) * 150):
            state = method.start(problem, problem.project(np.zeros(14)))
            for width in widths:
                method.step(problem, state, width)
            states.append(state)
        for state in states[1:]:
            np.testing.assert_array_equal(state.x, states[0].x)
            np.testing.assert_array_equal(state.point, states[0].point)
            np.testing.assert_array_equal(state.memory, states[0].memory)


@pytest.mark.parametrize("form", FORMS[3:])
def test_velocities_that_follow_without_products_are_those_of_the_impulses(form):
    rng = np.random.default_rng(5)
    A = in_form(factored_operator(rng, 4, 2), form)
    problem = perp.ContactProblem(A, rng.standard_normal(14), 0.4, extra_rows=2)
    method = NNCG()
    state = method.start(problem, problem.project(np.zeros(14)))
    for count in (50, 20):  # before and after they are computed anew
        method.step(problem, state, count)
        for vector, v in zip((state.point, state.direction), (state.velocities[0], state.velocities[2]), strict=True):
            expected = A.scaled_rows.T @ vector
            np.testing.assert_allclose(v[: expected.size], expected, atol=1e-12)


@pytest.mark.parametrize("model", ["box", "cone"])
@pytest.mark.parametrize("restart", ["published", "gradient"])
def test_it_finds_the_slack_of_planted_contacts(model, restart):
    example = gallery.make("box_stack", n=96, model=model)
    result = perp.solve(example.problem, NNCG(restart=restart), max_iterations=5000)
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)
    assert result.history.counters["restarts"][-1] > 0


def test_without_friction_contacts_are_an_lcp_of_their_normals():
    stack = gallery.make("box_stack", n=96).problem
    normals = stack.normal_rows
    A = stack.A.to_dense()[np.ix_(normals, normals)]
    smooth = perp.solve(perp.ContactProblem(stack.A, stack.b, 0.0), NNCG())
    alone = perp.solve(perp.LCP(A, stack.b[normals]), NNCG())
    assert smooth.success
    assert alone.success
    np.testing.assert_allclose(smooth.y[normals], alone.y, atol=1e-7)


def test_fixed_rows_stay_and_an_empty_problem_is_solved():
    fixed = perp.solve(perp.BoxLCP([[2.0, 1.0], [1.0, 0.0]], [-1.0, 5.0], [0.0, 3.0], [9.0, 3.0]), NNCG())
    assert fixed.success
    np.testing.assert_allclose(fixed.x, [0.0, 3.0])
    assert perp.solve(perp.LCP(np.zeros((0, 0)), []), NNCG()).success


def test_an_asymmetric_matrix_is_refused_with_its_worst_place():
    with pytest.raises(
        MethodRefused, match=r"nncg refuses: A must be symmetric.* is 0\.5 .*A\[0,1\] = 1, A\[1,0\] = 0"
    ):
        perp.solve(perp.LCP([[2.0, 1.0], [0.0, 2.0]], [-1.0, -1.0]), NNCG())


def test_contacts_may_be_slightly_asymmetric_as_those_of_simulators_are():
    spd = gallery.make("dense_pd", n=12).problem.A.to_dense()
    A = spd + 1e-3 * np.abs(spd).max() * np.triu(np.ones((12, 12)), 1)
    b = -np.ones(12)
    assert perp.solve(perp.ContactProblem(A, b, 0.5), NNCG()).success
    with pytest.raises(MethodRefused, match="symmetric"):
        perp.solve(perp.LCP(A, b), NNCG())
    with pytest.raises(MethodRefused, match="symmetric"):
        perp.solve(perp.ContactProblem(spd + 10.0 * np.triu(A, 1), b, 0.5), NNCG())


@pytest.mark.parametrize(("options", "words"), [({"restart": "never"}, "published"), ({"order": "random"}, "forward")])
def test_options_that_do_not_exist_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        NNCG(**options)


@pytest.mark.parametrize("name", ["Capsules-i125-1213.hdf5", "Box_Stacks-i0122-82-5.hdf5"])
def test_it_solves_real_contacts_with_the_exact_cone(shared, name):
    pytest.importorskip("h5py")
    result = perp.solve(perp.load(shared / "data/siconos/fclib_hdf5" / name), NNCG(), max_iterations=1500)
    assert result.success
    assert result.verify().de_saxce < 1e-7
