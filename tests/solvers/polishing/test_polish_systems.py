"""The linear systems of a polish against plain NumPy, and which of them is taken when."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.linalg.free_systems.block_rows import BlockDiagonal
from perp.solvers.polishing import systems as polish_systems
from perp.solvers.polishing.polish import polish
from perp.solvers.polishing.rows import guess_sides, repair
from perp.solvers.polishing.systems import (
    BlockProducts,
    LeastSquares,
    ProductSystem,
    SmallLeastSquares,
    SmallSystem,
    Systems,
    cost_in_seconds,
    is_affordable,
)


def some_rows(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(n) < 0.6


def on_free_rows(free: np.ndarray, part: np.ndarray) -> np.ndarray:
    whole = np.zeros(free.size)
    whole[free] = part
    return whole


def test_small_systems_are_those_of_the_free_rows():
    rng = np.random.default_rng(1)
    A, r, free = rng.standard_normal((20, 20)), rng.standard_normal(20), some_rows(20)
    inside = A[np.ix_(free, free)]
    expected = on_free_rows(free, np.linalg.solve(inside, r[free]))
    np.testing.assert_allclose(SmallSystem(np.flatnonzero(free), inside).solve(r), expected, rtol=1e-9)
    np.testing.assert_allclose(SmallLeastSquares(np.flatnonzero(free), inside).solve(r), expected, rtol=1e-9)


def test_least_squares_take_the_least_correction_of_dependent_rows():
    rng = np.random.default_rng(2)
    G = rng.standard_normal((30, 6))
    A = G @ G.T
    free = some_rows(30)
    inside = A[np.ix_(free, free)]
    r = A @ rng.standard_normal(30) * free
    expected = on_free_rows(free, np.linalg.pinv(inside, rcond=1e-10) @ r[free])
    found = SmallLeastSquares(np.flatnonzero(free), inside).solve(r)
    np.testing.assert_allclose(inside @ found[free], inside @ expected[free], atol=1e-9)
    found = LeastSquares(perp.DenseOperator(A), free).solve(r)
    np.testing.assert_allclose(inside @ found[free], inside @ expected[free], atol=1e-4)
    assert (found[~free] == 0.0).all()


@pytest.mark.parametrize("is_symmetric", [True, False])
@pytest.mark.parametrize("has_diagonal", [True, False])
@pytest.mark.parametrize("has_shift", [True, False])
def test_products_alone_solve_for_the_free_rows(is_symmetric, has_diagonal, has_shift):
    rng = np.random.default_rng(3)
    A = strategies.spd_matrix(rng, 40)
    if not is_symmetric:
        A = A + 0.1 * np.triu(rng.standard_normal((40, 40)), 1)
    diagonal = np.diag(A).copy() if has_diagonal else None
    operator = perp.MatrixFreeOperator(LinearOperator(A.shape, matvec=A.dot, dtype=float), diagonal)
    free, r = some_rows(40), rng.standard_normal(40)
    shift = np.full(40, 0.5) if has_shift else None
    found = ProductSystem(perp.LCP(operator, r), free, shift).solve(r)
    inside = A[np.ix_(free, free)] + (0.5 * np.eye(int(free.sum())) if has_shift else 0.0)
    np.testing.assert_allclose(found, on_free_rows(free, np.linalg.solve(inside, r[free])), atol=1e-4)


def test_block_equations_are_solved_by_products():
    rng = np.random.default_rng(4)
    A = strategies.spd_matrix(rng, 8)
    E, G = (BlockDiagonal(rng.standard_normal((2, 3, 3)) + 3 * np.eye(3), rng.uniform(1.0, 2.0, 2)) for _ in range(2))
    system = BlockProducts(perp.DenseOperator(A))
    system.factor(E, G)
    r = rng.standard_normal(8)
    full = E.to_sparse().toarray() + G.to_sparse().toarray() @ A
    np.testing.assert_allclose(full @ system.solve(r), r, atol=1e-5)


@pytest.mark.parametrize("form", ["dense", "sparse", "factored", "body"])
@pytest.mark.parametrize("has_shift", [True, False])
def test_every_way_solves_its_system(form, has_shift):
    rng = np.random.default_rng(5)
    n = 12 if form == "dense" else 240
    if form == "body":
        operator = gallery.make("boxed_stack", n=n, compliance=1e-3).problem.A
        n = operator.n
        A = operator.to_dense()
    else:
        A = strategies.spd_matrix(rng, n)
        operator = {
            "dense": perp.DenseOperator(A),
            "sparse": perp.SparseOperator(sparse.csr_array(A)),
            "factored": perp.FactoredOperator(np.linalg.cholesky(A), np.ones(n)),
        }[form]
    free, r = some_rows(n), rng.standard_normal(n)
    shift = np.full(n, 0.1) if has_shift else None
    inside = A[np.ix_(free, free)] + (0.1 * np.eye(int(free.sum())) if has_shift else 0.0)
    ways = list(Systems(perp.LCP(operator, r)).ways(free, shift, np.inf))
    assert ways
    for way in ways[:1]:
        dx = way.system.solve(r)
        assert np.abs(inside @ dx[free] - r[free]).max() < 1e-3, way.name
        assert (dx[~free] == 0.0).all()


def test_guesses_know_the_index_set_of_a_solution():
    example = gallery.make("boxed_pd", n=40, seed=1)
    problem, x = example.problem, example.x
    lower, upper = problem.bounds(x)
    expected = np.where(x == lower, -1, np.where(x == upper, 1, 0))
    near = problem.project(x + 1e-7)
    for sides in guess_sides(problem, lower, upper, near, problem.slack(near), 1e-6):
        np.testing.assert_array_equal(sides, expected)


def test_rows_with_a_wrong_sign_change_sides_and_fixed_ones_do_not():
    lower, upper = np.array([0.0, 0.0, 0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    sides = np.array([0, 0, -1, 1, -1], dtype=np.int8)
    x, y = np.array([-0.1, 1.1, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, -1.0, 1.0, -1.0])
    np.testing.assert_array_equal(repair(sides, lower, upper, x, y), [-1, 1, 0, 0, -1])


def test_the_cost_grows_with_the_rows_and_has_an_end():
    problem = gallery.make("dense_pd", n=100).problem
    assert 0.0 < cost_in_seconds(problem, 10) < cost_in_seconds(problem, 100)
    assert not is_affordable(problem, 1_000_000, np.inf)
    assert is_affordable(problem, 100, np.inf)
    assert not is_affordable(problem, 100, 1e-9)
    assert cost_in_seconds(gallery.make("poisson_2d", n=400).problem, 400) == 0.0
    for kind, n in (("poisson_3d", 3375), ("boxed_stack", 2400)):
        assert 0.0 < cost_in_seconds(gallery.make(kind, n=n).problem, n) < 10.0


def test_what_is_too_dear_to_factor_is_solved_by_conjugate_gradients_or_left(monkeypatch):
    monkeypatch.setattr(polish_systems, "is_affordable", lambda problem, free, seconds: False)
    symmetric = gallery.make("dense_pd", n=100)
    polished = polish(symmetric.problem, symmetric.problem.project(symmetric.x + 1e-6))
    assert polished is not None
    assert "conjugate gradients" in polished.how
    general = gallery.make("dense_p", n=100)
    assert polish(general.problem, general.problem.project(general.x + 1e-6)) is None
