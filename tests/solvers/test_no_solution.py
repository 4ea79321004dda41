"""The search for a proof that there is no solution: finds one exactly where there is one, and says of what kind."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from exact_twins import is_feasible, is_solvable
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, gallery, verify_certificate
from perp.solvers.no_solution.program import find_dependent_rows, leave_over
from perp.solvers.no_solution.search import find_no_solution, search_no_solution

INF = np.inf


def lcp(A, b):
    return perp.LCP(np.array(A, dtype=float), np.array(b, dtype=float))


def free(A, b):
    return BoxLCP(np.array(A, dtype=float), np.array(b, dtype=float), -INF, INF)


# the row of the table of hard inputs, the problem, the kind of proof (None: it has a solution)
CASES = [
    (9, free([[1, 2], [2, 4]], [-1, -3]), "inconsistent"),
    (9, free([[1, 2], [2, 4]], [-1, -2]), None),
    (9, free([[1, 2], [2, 5]], [-1, -3]), None),
    (10, lcp([[-2]], [-3]), "infeasible"),
    (13, lcp([[0]], [-3]), "infeasible"),
    (16, lcp([[2]], [-3]), None),
    (43, lcp(np.zeros((3, 3)), [1, 0, 2]), None),
    (43, lcp(np.zeros((3, 3)), [1, -1, 2]), "infeasible"),
    (44, lcp([[0, -1], [-1, 0]], [-1, -1]), "infeasible"),
    (44, lcp([[0, -1e-300], [-1e-300, 0]], [-1e-300, -1e-300]), "infeasible"),
    (45, lcp([[2, 1], [1, -1]], [2, -2]), "exhausted"),
    (64, gallery.make("painleve_rod").problem, "infeasible"),
    (64, gallery.make("painleve_step").problem, None),
    (67, lcp([[1, -1, 0], [-1, 2, -1], [0, -1, 1]], [-1, -1, 0.5]), "infeasible"),
    (91, lcp([[0, 1], [1, 0]], [-1, -1]), None),
]


@pytest.mark.parametrize(("row", "problem", "kind"), CASES)
def test_hard_inputs_have_the_proof_that_the_table_says(row, problem, kind):
    proof = find_no_solution(problem)
    assert (None if proof is None else proof.kind) == kind
    if proof is not None:
        assert proof.exact
        assert proof.excludes_solutions
        assert verify_certificate(problem, proof).valid


@given(seed=strategies.SEEDS, n=st.integers(1, 4), exponent=st.sampled_from([-300, 0, 300]))
def test_a_proof_is_found_exactly_where_the_twin_finds_no_solution(seed, n, exponent):
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-2, 2, n).astype(float)
    proof = find_no_solution(perp.LCP(np.ldexp(A, exponent), np.ldexp(b, exponent)))
    if is_solvable(A, b):
        assert proof is None
    else:
        assert proof is not None
        assert proof.kind == ("exhausted" if is_feasible(A, b) else "infeasible")
        assert proof.exact


@given(seed=strategies.SEEDS)
def test_problems_with_a_planted_solution_are_never_excluded(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    lower, width = rng.choice([-INF, -1.0, 0.0], n), rng.choice([0.0, 2.0, INF], n)
    upper = np.where(np.isinf(lower), rng.choice([1.0, INF], n), np.maximum(lower, -1.0) + width)
    x = np.clip(rng.integers(-1, 3, n).astype(float), lower, upper)
    y = rng.integers(0, 3, n) * np.where(x == lower, 1.0, np.where(x == upper, -1.0, 0.0))
    J = rng.integers(-2, 3, (n, max(1, n // 2)))
    A = (J @ J.T).astype(float) if rng.random() < 0.5 else rng.integers(-3, 4, (n, n)).astype(float)
    hints = [rng.normal(size=n), -y]
    assert find_no_solution(BoxLCP(A, y - A @ x, lower, upper), hints=hints) is None


@pytest.mark.parametrize("weights", [False, True])
def test_row_42_contradicting_redundant_rows_of_300_by_60(weights):
    rng = np.random.default_rng(1)
    problem = gallery.make("infeasible_psd", n=300).problem
    if weights:  # without the help of u = (1, ..., 1)
        J = rng.standard_normal((300, 60))
        problem = perp.LCP(J @ J.T, -rng.random(300) - 0.1)
    proof = find_no_solution(problem)
    assert proof is not None
    assert proof.reach > 1e10


def test_row_67_a_closed_region_of_32_by_32_cells():
    problem = gallery.make("closed_fluid", n=1024).problem
    proof = find_no_solution(problem)
    assert proof is not None
    np.testing.assert_array_equal(proof.u, np.ones(problem.n))


def contradicting_equations(n):
    """Sparse rows of which one is a combination of three others, but for its constant."""
    rng = np.random.default_rng(1)
    A = (sparse.random_array((n, n), density=3 / n, rng=rng, format="csr") + sparse.eye_array(n)).tolil()
    A[n // 2] = A[3] + 2 * A[7] - A[500]
    A = A.tocsr()
    b = -(A @ rng.standard_normal(n))
    wrong = b.copy()
    wrong[n // 2] += 1.0
    return A, b, wrong


def test_of_2000_sparse_equations_the_four_that_contradict_each_other_are_named():
    A, _, wrong = contradicting_equations(2000)
    proof = find_no_solution(BoxLCP(A, wrong, -INF, INF))
    assert proof is not None
    assert proof.kind == "inconsistent"
    assert proof.rows == (3, 7, 500, 1000)
    assert "rows 3, 7, 500 and 1000 contradict each other" in proof.reason


def test_singular_equations_that_agree_are_not_excluded():
    A, right, _ = contradicting_equations(600)
    assert find_no_solution(BoxLCP(A, right, -INF, INF)) is None


def test_a_hint_is_sharpened_and_saves_the_search():
    rng = np.random.default_rng(2)
    J = rng.standard_normal((40, 6))
    J -= J.mean(axis=0)
    problem = perp.LCP(J @ J.T, -np.ones(40))
    hint = 1.0 + 1e-10 * rng.standard_normal(40)
    assert not verify_certificate(problem, hint).valid
    search = search_no_solution(problem, hints=[hint])
    assert search.certificate is not None
    assert len(search.steps) == 1


def test_an_island_without_solution_is_found_in_a_larger_problem():
    A = np.eye(40)
    A[17:19, 17:19] = [[2.0, 1.0], [1.0, -1.0]]
    b = -np.ones(40)
    b[17:19] = [2.0, -2.0]
    proof = find_no_solution(perp.LCP(A, b))
    assert proof is not None
    assert proof.kind == "exhausted"
    assert proof.rows == (17, 18)


def test_the_steps_tell_what_was_tried_and_that_the_problem_is_feasible():
    search = search_no_solution(gallery.unsolvable().problem)
    assert search.feasible
    assert [step.split(":")[0] for step in search.steps] == [
        "single rows", "one for all rows that are coupled", "rows that depend on each other",
        "a linear program", "exhaustion",
    ]  # fmt: skip


def test_huge_bounds_that_stand_for_infinity_do_not_hide_a_proof():
    A = [[0.0, -1.0], [-1.0, 0.0]]
    proof = find_no_solution(BoxLCP(A, [-1.0, -1.0], [0.0, 0.0], [INF, 1e30]))
    assert proof is not None
    assert proof.kind == "infeasible"
    assert find_no_solution(BoxLCP(A, [-1.0, 1.0], [0.0, -5.0], [INF, 1e30])) is None


def test_what_cannot_be_formed_is_not_looked_at():
    operator = perp.MatrixFreeOperator(LinearOperator((2, 2), lambda x: 0 * x))
    search = search_no_solution(perp.LCP(operator, [-1.0, -1.0]))
    assert search.certificate is None
    assert search.steps == ()
    assert find_no_solution(perp.LCP(np.empty((0, 0)), [])) is None


def test_bad_arguments_are_refused():
    problem = gallery.unsolvable().problem
    with pytest.raises(TypeError, match="int"):
        find_no_solution(3)
    with pytest.raises(ValueError, match="max_seconds"):
        find_no_solution(problem, max_seconds=0.0)
    with pytest.raises(ValueError, match=r"hints\[0\]"):
        find_no_solution(problem, hints=[[1.0]])


def test_the_time_limit_ends_the_search():
    A, right, _ = contradicting_equations(600)
    search = search_no_solution(BoxLCP(A, right, -INF, INF), max_seconds=1e-6)
    assert search.certificate is None


@pytest.mark.parametrize("cells", [8, 24])
def test_a_closed_region_in_other_units_is_proved_by_its_null_vector(cells):
    """D L D has the null vector D^-1 (1, ..., 1)."""
    example = gallery.make("closed_fluid", n=cells**2).problem
    d = np.random.default_rng(0).uniform(0.5, 2.0, example.n)
    scale = sparse.diags_array(d)
    search = search_no_solution(perp.LCP((scale @ example.A.to_sparse() @ scale).tocsr(), d * example.b))
    assert search.certificate is not None
    assert "rows that depend on each other" in search.steps[-1]
    np.testing.assert_allclose(search.certificate.u * d, (search.certificate.u * d)[0], rtol=1e-6)


@given(seed=strategies.SEEDS)
def test_what_is_left_over_is_the_projection_of_b_on_the_null_space(seed):
    rng = np.random.default_rng(seed)
    n, rank = 6, int(rng.integers(1, 6))
    Q, P = (np.linalg.qr(rng.standard_normal((n, rank)))[0] for _ in range(2))
    A, b = sparse.csr_array((Q * np.linspace(1.0, 3.0, rank)) @ P.T), rng.standard_normal(n)
    np.testing.assert_allclose(leave_over(A, b) * np.abs(b).max(), b - Q @ (Q.T @ b), atol=1e-9)
    assert not leave_over(A, A @ b).any()


@given(seed=strategies.SEEDS)
def test_rows_that_depend_on_each_other_are_found_and_independent_ones_are_not(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((7, 7))
    assert find_dependent_rows(A) is None
    A[4] = 2.0 * A[1] - A[6]
    u = find_dependent_rows(A)
    np.testing.assert_allclose(u / u[4], [0.0, -2.0, 0.0, 0.0, 1.0, 0.0, 1.0], atol=1e-9)
    assert find_dependent_rows(np.zeros((2, 2))) is None
