"""All solutions of small problems: against linear programs, against the gallery, and as a method."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import Status
from perp.errors import InvalidProblem, MethodRefused
from perp.solvers.pivoting.all_solutions import enumerate_solutions, guess_by_cone
from perp.solvers.pivoting.enumeration import Enumeration


def is_listed(solutions, x):
    """Whether x is an isolated solution or, for some family, a mixture of vertices and rays."""
    if any(np.abs(x - other).max() <= 1e-6 for other in solutions.isolated):
        return True
    return any(distance_to_family(family, x) <= 1e-6 for family in solutions.families)


def distance_to_family(family, x):
    """How far x is from the hull of the vertices plus the cone of the rays, by a linear program in the largest norm."""
    from scipy.optimize import linprog

    V, R = np.array(family.vertices).T, np.array(family.rays).reshape(-1, x.size).T
    columns = np.hstack([V, R])
    m, n = columns.shape[1], x.size
    program = linprog(
        np.r_[np.zeros(m), 1.0],
        A_ub=np.block([[columns, -np.ones((n, 1))], [-columns, -np.ones((n, 1))]]),
        b_ub=np.r_[x, -x],
        A_eq=np.r_[np.ones(V.shape[1]), np.zeros(R.shape[1] + 1)][None],
        b_eq=[1.0],
    )
    return program.fun


def all_guesses(problem):
    """(free, upper) of every index set."""
    lower, upper = problem.bounds(problem.b)
    choices = []
    for low, high in zip(lower, upper, strict=True):
        tight = ["lower"] * bool(low > -np.inf) + ["upper"] * bool(high < np.inf)
        choices.append(tight[:1] if low == high else ["free", *tight])
    for guess in product(*choices):
        yield ([i for i, side in enumerate(guess) if side == name] for name in ("free", "upper"))


def assert_agrees_with_linear_programs(problem):
    """Each index set that has a solution by LP has it among ours, and each of ours is one by LP."""
    solutions = enumerate_solutions(problem)
    any_found = False
    for free, upper in all_guesses(problem):
        x = guess_by_cone(problem, free, upper)
        if x is not None:
            any_found = True
            assert is_listed(solutions, x)
    assert any_found == (solutions.count > 0)
    corners = [*solutions.isolated, *(v for f in solutions.families for v in (*f.vertices, f.shortest))]
    for x in corners:
        assert perp.verify(problem, x).residual <= 1e-8
        lower, upper = problem.bounds(x)
        free = np.flatnonzero((x > lower + 1e-9) & (x < upper - 1e-9))
        assert guess_by_cone(problem, free, np.flatnonzero((x >= upper - 1e-9) & (lower < upper))) is not None
    for family in solutions.families:
        for ray in family.rays:
            assert perp.verify(problem, family.vertices[0] + 10.0 * ray).residual <= 1e-7


@given(strategies.SEEDS, st.integers(1, 5))
def test_every_index_set_agrees_with_its_linear_program(seed, n):
    rng = np.random.default_rng(seed)
    assert_agrees_with_linear_programs(perp.LCP(rng.standard_normal((n, n)), rng.standard_normal(n)))


@given(strategies.SEEDS, st.integers(1, 4))
def test_every_index_set_of_a_singular_problem_agrees_with_its_linear_program(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, (n, n)).astype(float)
    if seed % 2:
        G = rng.integers(-1, 2, (n, max(1, n - 2))).astype(float)
        A = G @ G.T
    assert_agrees_with_linear_programs(perp.LCP(A, rng.integers(-1, 2, n).astype(float)))


@given(strategies.box_lcps(max_n=4))
def test_every_index_set_of_a_boxed_problem_agrees_with_its_linear_program(problem):
    assert_agrees_with_linear_programs(problem)


@given(strategies.SEEDS, st.integers(1, 3))
def test_every_index_set_of_a_singular_boxed_problem_agrees_with_its_linear_program(seed, n):
    rng = np.random.default_rng(seed)
    lower = rng.choice([-np.inf, -1.0, 0.0], n)
    upper = rng.choice([0.0, 1.0, np.inf], n)
    problem = perp.BoxLCP(rng.integers(-1, 2, (n, n)).astype(float), rng.integers(-1, 2, n).astype(float), lower, upper)
    assert_agrees_with_linear_programs(problem)


def test_the_table_of_signs_counts_as_the_slides_do():
    counts = [enumerate_solutions(example.problem).count for example in perp.gallery.all_signs()]
    assert counts == [0, 1, 2, 0, inf, 1, 1, 1, 1]


def test_the_family_of_the_table_of_signs_is_a_ray_from_zero():
    (family,) = enumerate_solutions(perp.LCP([[0.0]], [0.0])).families
    assert [v.tolist() for v in family.vertices] == [[0.0]]
    assert [r.tolist() for r in family.rays] == [[1.0]]
    assert family.free == (0,)


CLASSIC = ["several_solutions", "lemke_ray", "skew", "block_pivot_cycle", "newton_min_cycle", "pgs_divergent"]
CLASSIC += ["murty", "fathi", "infeasible", "unsolvable"]


@pytest.mark.parametrize("kind", CLASSIC)
def test_the_listed_solutions_of_the_gallery_are_all_there_are(kind):
    example = perp.gallery.make(kind)
    solutions = enumerate_solutions(example.problem)
    assert solutions.count == len(solutions.isolated) == len(example.solutions)
    assert solutions.complete
    for x in example.solutions:
        assert is_listed(solutions, x)


@pytest.mark.parametrize(("kind", "n", "vertices"), [("redundant_contacts", 4, 4), ("degenerate", 6, 8)])
def test_a_continuum_is_one_family_with_its_corners(kind, n, vertices):
    example = perp.gallery.make(kind, n=n)
    solutions = enumerate_solutions(example.problem)
    assert solutions.count == inf
    assert not solutions.isolated
    (family,) = solutions.families
    assert family.complete
    assert len(family.vertices) == vertices
    assert not family.rays
    for x in example.solutions:
        assert distance_to_family(family, x) <= 1e-9
    np.testing.assert_allclose(family.shortest, example.x, atol=1e-9)


def test_several_solutions_are_counted_up_to_two_to_the_twelfth():
    assert enumerate_solutions(perp.gallery.make("several_solutions", n=12).problem).count == 2**12 - 1


@pytest.mark.parametrize("n", [1, 3, 6])
def test_a_degenerate_solution_is_counted_once(n):
    solutions = enumerate_solutions(perp.LCP(np.eye(n), np.zeros(n)))
    assert solutions.count == 1
    assert solutions.index_sets == 2**n
    np.testing.assert_array_equal(solutions.isolated[0], 0.0)


def test_a_segment_a_ray_and_a_line_are_told_apart():
    segment = enumerate_solutions(perp.BoxLCP([[0.0]], [0.0], -1.0, 2.0)).families[0]
    assert sorted(v[0] for v in segment.vertices) == [-1.0, 2.0]
    assert not segment.rays
    ray = enumerate_solutions(perp.BoxLCP([[0.0]], [0.0], 1.0, np.inf)).families[0]
    assert [v[0] for v in ray.vertices] == [1.0]
    assert [r[0] for r in ray.rays] == [1.0]
    line = enumerate_solutions(perp.BoxLCP([[0.0]], [0.0], -np.inf, np.inf)).families[0]
    assert sorted(r[0] for r in line.rays) == [-1.0, 1.0]
    np.testing.assert_array_equal(line.shortest, 0.0)


def test_a_family_and_an_isolated_solution_stand_side_by_side():
    A = np.array([[0.0, 0.0], [0.0, -1.0]])  # x_0 is free to choose, and x_1 is 0 or 1
    solutions = enumerate_solutions(perp.LCP(A, [0.0, 1.0]))
    assert solutions.count == inf
    assert len(solutions.families) == 2
    assert sorted(family.vertices[0].tolist() for family in solutions.families) == [[0.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_scaling_the_data_changes_neither_count_nor_solutions(factor):
    for kind in ("several_solutions", "redundant_contacts", "infeasible"):
        example = perp.gallery.make(kind)
        problem = perp.LCP(example.problem.A.to_dense() * factor, example.problem.b * factor)
        solutions, plain = enumerate_solutions(problem), enumerate_solutions(example.problem)
        assert solutions.count == plain.count
        np.testing.assert_allclose(solutions.isolated, plain.isolated, rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_planted_solutions_of_boxed_problems_are_the_only_ones(seed):
    example = perp.gallery.make("boxed_pd", n=12, seed=seed)
    solutions = enumerate_solutions(example.problem)
    assert solutions.count == 1
    np.testing.assert_allclose(solutions.isolated[0], example.x, atol=1e-11)


@given(strategies.SEEDS, st.integers(1, 7))
def test_the_method_returns_the_shortest_solution(seed, n):
    rng = np.random.default_rng(seed)
    problem = perp.LCP(rng.standard_normal((n, n)), rng.standard_normal(n))
    result, solutions = perp.solve(problem, Enumeration()), enumerate_solutions(problem)
    if solutions.count == 0:
        assert result.status in (Status.BREAKDOWN, Status.INFEASIBLE)
        assert result.iterations == 2**n
    else:
        assert result.success
        assert np.linalg.norm(result.x) <= min(np.linalg.norm(x) for x in solutions.isolated) * (1 + 1e-9)


def test_the_method_takes_the_shortest_of_a_family():
    result = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)), Enumeration())
    assert result.success
    np.testing.assert_allclose(result.x, 0.25, atol=1e-9)
    assert perp.solve(perp.LCP([[0.0]], [0.0]), Enumeration()).x[0] == 0.0


def test_no_solution_is_a_breakdown_and_with_a_certificate_infeasible():
    unsolvable = perp.solve(perp.gallery.make("unsolvable").problem, Enumeration())
    assert unsolvable.status is Status.BREAKDOWN
    assert "none of the 4 index sets gives a solution" in unsolvable.message
    infeasible = perp.solve(perp.gallery.make("infeasible").problem, Enumeration())
    assert infeasible.status is Status.INFEASIBLE
    assert infeasible.certificate.valid
    boxed = perp.solve(perp.BoxLCP([[0.0, 1.0], [1.0, 0.0]], [-5.0, 0.0], 0.0, [np.inf, 1.0]), Enumeration())
    assert boxed.status is Status.INFEASIBLE


@given(strategies.SEEDS, st.integers(1, 4))
def test_infeasible_is_said_exactly_where_no_x_has_an_admissible_slack(seed, n):
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    problem = perp.LCP(rng.standard_normal((n, n)), rng.standard_normal(n))
    feasible = linprog(np.zeros(n), A_ub=-problem.A.to_dense(), b_ub=problem.b, bounds=(0, None)).status == 0
    assert (perp.solve(problem, Enumeration()).status is Status.INFEASIBLE) == (not feasible)


def test_the_method_counts_index_sets_and_solutions():
    result = perp.solve(perp.gallery.make("several_solutions", n=5).problem, Enumeration(), check_every=7)
    assert result.iterations == 32
    np.testing.assert_array_equal(result.history.counters["index_sets"], [0, 7, 14, 21, 28, 32])
    assert result.history.counters["solutions"][-1] == 31


def test_a_limit_stops_the_walk():
    result = perp.solve(perp.gallery.make("murty", n=10).problem, Enumeration(), max_iterations=100)
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 100


def test_too_many_index_sets_are_refused_with_their_number():
    with pytest.raises(MethodRefused, match=r"21 rows have 2\^21 of them"):
        perp.solve(perp.LCP(np.eye(21), np.ones(21)), Enumeration())
    with pytest.raises(MethodRefused, match=r"14 rows have 2\^22 of them"):
        enumerate_solutions(perp.BoxLCP(np.eye(14), np.ones(14), -1.0, 1.0))
    many_fixed = perp.BoxLCP(np.eye(40), -np.ones(40), 0.0, np.where(np.arange(40) < 5, np.inf, 0.0))
    assert enumerate_solutions(many_fixed).count == 1


def test_problems_of_another_kind_are_refused():
    with pytest.raises(MethodRefused, match="contact"):
        enumerate_solutions(perp.gallery.make("box_stack", n=48).problem)


def test_a_guess_needs_the_bound_that_it_names():
    with pytest.raises(InvalidProblem, match="row 0 has no bound"):
        guess_by_cone(perp.LCP([[1.0]], [1.0]), [], [0])


def test_the_empty_problem_has_one_solution():
    assert enumerate_solutions(perp.LCP(np.empty((0, 0)), [])).count == 1
