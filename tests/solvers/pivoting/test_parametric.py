"""The parametric path: at every event x solves the problem whose bias the path has there, and it ends at t = 1."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import BlockPrincipal, BoxLCP, gallery
from perp.kernels.measures import index_sets as kernels
from perp.linalg import choose_system
from perp.solvers.pivoting.parametric import Path
from perp.solvers.symmetry import symmetric_scales

PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())
INF = np.inf


def sets_at(problem, x):
    lower, upper = problem.bounds(x)
    return np.where(x <= lower, -1, np.where(x >= upper, 1, 0)).astype(np.int8)


def begin(problem, x):
    n = problem.n
    bounds = tuple(bound.copy() for bound in problem.bounds(x))
    return Path.begin(problem, sets_at(problem, x), x, bounds, np.zeros(n), np.zeros(n), symmetric_scales(problem))


def walk(problem, x, limit=2000):
    """The path after every event, until t = 1."""
    path, system = begin(problem, x), choose_system(problem, "dense")
    yield path
    for _ in range(limit):
        system.factor(path.sets == 0, np.zeros(problem.n))
        done = path.advance(problem, system)
        yield path
        if done:
            return
    pytest.fail("the path does not end")


def problem_at(problem, path):
    """The problem with the bias that the path has at its t."""
    b = problem.b + (1.0 - path.t) * path.shift
    return BoxLCP(problem.A, b, *problem.bounds(path.x))


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_at_every_event_x_solves_the_problem_with_the_bias_of_the_path(problem, seed):
    x0 = problem.project(np.random.default_rng(seed).standard_normal(problem.n) * (seed % 3))
    last_t = 0.0
    for path in walk(problem, x0):
        assert perp.verify(problem_at(problem, path), path.x).residual < 1e-9
        assert last_t <= path.t <= 1.0
        last_t = path.t
    assert path.t == 1.0
    assert perp.verify(problem, path.x).residual < 1e-10
    np.testing.assert_allclose(path.x, perp.solve(problem, "dantzig", tol=1e-10).x, atol=1e-7)


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_every_event_changes_one_row_and_there_are_not_many(problem, seed):
    x0 = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    before, changes = None, 0
    for path in walk(problem, x0):
        if before is not None and path.t < 1.0:
            assert np.count_nonzero(path.sets != before) == 1
            assert abs(int(path.sets[path.last]) - int(before[path.last])) == 1  # never from one bound to the other
            changes += 1
        before = path.sets.copy()
    assert changes == path.events <= 10 * problem.n + 10


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_any_point_within_the_bounds_begins_as_a_solution_without_ties(problem, seed):
    x0 = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    path = begin(problem, x0)
    assert path.t == 0.0
    np.testing.assert_allclose(path.x, x0)
    fixed = path.lower == path.upper
    np.testing.assert_allclose(path.y[path.sets == 0], 0.0, atol=1e-12)
    assert (path.y[(path.sets < 0) & ~fixed] > 0.0).all()
    assert (path.y[(path.sets > 0) & ~fixed] < 0.0).all()
    np.testing.assert_array_equal(path.shift[fixed], 0.0)


def test_two_paths_from_the_same_point_are_the_same_path():
    problem = gallery.make("boxed_pd", n=30).problem
    one, other = ([(p.t, p.last) for p in walk(problem, problem.project(np.zeros(30)))] for _ in range(2))
    assert one == other


def test_from_the_solution_nothing_happens_on_the_way():
    example = gallery.make("boxed_pd", n=40)
    path = list(walk(example.problem, example.x.copy()))[-1]
    assert path.events == 0
    np.testing.assert_allclose(path.x, example.x, atol=1e-12)


@pytest.mark.parametrize("kind", ["murty", "fathi", "block_pivot_cycle", "newton_min_cycle", "dense_p"])
def test_p_matrices_of_bad_repute_are_walked_to_the_end(kind):
    example = gallery.make(kind)
    path = list(walk(example.problem, np.zeros(example.problem.n)))[-1]
    assert path.t == 1.0
    np.testing.assert_allclose(path.x, example.x, atol=1e-9)


@pytest.mark.parametrize("n", [4, 10, 40])
def test_ties_of_equal_rows_are_no_trouble(n):
    """All rows alike: without random margins every event would be a tie of n rows."""
    problem = perp.LCP(np.eye(n) + 1.0, -np.ones(n))
    path = list(walk(problem, np.zeros(n)))[-1]
    np.testing.assert_allclose(path.x, 1.0 / (n + 1))


@given(seed=strategies.SEEDS, n=st.integers(2, 20))
def test_degenerate_solutions_are_reached(seed, n):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < 0.4, 1.0, 0.0)
    A = np.round(8 * strategies.spd_matrix(rng, n)) / 8 + 2 * n * np.eye(n)
    problem = perp.LCP(A, -A @ x)  # every row with x = 0 has y = 0 too
    result = perp.solve(problem, BlockPrincipal(block_pivots=0), x0=rng.uniform(0, 1, n), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.x, x, atol=1e-10)


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
@pytest.mark.parametrize("load", ["planted", "gravity"])
@pytest.mark.parametrize("n", [200, 350])
def test_an_ill_conditioned_stack_is_solved_cold(n, load, space):
    problem = gallery.make("boxed_stack", n=n, mass_ratio=1000.0, compliance=1e-8, load=load).problem
    result = perp.solve(problem, BlockPrincipal(space=space), tol=1e-10)
    assert result.success
    assert perp.verify(problem, result.x).residual <= 1e-10
    assert result.history.counters["fallbacks"][-1] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [200, 500])
def test_ill_conditioned_stacks_of_every_seed_are_solved_cold(n, seed):
    options = {"mass_ratio": 1000.0, "compliance": 1e-8, "load": "gravity"}
    problem = gallery.make("boxed_stack", n=n, seed=seed, **options).problem
    assert perp.solve(problem, BlockPrincipal(), tol=1e-10).success


# -- the kernel -------------------------------------------------------------------------------------------------------


def first_event(sets, x, dx, y, dy, lower, upper, last=-1):
    arrays = [np.array(a, dtype=float) for a in (x, dx, y, dy, lower, upper)]
    result = np.empty(3)
    kernels.first_event(np.array(sets, dtype=np.int8), *arrays, last, result)
    return result.tolist()


def test_a_free_row_ends_at_the_bound_that_it_moves_to():
    assert first_event([0], [1.0], [-2.0], [0.0], [0.0], [0.0], [5.0]) == [0.5, 0.0, -1.0]
    assert first_event([0], [1.0], [2.0], [0.0], [0.0], [0.0], [5.0]) == [2.0, 0.0, 1.0]


def test_a_row_at_a_bound_ends_where_its_slack_is_zero():
    assert first_event([-1], [0.0], [0.0], [3.0], [-1.5], [0.0], [5.0]) == [2.0, 0.0, 0.0]
    assert first_event([1], [5.0], [0.0], [-3.0], [1.5], [0.0], [5.0]) == [2.0, 0.0, 0.0]


def test_rows_without_an_end_and_fixed_rows_are_passed_over():
    assert first_event([0], [1.0], [-2.0], [0.0], [0.0], [-INF], [5.0])[:2] == [INF, -1.0]
    assert first_event([0], [1.0], [2.0], [0.0], [0.0], [0.0], [INF])[:2] == [INF, -1.0]
    assert first_event([-1], [0.0], [0.0], [3.0], [1.5], [0.0], [5.0])[:2] == [INF, -1.0]
    assert first_event([-1], [2.0], [0.0], [3.0], [-1.5], [2.0], [2.0])[:2] == [INF, -1.0]


def test_the_row_that_has_just_changed_may_not_change_at_once():
    assert first_event([0, -1], [0.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -1.0], [0, 0], [9, 9], last=0) == [
        2.0,
        1.0,
        0.0,
    ]
    assert first_event([0, -1], [0.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -1.0], [0, 0], [9, 9])[:2] == [0.0, 0.0]


def test_a_row_beyond_its_bound_by_rounding_takes_a_step_of_zero_and_not_back():
    assert first_event([0], [-1e-18], [-1.0], [0.0], [0.0], [0.0], [5.0]) == [0.0, 0.0, -1.0]


def test_of_several_rows_the_first_event_counts():
    steps = first_event([0, 0, -1], [4.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0, 0, 3.0], [0, 0, -1.0], [0, 0, 0], [9, 9, 9])
    assert steps == [1.0, 1.0, -1.0]
