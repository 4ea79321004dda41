"""Free rows of a dense or of a sparse A, by a factor that follows the set of free rows.

Dense: gathered and factored, or added to the last factor as a border. Sparse: one pattern for all sets, and only what
changed is factored again. Augmented systems have the eliminated unknowns put back: they are larger, but no product of
matrices is ever formed.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels import blas
from perp.kernels.factors import dense_factors
from perp.kernels.measures import index_sets
from perp.kernels.storages import dense
from perp.linalg.cholesky import Border, DenseCholesky, NotFinite, SparseCholesky, dependence, read_only
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body import movable_parts
from perp.linalg.paces import DENSE, SuperLuTime
from perp.linalg.plan import Plan
from perp.problems.deadline import now
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, Operator
from perp.problems.operators.masses import factor_sparse
from perp.problems.problem import Problem

# -- dense -------------------------------------------------------------------------------------------------------------


BORDER_COST = 2.0
"""How much more an operation of a border costs than one of a new factor (it is made of smaller products)."""


class DenseSymmetric(FreeSystem):
    """Cholesky; where few rows changed since the last factor, a border of those rows is added to it instead.

    A row that left is held at zero by one more equation, x_i = 0, whose multiplier is one more unknown; so leaving and
    entering rows both are a new row and column (the Schur-complement method of Gill, Murray, Saunders & Wright 1990).
    """

    name = "dense"
    dependent: int
    negative: int

    def __init__(self, A: NDArray[np.float64]) -> None:
        super().__init__()
        self._cholesky = DenseCholesky(A)
        self._A = self._cholesky.A
        self._base = np.empty(0, dtype=np.intp)
        self._base_shift = np.empty(0)
        self._border: Border | None = None
        self._entered = np.empty(0, dtype=np.intp)
        self._nonzero = np.empty(self._cholesky.n, dtype=np.uint64)
        self._free = np.empty(0, dtype=np.intp)
        self.borders: int = 0

    def factor(self, free: Mask, shift: Vector) -> None:
        self._free = np.flatnonzero(free)
        if self._extend(free, shift):
            self.borders += 1
            return
        self._base, self._base_shift, self._border = self._free, shift.copy(), None
        self._cholesky.factor(self._free, shift[self._free])
        self.dependent, self.negative = self._cholesky.dependent, self._cholesky.negative
        self.added: Vector = shift.copy()
        self.factorisations += 1

    def _extend(self, free: Mask, shift: Vector) -> bool:
        """Add a border to the last factor, where that takes fewer operations than a new factor."""
        if self.factorisations == 0 or self.dependent or not np.array_equal(shift, self._base_shift):
            return False
        is_base = np.zeros(free.size, dtype=np.bool_)
        is_base[self._base] = True
        entered, left = np.flatnonzero(free & ~is_base), np.flatnonzero(is_base & ~free)
        count, size = entered.size + left.size, float(self._base.size)
        if count == 0:
            self._border = None
            return True
        if BORDER_COST * count * (size + count) ** 2 > self._free.size**3 / 3.0:
            return False
        columns, corner = np.zeros((count, self._base.size)), np.zeros((count, count))
        columns[: entered.size] = self._A[np.ix_(entered, self._base)]
        columns[entered.size + np.arange(left.size), np.searchsorted(self._base, left)] = 1.0
        corner[: entered.size, : entered.size] = self._A[np.ix_(entered, entered)] + np.diag(shift[entered])
        self._border, self._entered = self._cholesky.border(columns, corner), entered
        return self._border is not None

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        if self._border is None:
            dx[self._free] = self._cholesky.solve(r[self._free])
            return dx
        extra = np.zeros(self._border.exchange.size)
        extra[: self._entered.size] = r[self._entered]
        inside, outside = self._border.solve(r[self._base], extra)
        dx[self._base] = inside
        dx[self._entered] = outside[: self._entered.size]
        held = np.ones(r.size, dtype=np.bool_)
        held[self._free] = False
        dx[held] = 0.0  # zero up to rounding
        return dx

    def slack(self, problem: Problem, x: Vector, out: Vector) -> Vector:
        dense.slack_by_rows(self._A.reshape(-1), problem.b, x, self._nonzero, out)
        return out

    def counters(self) -> dict[str, float]:
        return super().counters() | {"borders": self.borders, "flops": self._cholesky.flops}


class DenseGeneral(FreeSystem):
    """LU with row exchanges."""

    name = "dense"

    def __init__(self, A: NDArray[np.float64]) -> None:
        super().__init__()
        self._A = read_only(A)
        n = self._A.shape[0]
        self._address = blas.product_address()
        self._factor, self._exchange = np.empty(n * n), np.empty(n, dtype=np.int64)
        self._inverse = np.empty(dense_factors.BLOCK * dense_factors.BLOCK)
        self._work = np.empty(n * dense_factors.BLOCK)
        self._row_size = np.abs(self._A).max(axis=1, initial=0.0)
        self._free = np.empty(0, dtype=np.intp)
        self._flops = 0.0

    def factor(self, free: Mask, shift: Vector) -> None:
        rows = np.flatnonzero(free)
        size = rows.size
        operations = 2.0 * size**3 / 3.0
        begun = DENSE.require(operations)
        self._free = rows
        dense_factors.gather_whole_square(self._A, self._free.astype(np.int64), size, self._factor)
        self._factor[: size * size : size + 1] += shift[self._free]
        floor = dependence(size) * self._row_size[self._free]
        small = dense_factors.factor_lu(
            self._address, self._factor, size, floor, self._exchange, self._inverse, self._work
        )
        if small < 0:
            raise NotFinite("the matrix, or a number on the way to its factor, is not finite")
        self.dependent: int = int(small)
        self.added: Vector = shift.copy()
        self.factorisations += 1
        self._flops += operations
        DENSE.learn(operations, now() - begun)

    def solve(self, r: Vector) -> Vector:
        part = r[self._free]
        dense_factors.solve_lu(self._factor, part.size, self._exchange, part)
        dx = np.zeros(r.size)
        dx[self._free] = part
        return dx

    def counters(self) -> dict[str, float]:
        return super().counters() | {"flops": self._flops}


# -- sparse ------------------------------------------------------------------------------------------------------------


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
