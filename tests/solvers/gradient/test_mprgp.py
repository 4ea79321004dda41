"""MPRGP: the steps of its listing, the box that it never leaves, the three kinds of steps, hard inputs."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import strategies
from conjugate_gradient_twins import diagonal, gauss_seidel, mprgp_iterates
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, gallery
from perp.linalg.preconditioners import BY_NAME
from perp.solvers.gradient.mprgp import MPRGP
from perp.solvers.gradient.projection import estimate_largest_eigenvalue

PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())
TWINS = {"none": None, "jacobi": diagonal, "symmetric_gauss_seidel": gauss_seidel}
KINDS = ["dense_pd", "fluid_like", "poisson_2d", "poisson_3d", "boxed_pd", "boxed_stack"]
STEPS = {"cg_steps": "cg", "expansions": "expansion", "proportionings": "proportioning"}


def start_of(problem, seed):
    """The point nearest to zero, or a random one, of which a part is at its bounds."""
    return problem.project(np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2))


def steps_of(problem, method, x, most=2000):
    """The kind of every step and x after it."""
    state = method.start(problem, x)
    for _ in range(most):
        before = dict(state.counters)
        method.step(problem, state, 1)
        if state.unused:
            return
        kinds = [name for counter, name in STEPS.items() if state.counters[counter] > before[counter]]
        yield "proportioning" if "proportioning" in kinds else kinds[0], state.x.copy()


def objective(problem, x):
    return float(0.5 * x @ (problem.slack(x) + problem.b))


def no_worse(result, problem, tol=1e-8):
    """What must hold of every result whatever its status."""
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation <= 1e-12
    assert result.success == (found.residual <= tol)
    return result


# -- the steps --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("gamma", [1.0, 3.0])
@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_the_steps_are_those_of_the_listing(name, gamma, problem, seed):
    x = start_of(problem, seed)
    method = MPRGP(preconditioner=name, gamma=gamma, scaling=False)
    twin = mprgp_iterates(problem, x.copy(), gamma, method.start(problem, x.copy()).length, TWINS[name])
    ours = steps_of(problem, method, x.copy())
    residual = perp.verify(problem, x).residual
    while residual > 1e-9:
        (kind, mine), (expected, other) = next(ours), next(twin)
        assert kind == expected
        np.testing.assert_allclose(mine, other, atol=1e-8)
        residual = perp.verify(problem, mine).residual


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_scaling_is_the_same_method_on_the_problem_with_a_unit_diagonal(problem, seed):
    x = start_of(problem, seed)
    lower, upper = problem.bounds(x)
    root = np.sqrt(np.diag(problem.A.to_dense()))
    unit = problem.A.to_dense() / root / root[:, None]
    scaled = BoxLCP(0.5 * (unit + unit.T), problem.b / root, lower * root, upper * root)
    ours = islice(steps_of(problem, MPRGP(), x.copy()), 8)
    other = islice(steps_of(scaled, MPRGP(scaling=False), x * root), 8)
    for (kind, mine), (expected, theirs) in zip(ours, other, strict=False):
        if perp.verify(problem, mine).residual < 1e-9:
            return
        assert kind == expected
        np.testing.assert_allclose(mine * root, theirs, atol=1e-7)


@pytest.mark.parametrize("name", ["none", "symmetric_gauss_seidel"])
@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_no_step_leaves_the_box_or_raises_the_objective(name, problem, seed):
    x = start_of(problem, seed)
    lower, upper = problem.bounds(x)
    before, least = objective(problem, x), 0.0
    for _, point in steps_of(problem, MPRGP(preconditioner=name), x.copy(), 100):
        assert (point >= lower).all()
        assert (point <= upper).all()
        now = objective(problem, point)
        least = min(least, now)
        assert now <= before + 1e-14 * (1.0 + abs(least))
        before = now


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_a_positive_definite_problem_is_solved_in_few_steps_from_any_start(problem, seed):
    result = perp.solve(problem, MPRGP(), x0=start_of(problem, seed), tol=1e-10, check_every=1)
    assert no_worse(result, problem, 1e-10).success
    assert result.iterations <= 15 * problem.n
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-7)


@pytest.mark.parametrize("name", ["none", "jacobi", "symmetric_gauss_seidel", "ic0"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_that_of_block_principal_pivoting(kind, name):
    problem = gallery.make(kind, n=96).problem
    result = perp.solve(problem, MPRGP(preconditioner=name), tol=1e-9)
    assert no_worse(result, problem, 1e-9).success
    exact = perp.solve(problem, "block_principal", tol=1e-10)
    assert exact.success
    np.testing.assert_allclose(result.y, exact.y, atol=1e-6)  # redundant contacts leave x open


@pytest.mark.parametrize("name", sorted(set(BY_NAME) - {"mic0", "fourier"}))  # for other signs; for convolutions
def test_every_preconditioner_serves_in_the_face(name):
    problem = gallery.make("boxed_stack", n=60).problem
    assert no_worse(perp.solve(problem, MPRGP(preconditioner=name), max_iterations=5000), problem).success


def test_preconditioning_in_the_face_pays_on_an_ill_conditioned_problem():
    n = 200
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = perp.LCP(A, -np.random.default_rng(1).standard_normal(n))
    plain = perp.solve(problem, MPRGP(), max_iterations=20_000)
    preconditioned = perp.solve(problem, MPRGP(preconditioner="ic0"))
    assert plain.success
    assert preconditioned.success
    counts = [result.history.counters["cg_steps"][-1] for result in (preconditioned, plain)]
    assert counts[0] <= 0.2 * counts[1]


def test_the_products_are_counted():
    problem = gallery.make("boxed_pd", n=100).problem
    calls = []
    dense = problem.A.to_dense()

    def product(x):
        calls.append(1)
        return dense @ x

    bare = LinearOperator(dense.shape, matvec=product, dtype=np.float64)
    copy = BoxLCP(perp.MatrixFreeOperator(bare, np.diag(dense)), problem.b, problem.lower, problem.upper)
    method = MPRGP()
    state = method.start(copy, np.clip(np.zeros(100), copy.lower, copy.upper))
    for _ in range(20):
        method.step(copy, state, 1)
    assert state.counters["products"] == len(calls)
    steps = state.counters["cg_steps"] + state.counters["expansions"] + state.counters["proportionings"]
    assert steps >= 20
    assert state.counters["expansions"] > 0


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_two_steps_and_three_are_five_bit_by_bit(problem, seed):
    method, x = MPRGP(), start_of(problem, seed)
    once, twice = method.start(problem, x.copy()), method.start(problem, x.copy())
    method.step(problem, once, 5)
    for count in (0, 2, 3):
        method.step(problem, twice, count)
    np.testing.assert_array_equal(once.x, twice.x)
    assert once.counters == twice.counters


@pytest.mark.parametrize("kind", KINDS)
def test_row_78_a_warm_start_at_the_solution_takes_at_most_one_iteration(kind):
    problem = gallery.make(kind, n=96).problem
    cold = perp.solve(problem, MPRGP(), tol=1e-11)
    assert cold.success
    assert perp.solve(problem, MPRGP(), tol=1e-10, x0=cold).iterations <= 1


# -- the length of an expansion ---------------------------------------------------------------------------------------


@given(seed=strategies.SEEDS, n=st.integers(1, 40))
def test_the_largest_eigenvalue_is_estimated_from_above_and_closely(seed, n):
    rng = np.random.default_rng(seed)
    A, weight = strategies.spd_matrix(rng, n), rng.uniform(0.5, 2.0, n)
    problem = perp.LCP(A, np.ones(n))
    exact = np.linalg.eigvalsh(np.sqrt(weight)[:, None] * A * np.sqrt(weight))[-1]
    found, products = estimate_largest_eigenvalue(problem, weight, 12, 0)
    assert (1.0 - 1e-10) * exact <= found <= 1.3 * exact
    assert products <= min(12, n)


def test_an_expansion_that_is_too_long_is_noticed_and_shortened():
    problem = gallery.make("boxed_pd", n=60).problem
    method = MPRGP()
    state = method.start(problem, np.clip(np.zeros(60), problem.lower, problem.upper))
    right = state.length
    state.length *= 64.0
    state.split()
    before = objective(problem, state.x)
    for _ in range(60):
        method.step(problem, state, 1)
        now = objective(problem, state.x)
        assert now <= before + 1e-13 * abs(before)
        before = now
    assert state.length < 64.0 * right
    assert perp.verify(problem, state.x).residual < 1e-6


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"preconditioner": "jakobi"}, ValueError, "did you mean 'jacobi'"),
        ({"gamma": 0.0}, ValueError, "gamma"),
        ({"expansion": 0.0}, ValueError, "expansion"),
        ({"expansion": 2.1}, ValueError, r"\(0, 2\]"),
        ({"scaling": 1}, TypeError, "scaling"),
        ({"norm_products": 0}, ValueError, "norm_products"),
        ({"seed": -1}, ValueError, "seed"),
    ],
)
def test_options_are_checked_when_the_method_is_made(options, error, words):
    with pytest.raises(error, match=words):
        MPRGP(**options)
