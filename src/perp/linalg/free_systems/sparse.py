"""Free rows of a sparse A: one pattern for all sets, and only what changed is factored again.

Augmented systems have the eliminated unknowns put back: they are larger, but no product of matrices is ever formed.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels.measures import index_sets
from perp.linalg.cholesky import SparseCholesky
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body import movable_parts
from perp.linalg.paces import SuperLuTime
from perp.linalg.plan import Plan
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, Operator
from perp.problems.operators.masses import factor_sparse


class SparseSymmetric(FreeSystem):
    name = "sparse"
    can_keep_apart = True
    dependent: int
    negative: int

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._cholesky = SparseCholesky(plan, factored=False)
        self._matrix = plan.matrix
        n = plan.symbolic.n
        self._row = np.repeat(np.arange(n), np.diff(self._matrix.indptr))
        self._diagonal = np.flatnonzero(self._row == self._matrix.indices)
        self._free = np.zeros(n, dtype=np.bool_)

    def factor(self, free: Mask, shift: Vector) -> None:
        data = np.where(free[self._row] & free[self._matrix.indices], self._matrix.data, 0.0)
        data[self._diagonal] = np.where(free, data[self._diagonal] + shift, 1.0)
        self._cholesky.factor(data)
        self._free = free.copy()
        self.dependent, self.negative = self._cholesky.dependent, self._cholesky.negative
        self.added: Vector = shift.copy()
        self.factorisations += 1

    def solve(self, r: Vector) -> Vector:
        return self._cholesky.solve(np.where(self._free, r, 0.0))

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        n = self._free.size
        mark, keep = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        pointers, indices = (part.astype(np.int64) for part in (self._matrix.indptr, self._matrix.indices))
        index_sets.keep_apart_by_neighbours(rows, pointers, indices, mark, keep)
        return keep

    def counters(self) -> dict[str, float]:
        return self._cholesky.report() | super().counters()


class LuSystem(FreeSystem):
    """SuperLU on a matrix that is made of the free rows, from scratch each time."""

    def __init__(self, n: int, time: SuperLuTime | None = None) -> None:
        super().__init__()
        self._n, self._time = n, time or SuperLuTime()
        self._free = np.empty(0, dtype=np.intp)
        self._nonzeros = 0

    @abstractmethod
    def _assemble(self, free: NDArray[np.intp], shift: Vector) -> tuple[sparse.sparray, int]:
        """The matrix for these rows with their shift, and where their unknowns begin among its own."""

    def factor(self, free: Mask, shift: Vector) -> None:
        self._free = np.flatnonzero(free)
        self.added: Vector = shift.copy()
        self.factorisations += 1
        self.dependent: int = 0
        if self._free.size == 0:
            return
        matrix, self._first = self._assemble(self._free, shift[self._free])
        try:
            with self._time.work(matrix):
                self._lu = factor_sparse(matrix)
        except RuntimeError:  # singular; SuperLU does not say where
            self.dependent = 1
            return
        self._nonzeros = int(self._lu.nnz)

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(self._n)
        size = self._free.size
        if size and not self.dependent:
            right = np.zeros(self._lu.shape[0])
            right[self._first : self._first + size] = r[self._free]
            dx[self._free] = self._lu.solve(right)[self._first : self._first + size]
        return dx

    def counters(self) -> dict[str, float]:
        return super().counters() | {"factor_nonzeros": self._nonzeros}


class SparseGeneral(LuSystem):
    """A_FF itself."""

    name = "sparse"

    def __init__(self, A: sparse.csr_array, time: SuperLuTime | None = None) -> None:
        """`time` is what is known of like matrices."""
        super().__init__(int(A.shape[0]), time)
        self._A = sparse.csc_array(A)

    def _assemble(self, free: NDArray[np.intp], shift: Vector) -> tuple[sparse.sparray, int]:
        return self._A[free][:, free] + sparse.diags_array(shift), 0


class AugmentedBodies(LuSystem):
    """For A = J M^-1 J^T + C the matrix of constrained dynamics, with v = M^-1 J_F^T dx put back:

    [ M   -J_F^T ] [v ]   [0]
    [J_F   C_F+S ] [dx] = [r],       quasi-definite once its second row is turned round.
    """

    name = "augmented"

    def __init__(self, A: FactoredOperator) -> None:
        super().__init__(A.n)
        self._J, self._mass = movable_parts(A)
        self._compliance = A.compliance

    def _assemble(self, free: NDArray[np.intp], shift: Vector) -> tuple[sparse.sparray, int]:
        J, corner = self._J[free], sparse.diags_array(self._compliance[free] + shift)
        return sparse.block_array([[self._mass, -J.T], [J, corner]], format="csr"), int(self._mass.shape[0])


class AugmentedRows(LuSystem):
    """For any other A the Newton equation of the Kojima map (SLIDES), with dy = -S dx put back:

    [A_FF  -I] [dx]   [r]
    [ S     I] [dy] = [0].
    """

    name = "augmented"

    def __init__(self, A: Operator) -> None:
        super().__init__(A.n)
        self._A = A.to_sparse()

    def _assemble(self, free: NDArray[np.intp], shift: Vector) -> tuple[sparse.sparray, int]:
        A, own = self._A[free][:, free], sparse.eye_array(free.size)
        return sparse.block_array([[A, -own], [sparse.diags_array(shift), own]], format="csr"), 0


def make_augmented(A: Operator) -> LuSystem:
    return AugmentedRows(A) if A.factored is None else AugmentedBodies(A.factored)
