"""The last digits of LCPs and boxed problems, against exact rational answers and in every form of A."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.errors import OperatorFault
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.polishing import rows as polish_rows
from perp.solvers.polishing.polish import polish

Numbers = list[Fraction]


def residual_of(problem: Problem, x: np.ndarray) -> float:
    return Watch(problem).look(np.array(x))[0]


def scaled_residual(problem: Problem, x: np.ndarray) -> float:
    scale = min(residual_of(problem, problem.project(np.zeros(problem.n))), max(1.0, np.abs(x).max()))
    return residual_of(problem, x) / scale


def rough(problem: Problem, x: np.ndarray, seed: int = 0, size: float = 1e-6) -> np.ndarray:
    """A point near x, within the bounds, as a method that stopped early would leave it."""
    return problem.project(x + size * np.random.default_rng(seed).standard_normal(x.size))


def solve_exactly(A: list[Numbers], r: Numbers) -> Numbers | None:
    """Gauss elimination in rational numbers; None where A is singular."""
    rows = [[*row, value] for row, value in zip(A, r, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [value - rows[i][k] * above for value, above in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def exact_answer(problem: Problem) -> Numbers:
    """The solution of a problem with one solution, by trying every index set in rational numbers."""
    n = problem.n
    A = [[Fraction(value) for value in row] for row in problem.A.to_dense()]
    b = [Fraction(value) for value in problem.b]
    bounds = [dict(zip((-1, 1), pair, strict=True)) for pair in zip(*problem.bounds(problem.b), strict=True)]
    for sides in product((-1, 0, 1), repeat=n):
        if any(side and np.isinf(bounds[i][side]) for i, side in enumerate(sides)):
            continue
        x = [Fraction(bounds[i][side]) if side else Fraction(0) for i, side in enumerate(sides)]
        free = [i for i in range(n) if sides[i] == 0]
        right = [-b[i] - sum(A[i][j] * x[j] for j in range(n) if sides[j]) for i in free]
        found = solve_exactly([[A[i][j] for j in free] for i in free], right)
        if found is None:
            continue
        for i, value in zip(free, found, strict=True):
            x[i] = value
        y = [sum(A[i][j] * x[j] for j in range(n)) + b[i] for i in range(n)]
        inside = all(bounds[i][-1] <= x[i] <= bounds[i][1] for i in free)
        fixed = [bounds[i][-1] == bounds[i][1] for i in range(n)]
        if inside and all(fixed[i] or sides[i] == 0 or -sides[i] * y[i] >= 0 for i in range(n)):
            return x
    raise AssertionError("no index set solves the problem")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["dense_pd", "dense_p", "boxed_pd"])
def test_answers_are_those_of_rational_arithmetic(kind, seed):
    problem = gallery.make(kind, n=5, seed=seed).problem
    exact = np.array([float(value) for value in exact_answer(problem)])
    polished = polish(problem, rough(problem, exact, seed))
    assert polished is not None
    size = np.linalg.cond(problem.A.to_dense()) * np.abs(exact).max()
    np.testing.assert_allclose(polished.x, exact, rtol=0.0, atol=4 * 2.0**-52 * size)
    assert polished.residual == residual_of(problem, polished.x)
    assert scaled_residual(problem, polished.x) < 1e-14


@pytest.mark.parametrize("start", [1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize("degenerate", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["dense_pd", "dense_p", "dense_psd", "boxed_pd", "fluid_like", "boxed_stack"])
def test_gallery_problems_reach_twelve_digits(kind, degenerate, start):
    example = gallery.make(kind, n=90, seed=3, degenerate=degenerate, active=0.5)
    given = rough(example.problem, example.x, size=start)
    polished = polish(example.problem, given)
    assert polished is not None
    assert scaled_residual(example.problem, given) > 1e-12
    assert scaled_residual(example.problem, polished.x) < 1e-12


@pytest.mark.parametrize("method", ["psor", "interior_point", "fischer"])
def test_proximal_problems_decide_what_degenerate_redundant_rows_leave_open(method, monkeypatch):
    problem = gallery.make("boxed_pile", n=100, seed=1, degenerate=0.3, active=0.5).problem
    given = perp.solve(problem, method, tol=1e-6, max_iterations=5000).x
    polished = polish(problem, given)
    assert polished is not None
    assert scaled_residual(problem, polished.x) < 1e-12
    monkeypatch.setattr(polish_rows, "SHARES", ())
    without = polish(problem, given)
    assert scaled_residual(problem, given if without is None else without.x) > 1e-12


@settings(deadline=None, max_examples=60)
@given(st.one_of(strategies.lcps(), strategies.box_lcps()), strategies.SEEDS, st.sampled_from([1e-8, 1e-3, 1.0]))
def test_an_answer_is_better_and_within_bounds_or_there_is_none(problem, seed, size):
    given_x = size * np.random.default_rng(seed).standard_normal(problem.n)
    polished = polish(problem, given_x)
    if polished is not None:
        lower, upper = problem.bounds(polished.x)
        assert polished.residual == residual_of(problem, polished.x) < residual_of(problem, given_x)
        assert ((lower <= polished.x) & (polished.x <= upper)).all()
        assert polished.rounds >= 1
        assert polished.how


@settings(deadline=None, max_examples=30)
@given(strategies.lcps(), strategies.SEEDS)
def test_rows_in_another_order_give_the_answer_in_that_order(problem, seed):
    rng = np.random.default_rng(seed)
    x = rough(problem, np.array(perp.solve(problem, "lemke").x), seed)
    order = rng.permutation(problem.n)
    A = problem.A.to_dense()
    one, other = polish(problem, x), polish(perp.LCP(A[np.ix_(order, order)], problem.b[order]), x[order])
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        np.testing.assert_allclose(other.x, one.x[order], rtol=0.0, atol=1e-12 * max(1.0, np.abs(one.x).max()))


def test_an_exact_answer_is_left_alone():
    A = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    problem = perp.LCP(A, np.array([-1.0, 0.0, 4.0]) @ np.eye(3))
    exact = np.array([float(value) for value in exact_answer(problem)])
    answer = polish(problem, exact)
    assert answer is None or answer.residual < residual_of(problem, exact)
    whole = perp.LCP(np.array([[2.0, 1.0], [1.0, 4.0]]), np.array([-2.0, 3.0]))
    assert polish(whole, np.array([1.0, 0.0])) is None


def test_a_polished_answer_is_not_polished_to_something_worse():
    problem = gallery.make("dense_pd", n=40).problem
    first = polish(problem, perp.solve(problem, "psor", tol=1e-5).x)
    assert first is not None
    second = polish(problem, first.x)
    assert second is None or second.residual < first.residual


def test_dependent_rows_get_a_nearby_answer():
    problem = perp.LCP(np.ones((4, 4)), -np.ones(4))
    given = np.array([0.1, 0.2, 0.3, 0.4 + 4e-7])
    polished = polish(problem, given)
    assert polished is not None
    assert polished.residual < 1e-15
    np.testing.assert_allclose(polished.x, given - 1e-7, atol=1e-12)


@pytest.mark.parametrize("n", [30, 200])
def test_dependent_rows_without_symmetry_are_solved_by_least_squares(n):
    """Rows and columns of different null spaces, where no shift of the diagonal can be taken back."""
    A = np.zeros((n, n))
    A[: n - 1, 1:] = np.diag(np.linspace(1.0, 2.0, n - 1))
    x = np.random.default_rng(0).uniform(1.0, 2.0, n)
    problem = perp.LCP(A, -A @ x)
    polished = polish(problem, x + 1e-6)
    assert polished is not None
    assert polished.residual < 1e-14
    assert np.abs(polished.x - x).max() < 2e-6


def test_rows_without_diagonal_entries_are_solved():
    skew = perp.LCP(np.array([[0.0, 2.0], [-2.0, 0.0]]), np.array([-1.0, 1.0]))
    polished = polish(skew, np.array([0.5 + 1e-7, 0.5 - 1e-7]))
    assert polished is not None
    np.testing.assert_array_equal(polished.x, [0.5, 0.5])
    swap = perp.LCP(np.array([[0.0, 1.0], [1.0, 0.0]]), -np.ones(2))
    polished = polish(swap, np.array([1.0 + 1e-7, 1.0]))
    assert polished is not None
    np.testing.assert_array_equal(polished.x, [1.0, 1.0])


def test_equations_and_fixed_rows_are_what_they_are():
    A = strategies.spd_matrix(np.random.default_rng(5), 6)
    lower, upper = np.array([-np.inf, 0.25, 0.0, -np.inf, -1.0, 0.0]), np.array([np.inf, 0.25, np.inf, 0.0, 1.0, 9.0])
    problem = perp.BoxLCP(A, np.linspace(-2.0, 2.0, 6), lower, upper)
    exact = np.array([float(value) for value in exact_answer(problem)])
    polished = polish(problem, rough(problem, exact))
    assert polished is not None
    np.testing.assert_allclose(polished.x, exact, atol=1e-14)
    assert polished.x[1] == 0.25


@pytest.mark.parametrize("factor", [1e-290, 1e-12, 1e12, 1e290])
def test_units_of_rows_and_unknowns_do_not_matter(factor):
    A = strategies.spd_matrix(np.random.default_rng(1), 8)
    b = np.random.default_rng(2).standard_normal(8)
    x = np.array(perp.solve(perp.LCP(A, b), "lemke").x)
    scaled = perp.LCP(factor * A, factor * b)
    polished = polish(scaled, rough(scaled, x))
    assert polished is not None
    np.testing.assert_allclose(polished.x, x, atol=1e-13)
    D = np.geomspace(1e-6, 1e6, 8)
    mixed = perp.LCP(D[:, None] * A * D, D * b)
    polished = polish(mixed, mixed.project(x / D * (1.0 + 1e-6)))
    assert polished is not None
    np.testing.assert_allclose(polished.x * D, x, atol=1e-12)


def in_all_forms(A: np.ndarray) -> dict[str, object]:
    root = np.linalg.cholesky(A)
    return {
        "dense": A,
        "sparse": sparse.csr_array(A),
        "factored": perp.FactoredOperator(root, np.ones(len(A))),
        "product": perp.MatrixFreeOperator(LinearOperator(A.shape, matvec=A.dot, dtype=float)),
        "product with diagonal": perp.MatrixFreeOperator(
            LinearOperator(A.shape, matvec=A.dot, dtype=float), np.diag(A).copy()
        ),
    }


@pytest.mark.parametrize("n", [12, 100, 260])
def test_every_form_of_a_matrix_gives_the_same_answer(n):
    A = strategies.spd_matrix(np.random.default_rng(n), n)
    b = np.random.default_rng(n + 1).standard_normal(n)
    x = np.array(perp.solve(perp.LCP(A, b), "lemke", tol=1e-10).x)
    for form, matrix in in_all_forms(A).items():
        problem = perp.LCP(matrix, b)
        polished = polish(problem, rough(problem, x))
        assert polished is not None, form
        np.testing.assert_allclose(polished.x, x, atol=1e-11, err_msg=form)
        assert scaled_residual(problem, polished.x) < 1e-12, form


@pytest.mark.parametrize(("n", "form"), [(400, "stencil"), (4900, "stencil"), (4900, "sparse")])
def test_grids_are_polished_in_either_form(n, form):
    example = gallery.make("poisson_2d", n=n, form=form)
    polished = polish(example.problem, rough(example.problem, example.x))
    assert polished is not None
    assert scaled_residual(example.problem, polished.x) < 1e-13


def test_a_product_without_symmetry_is_polished():
    rng = np.random.default_rng(0)
    n = 250
    A = 0.3 * rng.standard_normal((n, n)) / np.sqrt(n) + np.eye(n)
    x, y = np.maximum(rng.standard_normal((2, n)), 0.0)
    y[x > 0.0] = 0.0
    problem = perp.LCP(perp.MatrixFreeOperator(LinearOperator((n, n), matvec=A.dot, dtype=float)), y - A @ x)
    polished = polish(problem, rough(problem, x))
    assert polished is not None
    assert scaled_residual(problem, polished.x) < 1e-12


def test_no_time_is_no_answer_and_little_time_no_error():
    problem = gallery.make("dense_pd", n=100).problem
    x = perp.solve(problem, "psor", tol=1e-5).x
    assert polish(problem, x, max_seconds=0.0) is None
    for seconds in (1e-9, 1e-4):
        polished = polish(problem, x, max_seconds=seconds)
        assert polished is None or polished.residual < residual_of(problem, x)
    with pytest.raises(ValueError, match="max_seconds is nan"):
        polish(problem, x, max_seconds=np.nan)


def test_a_vector_that_does_not_belong_to_the_problem_is_refused():
    problem = gallery.make("dense_pd", n=4).problem
    with pytest.raises(ValueError, match="x has length 3"):
        polish(problem, np.zeros(3))
    with pytest.raises(ValueError, match=r"x\[1\] is nan"):
        polish(problem, np.array([0.0, np.nan, 0.0, 0.0]))


def test_problems_without_rows_need_no_polish():
    assert polish(perp.LCP(np.zeros((0, 0)), np.zeros(0)), np.zeros(0)) is None


@pytest.mark.parametrize("kind", ["infeasible", "unsolvable", "infeasible_psd", "hilbert", "closed_fluid"])
def test_problems_that_nobody_solves_end_without_an_error(kind):
    problem = gallery.make(kind).problem
    for seed in range(3):
        given = np.abs(np.random.default_rng(seed).standard_normal(problem.n))
        polished = polish(problem, given)
        assert polished is None or polished.residual < residual_of(problem, given)


def test_a_product_that_fails_is_no_answer():
    calls = []

    def product(x: np.ndarray) -> np.ndarray:
        calls.append(1)
        if len(calls) > 5:
            raise ValueError("out of order")
        return 2.0 * x

    problem = perp.LCP(perp.MatrixFreeOperator(LinearOperator((3, 3), matvec=product, dtype=float)), -np.ones(3))
    assert polish(problem, np.full(3, 0.4)) is None
    with pytest.raises(OperatorFault):
        problem.slack(np.ones(3))
