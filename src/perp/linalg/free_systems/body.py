"""Free rows of A = J M^-1 J^T + C in body space, where there are as many unknowns as velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.linalg.cholesky import SparseCholesky
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.plan import Plan, with_diagonal
from perp.problems.inputs import Vector
from perp.problems.operators import BodyMasses, FactoredOperator

LEAST_COMPLIANCE = 1e-9
"""In body space every row needs a compliance; those below this share of A_ii are lifted to it.

An error of that share is made, and rounding adds 1e-16 over it; both are taken back by refinement.
"""


@dataclass(frozen=True, eq=False, repr=False)
class BodyPlan:
    """What the numbers of K = M + J_F^T C_F^-1 J_F need besides C and F."""

    plan: Plan
    J: sparse.csr_array
    J_transposed: sparse.csr_array
    pointers: NDArray[np.int64]
    columns: NDArray[np.int64]
    place: NDArray[np.int64]
    """Where each product J_ip J_iq goes in the lower triangle of K."""
    mass_numbers: Vector
    """M in the lower triangle of K."""

    @staticmethod
    def make(A: FactoredOperator, ordering: str) -> BodyPlan:
        from perp.kernels import body_space

        J, mass = movable_parts(A)
        plan = Plan.make(body_pattern(J, mass), ordering)
        pointers, indices = J.indptr.astype(np.int64), J.indices.astype(np.int64)
        length = np.diff(pointers)
        place = np.empty(int(np.sum(length * (length + 1) // 2)), dtype=np.int64)
        body_space.find_pairs(pointers, indices, plan.symbolic.inverse, *plan.lower, place)
        return BodyPlan(plan, J, J.T.tocsr(), pointers, indices, place, plan.scatter(mass))


class BodySpace(FreeSystem):
    name = "body"
    can_keep_apart = True

    def __init__(self, A: FactoredOperator, diagonal: Vector, plan: BodyPlan) -> None:
        super().__init__()
        self._plan = plan
        typical = diagonal.max(initial=0.0) or 1.0
        self._compliance, self._least = A.compliance, LEAST_COMPLIANCE * np.where(diagonal > 0.0, diagonal, typical)
        self._cholesky = SparseCholesky(plan.plan, factored=False, definite=True)  # as M is
        self._weight = np.zeros(A.n)

    def factor(self, free: Mask, shift: Vector) -> None:
        from perp.kernels import body_space

        plan = self._plan
        compliance = np.maximum(self._compliance + shift, self._least)
        self.added = compliance - self._compliance
        self._weight = np.where(free, 1.0 / compliance, 0.0)
        numbers = plan.mass_numbers.copy()
        body_space.add_rows(plan.pointers, plan.J.data, self._weight, plan.place, numbers)
        self._cholesky.factor_lower(numbers)
        self.factorisations += 1

    def solve(self, r: Vector) -> Vector:
        velocity = self._cholesky.solve(self._plan.J_transposed @ (self._weight * r))
        dx: Vector = self._weight * (r - self._plan.J @ velocity)
        return dx

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        from perp.kernels import index_sets

        plan = self._plan
        mark, keep = np.zeros(plan.J.shape[1], dtype=np.bool_), np.zeros(plan.J.shape[0], dtype=np.bool_)
        index_sets.keep_apart_by_columns(rows, plan.pointers, plan.columns, mark, keep)
        return keep

    def counters(self) -> dict[str, float]:
        return self._cholesky.report() | super().counters()


def movable_parts(A: FactoredOperator) -> tuple[sparse.csr_array, sparse.csr_array]:
    """J, sorted, and M; a body that cannot move has zeros in J and the identity in M, so that its velocity is zero."""
    J, mass = A.J, A.mass
    if isinstance(mass, BodyMasses) and not np.isfinite(mass.mass).all():
        moves = np.isfinite(mass.mass)
        J = sparse.csr_array(J @ sparse.diags_array(np.repeat(moves, 6).astype(np.float64)))
        J.eliminate_zeros()
        mass = BodyMasses(np.where(moves, mass.mass, 1.0), np.where(moves[:, None, None], mass.inertia, np.eye(3)))
    if not J.has_sorted_indices:
        J = J.sorted_indices()
    return J, sparse.csr_array(mass.to_sparse())


def body_pattern(J: sparse.csr_array, mass: sparse.csr_array) -> sparse.csr_array:
    """The pattern of K = M + J^T J, with ones for numbers."""
    ones = sparse.csr_array((np.ones(J.nnz), J.indices, J.indptr), shape=J.shape)
    return with_diagonal(sparse.csr_array(abs(mass) + ones.T @ ones))
