"""APGD: the iterates of its twin, the problems that it solves, and how it ends on the others."""

from __future__ import annotations

import tracemalloc

import numpy as np
import projected_gradient_twins as gradient_twins
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.solvers.gradient.apgd import APGD

contacts = st.tuples(strategies.contact_problems(), st.sampled_from(["convex", "disc", "cone"])).map(
    lambda drawn: perp.ContactProblem(
        drawn[0].A, drawn[0].b, drawn[0].friction, drawn[1], lower=drawn[0].lower, upper=drawn[0].upper
    )
)
ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), contacts)


def iterates_of(method, problem, x, count):
    state = method.start(problem, x.copy())
    found = []
    for _ in range(count):
        method.step(problem, state, 1)
        found.append(state.x.copy())
    return found


@given(
    ANY_PROBLEM,
    st.sampled_from(["gradient", "function", "none"]),
    st.sampled_from(["diagonal", "none"]),
    st.integers(1, 3),
)
def test_the_iterates_are_those_of_the_readable_twin(problem, restart, scaling, shift_every):
    method = APGD(restart=restart, scaling=scaling, shift_every=shift_every)
    x = problem.project(np.ones(problem.n))
    first = method.start(problem, x.copy()).lipschitz
    found = iterates_of(method, problem, x, 12)
    expected, _ = gradient_twins.apgd(problem, x, 12, first, restart, scaling, shift_every)
    for mine, twin in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, twin, atol=1e-9)


@pytest.mark.parametrize("restart", ["gradient", "function", "none"])
@pytest.mark.parametrize("kind", ["box", "convex", "disc", "cone"])
def test_it_restarts_when_its_twin_does(kind, restart):
    name, options = ("boxed_stack", {}) if kind == "box" else ("box_stack", {"model": kind})
    problem = gallery.make(name, n=48, seed=1, **options).problem
    method = APGD(restart=restart)
    state = method.start(problem, np.zeros(problem.n))
    expected, restarts = gradient_twins.apgd(problem, state.x, 100, state.lipschitz, restart)
    method.step(problem, state, 100)
    np.testing.assert_allclose(state.x, expected[-1], atol=1e-9)
    assert state.counters["restarts"] == restarts
    assert (restarts > 0) == (restart != "none")


@given(ANY_PROBLEM)
def test_steps_can_be_taken_in_any_portions_and_none_loads_only(problem):
    method, x = APGD(), problem.project(np.ones(problem.n))
    whole, parts = method.start(problem, x.copy()), method.start(problem, x.copy())
    method.step(problem, whole, 0)
    np.testing.assert_array_equal(whole.x, x)
    method.step(problem, whole, 5)
    method.step(problem, parts, 2)
    method.step(problem, parts, 3)
    np.testing.assert_array_equal(whole.x, parts.x)
    assert whole.counters == parts.counters


@given(ANY_PROBLEM)
def test_every_iterate_is_within_its_bounds(problem):
    found = iterates_of(APGD(), problem, problem.project(np.zeros(problem.n)), 20)
    for x in found:
        assert perp.verify(problem, x).bound_violation <= 1e-14 * max(1.0, np.abs(x).max())


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("dense_pd", {"n": 60}),
        ("dense_psd", {"n": 60}),
        ("boxed_pd", {"n": 60}),
        ("fluid_like", {"n": 125}),
        ("poisson_2d", {"n": 400}),
        ("poisson_3d", {"n": 343}),
        ("boxed_stack", {"n": 96}),
        ("boxed_stack", {"n": 96, "load": "gravity"}),
        ("boxed_stack", {"n": 96, "mass_ratio": 1000.0, "compliance": 1e-4}),
        ("box_stack", {"n": 96, "model": "convex"}),
        ("box_stack", {"n": 96, "model": "convex", "load": "gravity"}),
        ("box_stack", {"n": 96, "model": "convex", "mass_ratio": 100.0, "layout": "tower"}),
        ("box_stack", {"n": 96, "model": "disc"}),
        ("box_stack", {"n": 96, "model": "disc", "load": "gravity"}),
    ],
)
@pytest.mark.parametrize("restart", ["gradient", "function"])
def test_it_solves_the_convex_problems_of_the_gallery(kind, options, restart):
    example = gallery.make(kind, **options)
    result = perp.solve(example.problem, APGD(restart=restart), tol=1e-9)
    assert result.success, result.message
    if example.x is not None:  # the slack of a convex problem is unique
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


@pytest.mark.parametrize("load", ["planted", "gravity"])
@pytest.mark.parametrize("layout", ["wall", "tower", "pyramid"])
def test_the_exact_cone_is_solved_by_shifts_of_the_normal_slack(layout, load):
    problem = gallery.make("box_stack", n=96, model="cone", layout=layout, load=load).problem
    for shift_every in (1, 5):
        result = perp.solve(problem, APGD(shift_every=shift_every), tol=1e-8)
        assert result.success, result.message
        assert result.verify().de_saxce <= 1e-7


def test_planar_contacts_and_rows_after_them():
    rng = np.random.default_rng(3)
    A = strategies.spd_matrix(rng, 7)
    for model in ("convex", "disc", "cone"):
        problem = perp.ContactProblem(
            A,
            rng.standard_normal(7),
            [0.4, 0.7],
            model,
            dimension=2,
            lower=[-np.inf, 0.0, 1.0],
            upper=[np.inf, 1.0, 1.0],
        )
        result = perp.solve(problem, APGD())
        assert result.success
        assert result.x[6] == 1.0


def test_with_the_scaling_the_units_of_rows_do_not_matter():
    rng = np.random.default_rng(0)
    A, size, b = strategies.spd_matrix(rng, 20), np.logspace(-2, 2, 20), rng.standard_normal(20)
    problem = perp.LCP(size[:, None] * A * size, size * b)
    scaled = perp.solve(problem, APGD(), tol=1e-10)
    plain = perp.solve(problem, APGD(scaling="none"), tol=1e-10)
    assert scaled.success
    assert scaled.iterations < 0.05 * plain.iterations


def test_products_are_counted_to_the_last():
    product = gallery.make("boxed_stack", n=96).problem
    calls = []
    matrix = product.A.to_sparse()

    def multiply(x):
        calls.append(1)
        return matrix @ x

    operator = perp.MatrixFreeOperator(LinearOperator(matrix.shape, matvec=multiply, dtype=float))
    problem = perp.BoxLCP(operator, product.b, product.lower, product.upper)
    method = APGD()
    state = method.start(problem, np.zeros(problem.n))
    method.step(problem, state, 50)
    assert state.counters["products"] == len(calls)
    evaluations = state.counters["line_search_evaluations"]
    assert 50 < evaluations <= 65  # L is found too small every seventh time or so
    assert len(calls) <= evaluations + 6 + 1 + 6  # the estimate of L, the first gradient, and looks for rays


def test_it_needs_nothing_but_a_product():
    problem = gallery.make("poisson_2d", n=400).problem
    bare = LinearOperator((problem.n, problem.n), matvec=problem.A.apply, dtype=float)
    result = perp.solve(perp.LCP(bare, problem.b), APGD())
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "psor", tol=1e-10, max_iterations=5000).x, atol=1e-5)


def test_it_stops_at_once_where_it_starts_at_a_solution():
    example = gallery.make("box_stack", n=96, model="convex")
    assert perp.solve(example.problem, APGD(), x0=example.x).iterations == 0


def test_wrappers_see_its_best_iterate():
    problem = gallery.make("box_stack", n=96, model="convex").problem
    result = perp.solve(problem, perp.best_so_far(APGD()), max_iterations=100, check_every=1)
    assert (np.diff(result.history.residual) <= 0.0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"restart": "gradiant"}, "did you mean 'gradient'"),
        ({"scaling": "diag"}, "scaling is 'diag'"),
        ({"shift_every": 0}, "shift_every"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        APGD(**options)


@pytest.mark.slow
def test_a_million_rows_in_factored_form_take_memory_for_a_few_vectors():
    problem = gallery.make("boxed_stack", n=1_000_000, load="gravity").problem
    tracemalloc.start()
    perp.solve(problem, APGD(), max_iterations=20, check_every=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 30 * 8 * problem.n
