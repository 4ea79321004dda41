"""K = M + J^T W J in its two layouts, against the dense formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import perp
from perp import gallery
from perp.linalg.free_systems.body import PairPlan, RowPlan, make_body_plan
from perp.linalg.free_systems.direct import make_augmented


def stack(fixed=()):
    """A pile, in which some boxes cannot move."""
    A = gallery.make("boxed_pile", n=200, seed=3).problem.A
    mass = A.mass.mass.copy()
    mass[list(fixed)] = np.inf
    return perp.FactoredOperator.from_body_pairs(
        *A.pairs.as_given(), perp.BodyMasses(mass, A.mass.inertia), A.compliance
    )


def dense_parts(A):
    J = A.J.toarray()
    moves = np.repeat(np.isfinite(A.mass.mass), 6)
    M = np.eye(J.shape[1])
    movable = perp.BodyMasses(np.where(np.isinf(A.mass.mass), 1.0, A.mass.mass), A.mass.inertia).to_sparse().toarray()
    M[np.ix_(moves, moves)] = movable[np.ix_(moves, moves)]
    return J * moves, M


@pytest.mark.parametrize("ordering", ["amd", "natural", "cuthill_mckee"])
@pytest.mark.parametrize("fixed", [(), (0, 5)])
@pytest.mark.parametrize("make", [lambda A, o: PairPlan.make(A, A.pairs, o), RowPlan.make], ids=["pairs", "rows"])
def test_the_numbers_are_those_of_k(make, fixed, ordering):
    A = stack(fixed)
    plan = make(A, ordering)
    rng = np.random.default_rng(0)
    weight = np.where(rng.random(A.n) < 0.3, 0.0, rng.uniform(0.1, 1e6, A.n))
    J, M = dense_parts(A)
    K = M + J.T @ (weight[:, None] * J)
    order = plan.plan.symbolic.permutation
    lower = plan.plan.lower
    column = np.repeat(np.arange(order.size), np.diff(lower.start))
    found = np.zeros_like(K)
    found[order[lower.row], order[column]] = plan.assemble(weight)
    found = np.tril(found) + np.triu(found, 1)
    full = found + found.T - np.diag(np.diag(found))
    np.testing.assert_allclose(full, K, rtol=1e-10, atol=1e-6)
    r, v = rng.standard_normal(A.n), rng.standard_normal(J.shape[1])
    np.testing.assert_allclose(plan.push(weight, r), J.T @ (weight * r), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(plan.pull(weight, r, v), weight * (r - J @ v), rtol=1e-9, atol=1e-6)


def test_rigid_bodies_are_taken_in_pairs_and_other_masses_row_by_row():
    A = stack()
    assert isinstance(make_body_plan(A, "amd"), PairPlan)
    general = perp.FactoredOperator(A.J, A.mass.to_sparse())
    assert isinstance(make_body_plan(general, "amd"), RowPlan)


def test_rows_of_one_pair_may_name_its_bodies_in_either_order():
    masses = perp.BodyMasses([1.0, 2.0], [np.eye(3)] * 2)
    jacobian = np.random.default_rng(1).standard_normal((4, 2, 6))
    A = perp.FactoredOperator.from_body_pairs([[0, 1], [1, 0], [0, -1], [-1, 1]], jacobian, masses, 0.1)
    b = -np.ones(4)
    result = perp.solve(perp.BoxLCP(A, b, -1.0, 1.0), "block_principal", space="body", tol=1e-12)
    assert result.success


@pytest.mark.parametrize("form", ["factored", "sparse", "dense"])
def test_the_augmented_system_solves_for_the_free_rows(form):
    A = stack((2,))
    matrix = A.to_dense()
    operator = {
        "factored": A,
        "sparse": perp.SparseOperator(sparse.csr_array(matrix)),
        "dense": perp.DenseOperator(matrix),
    }
    system = make_augmented(operator[form])
    rng = np.random.default_rng(2)
    free = rng.random(A.n) < 0.4
    shift = rng.uniform(0.5, 2.0, A.n)
    r = rng.standard_normal(A.n)
    system.factor(free, shift)
    dx = system.solve(r)
    expected = np.linalg.solve(matrix[np.ix_(free, free)] + np.diag(shift[free]), r[free])
    np.testing.assert_allclose(dx[free], expected, rtol=1e-8, atol=1e-10)
    assert (dx[~free] == 0.0).all()
    system.factor(np.zeros(A.n, dtype=bool), shift)
    assert not system.solve(r).any()
