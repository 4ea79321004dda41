"""Proofs of infeasibility: a true one is accepted, a false one never, whatever the scale."""

from __future__ import annotations

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
from perp import BoxLCP, gallery, verify_certificate
from perp.errors import InvalidProblem, MissingAbility

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


def test_contact_problems_and_operators_without_a_transpose_are_refused():
    with pytest.raises(InvalidProblem, match="contact"):
        verify_certificate(gallery.make("box_stack", n=48).problem, np.ones(48))
    with pytest.raises(MissingAbility, match="A\\^T u"):
        verify_certificate(
            perp.LCP(perp.MatrixFreeOperator(LinearOperator((2, 2), lambda x: 0 * x)), [-1.0, -1.0]), [1.0, 1.0]
        )


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
