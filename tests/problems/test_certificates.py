"""Proofs of infeasibility: a true one is accepted, a false one never, whatever the scale."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import grid_operators as grids
import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, verify_certificate
from perp.errors import MissingAbility

INF = np.inf


def violation(problem):
    """The least t such that some x within its bounds has a slack that is admissible up to t; by HiGHS."""
    A, b, n = problem.A.to_dense(), problem.b, problem.n
    lower, upper = problem.bounds(np.zeros(n))
    rows, right = [], []
    for i in range(n):
        row = np.append(A[i], 0.0)
        if np.isfinite(lower[i]) and np.isfinite(upper[i]):
            continue
        if not np.isfinite(upper[i]):  # y_i >= -t
            rows.append(np.append(-A[i], -1.0))
            right.append(b[i])
        if not np.isfinite(lower[i]):  # y_i <= t
            row[-1] = -1.0
            rows.append(row)
            right.append(-b[i])
    if not rows:
        return 0.0
    bounds = [*zip(lower, upper, strict=True), (0.0, None)]
    found = linprog(np.append(np.zeros(n), 1.0), A_ub=np.array(rows), b_ub=right, bounds=bounds, method="highs")
    assert found.status == 0
    return found.fun


@st.composite
def problems(draw):
    """Small integers: singular matrices and infeasible problems are frequent, and all sums are exact."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    n = draw(st.integers(1, 5))
    A, b = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    if draw(st.booleans()):
        J = rng.integers(-2, 3, (n, max(1, n // 2)))
        A = (J @ J.T).astype(float)
    if draw(st.booleans()):
        return perp.LCP(A, b)
    lower = rng.choice([-INF, -1.0, 0.0], n)
    width = rng.choice([0.0, 2.0, INF], n)
    upper = np.where(np.isinf(lower), rng.choice([0.0, INF], n), np.maximum(lower, -1.0) + width)
    return BoxLCP(A, b, lower, upper)


@given(problem=problems(), u=st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.0, 0.5, 1.0, 3.0]), min_size=5, max_size=5))
def test_a_feasible_problem_is_never_proved_infeasible(problem, u):
    verdict = verify_certificate(problem, u[: problem.n])
    if verdict.valid:
        assert violation(problem) > 1e-9


@given(problem=problems())
def test_an_infeasible_problem_has_a_proof_that_is_accepted(problem):
    assume(violation(problem) > 1e-6)
    u = proof_by_highs(problem)
    verdict = verify_certificate(problem, u)
    assert verdict.valid, verdict.reason
    assert verdict.margin < 0


def proof_by_highs(problem):
    """The u of least margin with |u_i| <= 1: a linear program with p = the part of A^T u that meets each bound."""
    A, b, n = problem.A.to_dense(), problem.b, problem.n
    lower, upper = problem.bounds(np.zeros(n))
    down, up = np.isfinite(lower), np.isfinite(upper)
    limits = [(0.0 if d else -1.0, 0.0 if p else 1.0) for d, p in zip(down, up, strict=True)]
    # A^T u = above - below with above, below >= 0, and zero where there is no bound to meet
    above, below = ([(0.0, None if has else 0.0) for has in finite] for finite in (up, down))
    cost = np.concatenate([b, np.where(up, upper, 0.0), -np.where(down, lower, 0.0)])
    equations = np.hstack([A.T, -np.eye(n), np.eye(n)])
    found = linprog(cost, A_eq=equations, b_eq=np.zeros(n), bounds=[*limits, *above, *below], method="highs")
    assert found.status == 0
    return found.x[:n]


@pytest.mark.parametrize(
    ("A", "b", "u"),
    [
        ([[-1.0]], [-1.0], [1.0]),
        ([[0.0]], [-1.0], [1.0]),
        ([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0], [1.0, 1.0]),
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], [2.0, 2.0]),
    ],
)
def test_a_true_proof_is_accepted_dense_and_sparse(A, b, u):
    for matrix in (A, sparse.csr_array(A)):
        verdict = verify_certificate(perp.LCP(matrix, b), u)
        assert verdict.valid
        assert np.abs(verdict.u).max() == 1.0
        assert "< 0" in verdict.reason


def test_nothing_proves_nothing():
    verdict = verify_certificate(perp.LCP([[0.0]], [-1.0]), [0.0])
    assert not verdict.valid
    assert verdict.margin == INF


def test_a_wrong_sign_is_named():
    verdict = verify_certificate(perp.LCP(np.zeros((2, 2)), [-1.0, -1.0]), [1.0, -0.5])
    assert not verdict.valid
    assert "u[1]" in verdict.reason


def test_a_wrong_sign_at_rounding_level_is_forgiven_and_set_to_zero():
    verdict = verify_certificate(perp.LCP(np.zeros((2, 2)), [-1.0, -1.0]), [1.0, -1e-13])
    assert verdict.valid
    np.testing.assert_array_equal(verdict.u, [1.0, 0.0])


def test_a_product_that_grows_with_x_is_named():
    verdict = verify_certificate(perp.LCP([[1.0]], [-1.0]), [1.0])
    assert not verdict.valid
    assert "(A^T u)[0]" in verdict.reason


def test_a_positive_margin_is_no_proof():
    verdict = verify_certificate(perp.LCP([[0.0]], [1.0]), [1.0])
    assert not verdict.valid
    assert verdict.margin == 1.0


@pytest.mark.parametrize(("sign", "valid"), [(1.0, True), (-1.0, False)])
def test_the_slack_of_a_row_without_bounds_must_be_zero_so_either_sign_counts(sign, valid):
    equation = BoxLCP([[0.0]], [-1.0], -INF, INF)
    assert verify_certificate(equation, [sign]).valid is valid
    assert verify_certificate(BoxLCP([[0.0]], [1.0], -INF, INF), [sign]).valid is not valid


def test_a_row_with_an_upper_bound_alone_wants_the_other_sign():
    problem = BoxLCP([[0.0]], [1.0], -INF, 0.0)  # y <= 0, and y = 1
    assert verify_certificate(problem, [-1.0]).valid
    assert not verify_certificate(problem, [1.0]).valid


def test_a_row_with_two_finite_bounds_may_have_any_slack_and_proves_nothing():
    problem = BoxLCP(np.zeros((2, 2)), [-1.0, -1.0], [0.0, 0.0], [1.0, INF])
    assert not verify_certificate(problem, [1.0, 0.0]).valid
    assert not verify_certificate(problem, [1.0, 1.0]).valid
    assert verify_certificate(problem, [0.0, 1.0]).valid


@pytest.mark.parametrize(("upper", "valid"), [(1.0, True), (2.0, False), (3.0, False)])
def test_finite_bounds_of_other_rows_count_in_the_margin(upper, valid):
    """y_0 = x_1 - 2 must not be negative, and x_1 is at most `upper`."""
    problem = BoxLCP([[0.0, 1.0], [0.0, 0.0]], [-2.0, 0.0], [0.0, 0.0], [INF, upper])
    verdict = verify_certificate(problem, [1.0, 0.0])
    assert verdict.valid is valid
    assert verdict.margin == upper - 2.0


@pytest.mark.parametrize("factor", [1e-200, 1e-12, 1e12, 1e200])
@given(problem=problems(), seed=strategies.SEEDS)
def test_the_scale_of_u_and_of_the_problem_does_not_matter(factor, problem, seed):
    u = np.random.default_rng(seed).integers(-1, 3, problem.n).astype(float)
    verdict = verify_certificate(problem, u)
    assert verify_certificate(problem, factor * u).valid == verdict.valid
    A, b = problem.A.to_dense() * factor, problem.b * factor
    scaled = BoxLCP(A, b, *problem.bounds(u))
    assert verify_certificate(scaled, u).valid == verdict.valid


@given(problem=problems(), seed=strategies.SEEDS)
def test_rows_scaled_by_powers_of_two_need_u_scaled_the_other_way(problem, seed):
    rng = np.random.default_rng(seed)
    u, scale = rng.integers(-1, 3, problem.n).astype(float), np.exp2(rng.integers(-8, 9, problem.n))
    scaled = BoxLCP(problem.A.to_dense() * scale[:, None], problem.b * scale, *problem.bounds(u))
    assert verify_certificate(scaled, u / scale).valid == verify_certificate(problem, u).valid


def test_margins_at_rounding_level_prove_nothing():
    problem = perp.LCP(np.zeros((2, 2)), [0.1 + 0.2, -0.3])  # the sum is 5.6e-17 and not 0
    assert not verify_certificate(problem, [1.0, 1.0]).valid
    assert not verify_certificate(perp.LCP(np.zeros((2, 2)), [0.3, -(0.1 + 0.2)]), [1.0, 1.0]).valid


def test_the_verdict_cannot_be_changed_and_the_given_u_is_left_alone():
    u = np.array([4.0, 2.0])
    verdict = verify_certificate(perp.LCP(np.zeros((2, 2)), [-1.0, -1.0]), u)
    np.testing.assert_array_equal(u, [4.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        verdict.u[0] = 0.0


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [1.0, INF], [[1.0, 1.0]], "u"])
def test_a_u_that_makes_no_sense_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="u"):
        verify_certificate(perp.LCP(np.zeros((2, 2)), [-1.0, -1.0]), bad)


def test_operators_without_a_transpose_and_what_is_no_problem_are_refused():
    with pytest.raises(MissingAbility, match="A\\^T u"):
        verify_certificate(
            perp.LCP(perp.MatrixFreeOperator(LinearOperator((2, 2), lambda x: 0 * x)), [-1.0, -1.0]), [1.0, 1.0]
        )
    with pytest.raises(TypeError, match="int"):
        verify_certificate(3, [1.0])


def test_an_empty_problem_has_no_proof():
    assert not verify_certificate(perp.LCP(np.empty((0, 0)), []), []).valid


@pytest.mark.parametrize("grid", [(7,), (4, 5), (3, 2, 4), (2, 1, 2, 3)])
@pytest.mark.parametrize("storage", grids.STORAGES)
def test_a_stencil_pulls_back_what_its_matrix_does_and_forms_nothing(storage, grid, caplog):
    rng = np.random.default_rng(3)
    A = grids.random_stencil(rng, grid, storage)
    u = rng.standard_normal(A.n)
    rows = perp.SparseOperator(A.to_sparse())
    with caplog.at_level("INFO", logger="perp"):
        product, size = A.pull(u)
    assert not caplog.messages
    for mine, theirs in zip((product, size), rows.pull(u), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)


@pytest.mark.parametrize("storage", grids.STORAGES)
def test_a_closed_region_is_proved_without_forming_its_matrix(storage, caplog):
    A = grids.pressure_matrix(np.ones((6, 5), dtype=bool), storage)
    b = np.linspace(-1.0, 0.9, A.n)
    with caplog.at_level("INFO", logger="perp"):
        assert verify_certificate(perp.LCP(A, b), np.ones(A.n)).valid
        assert not verify_certificate(perp.LCP(A, -b), np.ones(A.n)).valid
    assert not caplog.messages


# ------------------------------------------------------------------------------------------------ kinds, rows and reach


def test_a_certificate_is_checked_anew_by_its_vector_alone():
    problem = perp.LCP([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0])
    proof = verify_certificate(problem, [1.0, 1.0])
    assert verify_certificate(problem, proof).valid
    forged = dataclasses.replace(proof, u=np.array([1.0, -1.0]), margin=-1.0, valid=True)
    assert not verify_certificate(problem, forged).valid
    other = perp.LCP([[1.0, -1.0], [-1.0, 1.0]], [1.0, 1.0])
    assert not verify_certificate(other, proof).valid


def test_equations_that_contradict_each_other_are_named_as_such():
    A = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [2.0, 5.0, 1.0]])  # the last row is twice the first plus the second
    problem = BoxLCP(A, [-1.0, -1.0, -4.0], -INF, INF)
    verdict = verify_certificate(problem, [-2.0, -1.0, 1.0])
    assert verdict.valid
    assert verdict.exact
    assert verdict.kind == "inconsistent"
    assert verdict.rows == (0, 1, 2)
    assert "rows 0, 1 and 2 contradict each other" in verdict.reason
    assert verdict.proves.startswith("no solution")
    consistent = BoxLCP(A, [-1.0, -1.0, -3.0], -INF, INF)
    assert not verify_certificate(consistent, [-2.0, -1.0, 1.0]).valid


def test_an_equation_that_contradicts_bounds_is_infeasible_and_not_inconsistent():
    problem = BoxLCP([[0.0, 1.0], [0.0, 0.0]], [1.0, 0.0], [-INF, 0.0], INF)  # x_1 = -1, and x_1 >= 0
    verdict = verify_certificate(problem, [-1.0, 0.0])
    assert verdict.valid
    assert verdict.kind == "infeasible"
    assert verdict.rows == (0,)


def test_an_empty_row_with_a_constant_contradicts_itself():
    verdict = verify_certificate(BoxLCP([[0.0]], [1.0], -INF, INF), [-1.0])
    assert verdict.kind == "inconsistent"
    assert "row 0 contradicts itself" in verdict.reason


def test_long_lists_of_rows_are_cut_in_messages():
    n = 40
    problem = BoxLCP(np.zeros((n, n)), np.ones(n), -INF, INF)
    assert "(40 rows)" in verify_certificate(problem, -np.ones(n)).reason


def test_whole_numbers_prove_to_the_last_bit_and_rounded_ones_as_far_as_they_reach():
    assert verify_certificate(perp.LCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), [1.0, 1.0]).reach == INF
    nearly = perp.LCP([[1.0, -1.0], [-1.0, 1.0 + 2.0**-52]], [-1.0, -1.0])  # regular: x = (2^53 + 1, 2^53)
    verdict = verify_certificate(nearly, [1.0, 1.0])
    assert verdict.valid
    assert not verdict.exact
    assert 2.0**52 < verdict.reach <= 2.0**53


def test_a_proof_that_an_ordinary_solution_contradicts_is_refused():
    """x = (44, 45) solves it in exact arithmetic, and b^T u is negative by more than rounding errors."""
    step = 2.0**-52
    problem = perp.LCP([[1.0, -1.0], [-1.0, 1.0 + step]], [1.0, -1.0 - 45 * step])
    verdict = verify_certificate(problem, [1.0, 1.0])
    assert not verdict.valid
    assert verdict.reach <= 45.0 * 1.01
    assert "solutions have a sum" in verdict.reason


@given(seed=strategies.SEEDS, tilt=st.integers(0, 6), exponent=st.sampled_from([-990, -300, 0, 300, 990]))
def test_whatever_is_accepted_holds_for_all_solutions_within_reach(seed, tilt, exponent):
    """Nearly singular A and any margin: a planted solution is never within the reach of an accepted certificate."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    u = rng.integers(1, 4, n).astype(float)
    A = rng.integers(-3, 4, (n, n)).astype(float)
    A[-1] = -(u[:-1] @ A[:-1]) / u[-1]  # u^T A = 0 up to rounding
    A[-1, rng.integers(n)] += rng.choice([-1.0, 0.0, 1.0]) * 2.0 ** (-52 + tilt)
    x, y = rng.integers(0, 3, n) * 2.0 ** rng.integers(0, 30, n), rng.integers(0, 2, n).astype(float)
    b = np.where(x > 0.0, 0.0, y) - A @ x
    left = [Fraction(b[i]) + sum(Fraction(A[i, j]) * Fraction(x[j]) for j in range(n)) for i in range(n)]
    is_solution = all(r >= 0 and (r == 0 or x[i] == 0.0) for i, r in enumerate(left))
    assume(is_solution)
    for problem in (perp.LCP(A, b), perp.LCP(np.ldexp(A, exponent), np.ldexp(b, exponent))):
        for trial in (u, u + rng.normal(size=n) * 1e-12, np.abs(rng.normal(size=n))):
            verdict = verify_certificate(problem, trial)
            assert not (verdict.valid and x.sum() < verdict.reach)


@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**1000])
def test_numbers_at_the_ends_of_the_range_neither_overflow_nor_vanish(scale):
    n = 50
    A = np.full((n, n), -1e5 * scale)
    assert verify_certificate(perp.LCP(A, np.full(n, -1e5 * scale)), np.ones(n)).exact
    assert not verify_certificate(perp.LCP(-A, np.full(n, -1e5 * scale)), np.ones(n)).valid
    assert not verify_certificate(perp.LCP(A, np.full(n, 1e5 * scale)), np.ones(n)).valid


def test_bounds_that_stand_for_infinity_do_not_spoil_a_proof_with_rounding_errors():
    J = np.array([0.1, 0.7, -0.3])
    A = np.outer(J, J)
    b, u = np.array([-1.0, 0.2, 0.0]), np.array([0.3, 0.0, 0.1])
    assert verify_certificate(BoxLCP(A, b, 0.0, INF), u).valid
    ready = BoxLCP(A, b, 0.0, [INF, 1e300, INF])
    assert verify_certificate(ready, u).valid


def test_matrices_too_large_for_exact_sums_are_added_up_in_extended_precision():
    n = 700  # 490,000 products
    J = np.random.default_rng(0).standard_normal((n, 5))
    J -= J.mean(axis=0)
    for matrix in (J @ J.T, sparse.csr_array(J @ J.T)):
        verdict = verify_certificate(perp.LCP(matrix, -np.ones(n)), np.ones(n))
        assert verdict.valid
        assert verdict.reach > 1e10
        assert not verify_certificate(perp.LCP(matrix, np.ones(n)), np.ones(n)).valid
