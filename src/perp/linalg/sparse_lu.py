"""LU factors of unsymmetric matrices with symmetric pattern: analysed as for Cholesky, with numbers for both halves.

Pivots are taken from the diagonal in the order of the plan, whatever their size: for matrices near definite ones, as
K = M + J^T H J is for contact laws. SuperLU, which SciPy has, exchanges rows as numbers demand, so that its structure
must be found again for every matrix; here the pattern is analysed once.
`perp.kernels.factors.supernodal_lu` has the layout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels import blas
from perp.kernels.factors import lanes, supernodal_lu
from perp.linalg.cholesky import NotFinite, aligned, dependence
from perp.linalg.plan import Plan
from perp.linalg.symbolic import Integers, Symbolic
from perp.problems.inputs import Vector


class LUArrays(NamedTuple):
    """The factor and what its kernels need to work, in the order of the arguments of `supernodal_lu.factor`."""

    L: Vector
    U: Vector
    position: Integers
    spread: Integers
    product: Vector
    product_u: Vector
    inverse: Vector
    work: Vector

    @staticmethod
    def make(plan: Plan) -> LUArrays:
        values = plan.symbolic.values_start
        size = int(values[-1]) + lanes.LANES
        rows = plan.tallest + 2 * (supernodal_lu.BLOCK + lanes.LANES)
        return LUArrays(
            L=np.zeros(size),
            U=np.zeros(size),
            position=np.empty(plan.symbolic.n, dtype=np.int64),
            spread=np.empty(3 * plan.tallest, dtype=np.int64),
            product=np.empty(plan.largest_product),
            product_u=np.empty(plan.largest_product),
            inverse=aligned(supernodal_lu.INVERSE),
            work=np.zeros(max(2 * int(np.diff(values).max(initial=0)), rows * supernodal_lu.SIDES)),
        )


class SparseLU:
    """L U = P A P^T for a sparse A of symmetric pattern: `SparseLU(A).solve(b)`.

    A is a matrix (where its pattern is not symmetric, zeros are stored for what is missing) or a `Plan`, which any
    number of factors can share. `factor(data)` takes other numbers for the same pattern, the `data` of the sorted csr
    array `matrix`; `factor_parts(lower, upper)` those of `plan.lower` and of their transposed places.

    Rows are not exchanged. A pivot at rounding level becomes ± its `floor`: `perturbed` of them, and the factor is
    then that of a matrix nearby. `sign` is the sign of the determinant, +1 or -1.
    """

    plan: Plan
    perturbed: int
    sign: int

    def __init__(self, A: Any, ordering: str = "amd", *, factored: bool = True) -> None:
        self.plan = plan = A if isinstance(A, Plan) else Plan.make(with_symmetric_pattern(A), ordering)
        self.symbolic: Symbolic = plan.symbolic
        self.arrays = LUArrays.make(plan)
        self._address = blas.product_address()
        self._upper_source = transposed_places(plan.matrix)[plan.source]
        self.perturbed, self.sign = 0, 1
        self._factored = False
        if factored:
            self.factor(plan.matrix.data)

    @property
    def n(self) -> int:
        return self.symbolic.n

    @property
    def matrix(self) -> sparse.csr_array:
        """A with sorted entries, as it was when the pattern was analysed."""
        return self.plan.matrix

    @property
    def flops(self) -> float:
        """Multiplications and additions of one factorisation."""
        return 2.0 * self.plan.cost

    def factor(self, data: Vector) -> None:
        """Factor the matrix with these numbers."""
        if np.shape(data) != self.matrix.data.shape:
            raise InvalidProblem(f"data has shape {np.shape(data)}, and the pattern has {self.matrix.nnz} entries")
        self.factor_parts(data[self.plan.source], data[self._upper_source])

    def factor_parts(self, lower: Vector, upper: Vector, floor: Vector | None = None) -> None:
        """The same with lower[e] = (P A P^T)_ij at the places of `plan.lower`, and upper[e] = (P A P^T)_ji.

        `floor` has one number a column of L; without it, rounding errors of the largest entry of the row and column.
        """
        plan = self.plan
        if floor is None:
            floor = self._rounding(lower, upper)
        found = np.empty(2, dtype=np.int64)
        numbers = (plan.lower.start, plan.target, lower, upper, floor)
        self._factored = False
        supernodal_lu.factor(self._address, *plan.structure, *plan.updates, *numbers, *self.arrays, found)
        self._read(found)

    def factor_symmetric(self, lower: Vector, floor: Vector | None = None) -> None:
        """`factor_parts(lower, lower)` in half the work: L D L^T, stored as L U with U = D L^T."""
        plan = self.plan
        if floor is None:
            floor = self._rounding(lower, lower)
        found = np.empty(2, dtype=np.int64)
        numbers = (plan.lower.start, plan.target, lower, floor)
        L, U, position, spread, product, _, inverse, work = self.arrays
        arrays = (L, U, position, spread, product, inverse, work)
        self._factored = False
        supernodal_lu.factor_symmetric(self._address, *plan.structure, *plan.updates, *numbers, *arrays, found)
        self._read(found)

    def _read(self, found: Integers) -> None:
        if found[0] < 0:
            raise NotFinite("the matrix, or a number on the way to its factor, is not finite, or a pivot is zero")
        self.perturbed, self.sign = int(found[0]), int(found[1])
        self._factored = True

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """A^-1 right, for one right side or for the columns of an array."""
        if not self._factored:
            raise NotFinite("there is no factor to solve with")
        right = np.asarray(right, dtype=np.float64)
        if right.ndim not in (1, 2) or right.shape[0] != self.n:
            raise InvalidProblem(f"the right side has shape {right.shape}, and the matrix has {self.n} rows")
        structure, arrays = self.plan.structure, self.arrays
        ordered = right[self.symbolic.permutation]
        solution = np.empty_like(right)
        if right.ndim == 1:
            supernodal_lu.solve(*structure, arrays.L, arrays.U, ordered, arrays.work)
            solution[self.symbolic.permutation] = ordered
        else:
            sides = ordered.T.reshape(-1)
            supernodal_lu.solve_many(*structure, arrays.L, arrays.U, sides, right.shape[1], arrays.work)
            solution[self.symbolic.permutation] = sides.reshape(ordered.T.shape).T
        return solution

    def _rounding(self, lower: Vector, upper: Vector) -> Vector:
        start, row = self.plan.lower
        largest = np.fmax(np.abs(lower), np.abs(upper))  # NaN is for the kernel to find
        scale = np.zeros(self.n)
        np.fmax.at(scale, np.repeat(np.arange(self.n), np.diff(start)), largest)
        np.fmax.at(scale, row, largest)
        scale[scale == 0.0] = scale.max(initial=0.0)
        return dependence(self.plan.tallest) * scale


def transposed_places(matrix: sparse.csr_array) -> NDArray[np.int64]:
    """Where the entry (j, i) is among the data, for every entry (i, j) of a sorted matrix of symmetric pattern."""
    numbered = sparse.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    transposed = numbered.T.tocsr()
    if not (np.array_equal(transposed.indptr, matrix.indptr) and np.array_equal(transposed.indices, matrix.indices)):
        raise InvalidProblem("the pattern of the matrix is not symmetric")
    return np.asarray(transposed.data, dtype=np.int64)


def with_symmetric_pattern(A: Any) -> sparse.csr_array:
    """A with an entry stored at (i, j) wherever there is one at (j, i), be it zero."""
    matrix = sparse.csr_array(A, dtype=np.float64, copy=True)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"the matrix has shape {matrix.shape}; a square one is needed")
    matrix.sum_duplicates()
    entries = matrix.tocoo()
    places = (np.concatenate([entries.row, entries.col]), np.concatenate([entries.col, entries.row]))
    data = np.concatenate([entries.data, np.zeros(entries.data.size)])
    both = sparse.csr_array(sparse.coo_array((data, places), shape=matrix.shape))
    both.sum_duplicates()
    return both
