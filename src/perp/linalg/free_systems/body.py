"""Free rows of A = J M^-1 J^T + C in body space, where there are as many unknowns as velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.linalg.cholesky import SparseCholesky
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body_plans import BodyPlan
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator

LEAST_COMPLIANCE = 1e-9
"""In body space every row needs a compliance; those below this share of A_ii are lifted to it.

An error of that share is made, and rounding adds 1e-16 over it; both are taken back by refinement.
"""


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
        from perp.kernels.factors import body_space

        self.added: Vector = np.empty(self._weight.size)
        body_space.weigh(free, self._compliance, shift, self._least, self._weight, self.added)
        self._cholesky.factor_lower(self._plan.assemble(self._weight))
        self.factorisations += 1

    def solve(self, r: Vector) -> Vector:
        velocity = self._cholesky.solve(self._plan.push(self._weight, r))
        return self._plan.pull(self._weight, r, velocity)

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        from perp.kernels.measures import index_sets

        mark, keep = np.zeros(self._plan.parts, dtype=np.bool_), np.zeros(self._weight.size, dtype=np.bool_)
        index_sets.keep_apart_by_columns(rows, *self._plan.touched, mark, keep)
        return keep

    def counters(self) -> dict[str, float]:
        return self._cholesky.report() | super().counters()
