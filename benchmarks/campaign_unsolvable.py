"""Problems without a solution, each with the reason known from how it was made."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import perp
from benchmarks.campaign_contacts import draw_jacobian
from benchmarks.campaign_matrices import Draw, p_scaled, spd
from benchmarks.campaign_planted import draw_bounds, draw_form
from benchmarks.campaign_sample import Sample, draw_size


def draw_farkas(rng: Draw, most: int) -> Sample:
    """Any matrix, but for one row, which is such that u >= 0 of random support has A^T u <= 0 and b^T u < 0."""
    n = draw_size(rng, most)
    A, b = rng.standard_normal((n, n)), rng.standard_normal(n)
    u = np.where(rng.random(n) < 0.5, rng.uniform(0.1, 1.0, n), 0.0)
    last = int(rng.integers(n))
    u[last] = 1.0
    others = np.arange(n) != last
    A[last] = -u[others] @ A[others] - rng.uniform(0.1, 1.0, n) * (rng.random(n) < 0.7)
    b[last] = -u[others] @ b[others] - 1.0
    A[last, np.abs(A[last]) < 1e-12] = 0.0
    form, words = draw_form(A, rng)
    return Sample(perp.LCP(form, b), False, f"{words}, u >= 0 with A^T u <= 0 and b^T u = -1")


def draw_contradicting_rows(rng: Draw, most: int) -> Sample:
    """Positive semidefinite with dependent rows of whole numbers, b = -1 along the dependence."""
    n = max(2, draw_size(rng, most))
    G = rng.integers(-2, 3, (n, max(1, n // 2))).astype(float)
    u = (rng.random(n - 1) < 0.5).astype(float)
    G[-1] = -u @ G[:-1]
    b = rng.integers(0, 3, n).astype(float)
    b[-1] = -1.0 - u @ b[:-1]
    form, words = draw_form(G @ G.T, rng)
    return Sample(perp.LCP(form, b), False, f"{words}, rows that add up to zero while b adds up to -1")


def draw_contradicting_equations(rng: Draw, most: int) -> Sample:
    """Two free rows that are the same but for b, among others of all kinds."""
    n = max(2, draw_size(rng, most))
    G = rng.standard_normal((n, n))
    G[1] = G[0]
    A = G @ G.T / n
    A[1], A[:, 1] = A[0], A[:, 0]
    lower, upper = draw_bounds(n, rng)
    lower[:2], upper[:2] = -np.inf, np.inf
    b = rng.standard_normal(n)
    b[1] = b[0] + 1.0
    form, words = draw_form(A, rng)
    return Sample(perp.BoxLCP(form, b, lower, upper), False, f"{words}, y_0 = 0 and y_1 = y_0 + 1 = 0")


def draw_feasible_unsolvable(rng: Draw, most: int) -> Sample:
    """[[2, 1], [1, -1]], b = (2, -2) in other units, above rows that need its x; all rows shuffled."""
    n = max(2, draw_size(rng, min(most, 30)))
    A, b = np.zeros((n, n)), rng.standard_normal(n)
    D, E = 2.0 ** rng.integers(-4, 5, (2, 2))
    A[:2, :2] = D[:, None] * np.array([[2.0, 1.0], [1.0, -1.0]]) * E
    b[:2] = D * np.array([2.0, -2.0])
    if n > 2:
        A[2:, 2:] = (spd if rng.random() < 0.5 else p_scaled)(n - 2, rng)
        A[2:, :2] = rng.standard_normal((n - 2, 2)) * (rng.random() < 0.5)
    order = rng.permutation(n)
    form, words = draw_form(A[np.ix_(order, order)], rng)
    return Sample(perp.LCP(form, b[order]), False, f"{words}, none of the four index sets of a block solves it")


def draw_contradicting_joints(rng: Draw, most: int) -> Sample:
    """Contacts, and two joints that ask for different speeds of the same motion."""
    dimension = int(rng.integers(2, 4))
    contacts = max(1, draw_size(rng, most - 2) // dimension)
    operator = draw_jacobian(rng, contacts, dimension)
    row = sparse.csr_array(rng.standard_normal((1, operator.J.shape[1])))
    A = perp.FactoredOperator(sparse.vstack([operator.J, row, row]), operator.mass, 0.0)
    b = A.J @ rng.standard_normal(A.J.shape[1])
    b[-1] += 1.0
    model = str(rng.choice(["box", "cone", "convex", "disc"]))
    friction = rng.choice([0.0, 0.3, 0.9], contacts)
    problem = perp.ContactProblem(A, b, friction, model, dimension=dimension, extra_rows=2)
    return Sample(problem, False, f"{model} {dimension}d, one speed is to be 0 and 1 at once")
