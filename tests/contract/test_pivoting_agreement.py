"""What the pivoting methods say of the same problem: one answer where there is one, and never a lie."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import BlockPrincipal, BoxLCP, Dantzig, Enumeration, Lemke, Principal, Status
from perp.solvers.method import misfit
from perp.solvers.roster import METHODS

FALLBACKS = ("parametric", "progress", "count")
VARIANTS = {
    "enumeration": Enumeration(),
    "lemke": Lemke(),
    "lemke diagonal": Lemke("diagonal"),
    "dantzig": Dantzig(),
    "dantzig least index": Dantzig("least_index"),
    "principal": Principal(),
    "principal keller": Principal("keller"),
    **{f"block_principal {fallback}": BlockPrincipal(fallback=fallback) for fallback in FALLBACKS},
}
TOLERANCE = 1e-8
MOST_ROWS_TO_ENUMERATE = 10


def test_every_pivoting_method_of_the_roster_takes_part():
    assert {type(method) for method in VARIANTS.values()} == {m for m in METHODS if m.family == "pivoting"}


# -- one answer where there is one ------------------------------------------------------------------------------------


@st.composite
def p_matrices(draw, max_n=7):
    """Symmetric positive definite, positive definite plus skew, and P-matrices that are not positive definite."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    n = draw(st.integers(1, max_n))
    kind = draw(st.sampled_from(["symmetric", "skew", "triangular", "scaled triangular", "z"]))
    if kind in ("symmetric", "skew"):
        G = rng.standard_normal((n, n))
        return strategies.spd_matrix(rng, n) + (2.0 * (G - G.T) if kind == "skew" else 0.0)
    if kind == "z":  # a nonsingular M-matrix: strictly diagonally dominant after scaling its columns
        B = rng.uniform(0.0, 1.0, (n, n)) * (rng.random((n, n)) < 0.6)
        return ((np.abs(B).sum(axis=1).max() + 0.1) * np.eye(n) - B) * rng.uniform(0.5, 2.0, n)
    T = np.triu(rng.uniform(-3.0, 3.0, (n, n)), 1) + np.diag(rng.uniform(0.5, 2.0, n))
    order = rng.permutation(n)
    T = T[np.ix_(order, order)]  # still all principal minors are products of the diagonal
    return T if kind == "triangular" else T * np.outer(rng.uniform(0.1, 10.0, n), rng.uniform(0.1, 10.0, n))


@st.composite
def bounds_of(draw, n):
    rng = np.random.default_rng(draw(strategies.SEEDS))
    lower = rng.choice([-np.inf, -1.0, 0.0, 0.5], n)
    width = rng.choice([0.0, 1.0, 10.0, np.inf], n)
    return lower, np.where(np.isinf(lower), rng.choice([0.0, 1.0, np.inf], n), np.maximum(lower, -1.0) + width)


@st.composite
def p_problems(draw):
    A = draw(p_matrices())
    n = len(A)
    b = np.random.default_rng(draw(strategies.SEEDS)).standard_normal(n)
    if draw(st.booleans()):
        return perp.LCP(A, b)
    return BoxLCP(A, b, *draw(bounds_of(n)))


@given(problem=p_problems())
def test_all_pivoting_methods_find_the_one_solution_of_a_p_matrix(problem):
    reference = perp.solve(problem, Enumeration(), tol=1e-9)
    assert reference.success
    for name, method in VARIANTS.items():
        if misfit(method, problem) is not None:
            continue
        result = perp.solve(problem, method, tol=1e-9)
        assert result.success, f"{name}: {result.message}"
        np.testing.assert_allclose(result.x, reference.x, atol=1e-6, err_msg=name)


# -- statuses never lie -----------------------------------------------------------------------------------------------


@cache
def semidefinite_problem(seed):
    """J J^T of deficient rank, 0 to 60 per cent, with copies of rows; LCP or boxed, planted or with b at random."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 31))
    J = rng.standard_normal((n, max(1, round(n * (1 - rng.uniform(0, 0.6))))))
    copies = rng.random(n) < rng.choice([0.0, 0.3])
    J[copies] = J[rng.integers(0, n, copies.sum())]
    A = J @ J.T
    kind = seed % 5
    if kind < 2:
        lower, upper = np.zeros(n), np.full(n, np.inf)
    else:
        lower = rng.choice([-np.inf, -1.0, 0.0, 0.5], n)
        width = rng.choice([0.0, 1.0, 10.0, np.inf], n)
        upper = np.where(np.isinf(lower), rng.choice([0.0, 1.0, np.inf], n), np.maximum(lower, -1.0) + width)
    if kind in (0, 2, 3):  # planted, with degenerate rows
        x = np.clip(rng.exponential(size=n) * (rng.random(n) < 0.5), lower, upper)
        y = np.select([x == lower, x == upper], [rng.exponential(size=n), -rng.exponential(size=n)])
        b = np.where(rng.random(n) < 0.8, y, 0.0) - A @ x
    else:
        b = rng.standard_normal(n)
    return perp.LCP(A, b) if kind < 2 else BoxLCP(A, b, lower, upper)


def is_planted(seed):
    return seed % 5 in (0, 2, 3)


MUST_DECIDE = {  # of 1,000: solved, or proved infeasible
    "enumeration": 303,  # all with at most ten rows
    "lemke": 990,  # where equations depend on one another, it and Keller's rule give up at once: six times
    "lemke diagonal": 990,
    "dantzig": 1000,
    "dantzig least index": 1000,
    "principal": 700,  # for P-matrices
    "principal keller": 990,
    "block_principal parametric": 1000,
    "block_principal progress": 950,
    "block_principal count": 940,
}


@pytest.mark.parametrize("name", VARIANTS)
def test_no_status_lies_on_a_thousand_semidefinite_problems(name):
    method, ends, seen = VARIANTS[name], Counter(), 0
    for seed in range(1000):
        problem = semidefinite_problem(seed)
        if misfit(method, problem) is not None or (name == "enumeration" and problem.n > MOST_ROWS_TO_ENUMERATE):
            continue
        result = perp.solve(problem, method)
        found = perp.verify(problem, result.x)
        seen += 1
        ends[result.status] += 1
        assert np.isfinite(result.x).all()
        assert np.isfinite(result.y).all()
        assert result.success == (found.residual <= TOLERANCE)
        assert result.residual == pytest.approx(found.residual, rel=1e-9, abs=1e-14)
        assert found.bound_violation == 0.0
        if result.status is Status.INFEASIBLE:
            assert perp.verify_certificate(problem, result.certificate.u).valid
            assert not is_planted(seed)
        else:
            assert result.certificate is None
    decided = ends[Status.CONVERGED] + ends[Status.INFEASIBLE]
    assert ends[Status.INFEASIBLE] > 0
    assert seen == 1000 or name == "enumeration"
    assert decided >= MUST_DECIDE[name]


def test_enumeration_returns_an_accurate_solution_where_there_is_one():
    problem = semidefinite_problem(375)
    assert perp.solve(problem, Dantzig()).success
    assert perp.solve(problem, Enumeration()).success
