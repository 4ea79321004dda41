"""What is done to a problem before a method sees it, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import perp
from perp.solvers.auto import presolve
from perp.solvers.auto.presolve import (
    balance,
    balancing_exponents,
    find_islands,
    settle_rows,
    write_products_out,
    write_small_out,
)


@given(strategies.box_lcps())
def test_an_answer_to_the_smaller_problem_is_one_to_the_asked_problem(problem):
    reduced = settle_rows(problem)
    fixed = problem.lower == problem.upper
    if not fixed.any():
        assert reduced is None
        return
    assert reduced.problem.n == problem.n - fixed.sum()
    inner = perp.solve(reduced.problem, "block_principal") if reduced.problem.n else None
    x = reduced.recover(np.empty(0) if inner is None else inner.x)
    np.testing.assert_array_equal(x[fixed], problem.lower[fixed])
    assert perp.verify(problem, x).residual <= 1e-10
    np.testing.assert_array_equal(reduced.recover(reduced.restrict(x)), x)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_without_entries_go_where_b_sends_them(form):
    A = np.array([[2.0, 1.0, 1.0, 0.0], [0.0] * 4, [0.0] * 4, [0.0] * 4])
    problem = perp.BoxLCP(form(A), [-10.0, 1.0, -1.0, 0.0], [0.0, -2.0, -2.0, -2.0], [np.inf, 3.0, 3.0, 3.0])
    reduced = settle_rows(problem)
    assert reduced.problem.n == 1
    x = reduced.recover(perp.solve(reduced.problem).x)
    np.testing.assert_allclose(x, [(10.0 + 2.0 - 3.0) / 2, -2.0, 3.0, 0.0])
    assert perp.verify(problem, x).residual <= 1e-14


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_an_empty_row_without_b_that_others_need_is_left_to_them(form):
    problem = perp.LCP(form([[-1.0, 1.0], [0.0, 0.0]]), [-1.0, 0.0])
    assert settle_rows(problem) is None
    np.testing.assert_allclose(perp.solve(problem).x, [0.0, 1.0])
    free = perp.BoxLCP(form([[0.0, 1.0], [0.0, 0.0]]), [2.0, 0.0], -np.inf, [np.inf, 1.0])
    assert perp.solve(free).x[1] == -2.0


def test_a_proof_for_the_smaller_problem_is_spread_over_the_rows_of_the_asked_one():
    fixed = perp.BoxLCP(np.diag([1.0, 2.0, 3.0]), np.ones(3), [0.0, 1.0, 0.0], [9.0, 1.0, 9.0])
    np.testing.assert_array_equal(settle_rows(fixed).spread(np.array([5.0, 7.0])), [5.0, 0.0, 7.0])
    uneven = perp.LCP(np.diag([1e-9, 1.0, 1e9]) - np.eye(3, k=1) * 1e-5, np.ones(3))
    reduced = balance(uneven)
    u = np.array([1.0, 2.0, 3.0])
    scaled = uneven.A.to_dense().T @ reduced.spread(u)
    ratio = (reduced.problem.A.to_dense().T @ u) / scaled
    np.testing.assert_array_equal(np.log2(ratio), np.rint(np.log2(ratio)))  # columns are scaled by powers of two alone


def test_an_empty_row_that_no_bound_allows_is_left_for_a_proof():
    problem = perp.LCP([[1.0, 0.0], [0.0, 0.0]], [-1.0, -1.0])
    assert settle_rows(problem) is None
    result = perp.solve(problem)
    assert result.status is perp.Status.INFEASIBLE
    assert perp.verify_certificate(problem, result.certificate).valid


def test_forms_that_have_no_cheap_rows_are_left_as_they_are():
    stack = perp.gallery.make("boxed_stack", n=48).problem
    assert settle_rows(stack) is None
    assert settle_rows(perp.gallery.make("box_stack", n=48).problem) is None


def test_a_product_of_few_rows_is_written_out_and_one_of_many_is_not():
    rng = np.random.default_rng(2)
    S = np.triu(rng.standard_normal((9, 9)), 1)
    A, b = strategies.spd_matrix(rng, 9) + S - S.T, rng.standard_normal(9)
    product = perp.MatrixFreeOperator(aslinearoperator(A))
    rows = {"lower": -0.5, "upper": 0.5}
    for problem in (
        perp.LCP(product, b),
        perp.BoxLCP(product, b, **rows),
        perp.ContactProblem(product, b, 0.4, "box", extra_rows=3, **rows),
        perp.ContactProblem(product, b, 0.4, "cone", extra_rows=3, **rows),
    ):
        formed = write_products_out(problem, 9).problem
        assert (formed.kind, type(formed)) == (problem.kind, type(problem))
        np.testing.assert_array_equal(formed.A.to_dense(), A)
        result = perp.solve(problem)
        assert result.success
        assert result.problem is problem
        assert "written out by 9" in result.methods[0].why
        assert write_products_out(problem, 8) is None
    assert write_products_out(perp.LCP(A, b), 9) is None
    faulty = perp.MatrixFreeOperator(LinearOperator((3, 3), matvec=lambda x: np.full(3, np.nan), dtype=float))
    assert write_products_out(perp.LCP(faulty, np.ones(3)), 9) is None


def test_small_problems_in_any_form_are_written_out():
    for problem in (
        perp.gallery.make("boxed_stack", n=24).problem,
        perp.LCP(perp.StencilOperator((4, 4), 4.5), -np.ones(16)),
    ):
        formed = write_small_out(problem).problem
        assert (formed.kind, formed.A.form) == (problem.kind, "dense")
        np.testing.assert_array_equal(formed.A.to_dense(), problem.A.to_dense())
    assert write_small_out(perp.gallery.make("dense_pd", n=20).problem) is None
    assert write_small_out(perp.gallery.make("boxed_stack", n=200).problem) is None


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_balanced_rows_and_columns_have_entries_near_one_and_the_same_answer(symmetric, form):
    rng = np.random.default_rng(1)
    A, b = strategies.spd_matrix(rng, 12), rng.standard_normal(12)
    rows = 10.0 ** rng.integers(-8, 9, 12)
    columns = rows if symmetric else 10.0 ** rng.integers(-8, 9, 12)
    scaled = perp.LCP(form(rows[:, None] * A * columns), rows * b)
    reduced = balance(scaled)
    entries = np.abs(reduced.problem.A.to_dense())
    assert 0.2 < entries.max(axis=0).min() <= entries.max(axis=0).max() < 5.0
    assert 0.2 < entries.max(axis=1).min() <= entries.max(axis=1).max() < 5.0
    assert bool(reduced.problem.is_symmetric) == symmetric
    x = reduced.recover(perp.solve(reduced.problem, "block_principal").x)
    np.testing.assert_allclose(x * columns, perp.solve(perp.LCP(A, b), "block_principal").x, atol=1e-11)


def test_bounds_are_scaled_along_with_their_unknowns_and_infinite_ones_stay():
    A = np.array([[1e8, 1.0], [1.0, 1e-4]])
    problem = perp.BoxLCP(A, [-3e8, -7.0], [0.0, -np.inf], [2.0, np.inf])
    reduced = balance(problem)
    assert np.isinf(reduced.problem.upper[1])
    x = reduced.recover(perp.solve(reduced.problem).x)
    assert x[0] == 2.0
    assert x[1] == pytest.approx(5e4)


def test_powers_of_two_are_all_that_anything_is_multiplied_by():
    A = sparse.csr_array(np.diag([1e-9, 3.0, 7e11]))
    rows, columns = balancing_exponents(A, symmetric=True)
    np.testing.assert_array_equal(rows, np.rint(rows))
    np.testing.assert_array_equal(rows, columns)


def test_rows_of_like_size_are_not_scaled():
    assert balance(perp.gallery.make("dense_pd", n=20).problem) is None


def test_islands_are_looked_for_in_large_problems_only(monkeypatch):
    monkeypatch.setattr(presolve, "WORTH_SPLITTING", 256)
    block = strategies.spd_matrix(np.random.default_rng(0), 80)
    A = sparse.block_diag([block] * 4, format="csr")
    assert len(find_islands(perp.LCP(A, -np.ones(320)))) == 4
    assert find_islands(perp.LCP(A[:160, :160], -np.ones(160))) == ()
    assert find_islands(perp.gallery.make("poisson_2d", n=400).problem) == ()
