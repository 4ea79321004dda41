"""Free rows with the eliminated unknowns put back: larger systems, but no product of matrices is ever formed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body_plans import movable_parts
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, Operator


class Augmented(FreeSystem):
    """(A_FF + S) dx = r by SuperLU on

        [ M  -J_F^T ] [v ]   [0]                               [ A_FF  -I ] [dx]   [r]
        [J_F  C_F+S ] [dx] = [r]   for A = J M^-1 J^T + C, and [  S     I ] [dy] = [0]   for any other A.

    The first is the matrix of constrained dynamics (quasi-definite once its second row is turned round); the second is
    the Newton equation of the Kojima map (SLIDES), with dy = -S dx for the change of the multipliers.
    """

    name = "augmented"

    def __init__(self, A: Operator) -> None:
        super().__init__()
        self._n = A.n
        if isinstance(A, FactoredOperator):
            J, self._corner = movable_parts(A)
            self._J, self._compliance = sparse.csr_array(J), A.compliance
            self._velocities = int(self._corner.shape[0])
        else:
            self._matrix, self._velocities = A.to_sparse(), 0
        self._factored = isinstance(A, FactoredOperator)
        self._free: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._nonzeros = 0

    def factor(self, free: Mask, shift: Vector) -> None:
        from scipy.sparse.linalg import splu

        self._free = np.flatnonzero(free)
        self.added = shift.copy()
        self.factorisations += 1
        self.dependent = 0
        if self._free.size == 0:
            return
        try:
            self._lu = splu(sparse.csc_array(self._assemble(shift[self._free])))
        except RuntimeError:  # 'Factor is exactly singular': SuperLU does not say where
            self.dependent = 1
            return
        self._nonzeros = int(self._lu.nnz)

    def _assemble(self, shift: Vector) -> sparse.csr_array:
        chosen = self._free
        if self._factored:
            J, corner = self._J[chosen], sparse.diags_array(self._compliance[chosen] + shift)
            return sparse.block_array([[self._corner, -J.T], [J, corner]], format="csr")
        own = sparse.eye_array(chosen.size)
        A = self._matrix[chosen][:, chosen]
        return sparse.block_array([[A, -own], [sparse.diags_array(shift), own]], format="csr")

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(self._n)
        size = self._free.size
        if size and not self.dependent:
            right = np.zeros(self._velocities + size if self._factored else 2 * size)
            right[self._velocities : self._velocities + size] = r[self._free]
            dx[self._free] = self._lu.solve(right)[self._velocities : self._velocities + size]
        return dx

    def counters(self) -> dict[str, float]:
        return super().counters() | {"factor_nonzeros": self._nonzeros}
