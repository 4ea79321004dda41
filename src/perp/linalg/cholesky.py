"""Cholesky factors of matrices whose numbers change and whose pattern stays: analyse once, factor what changed.

Why not a wheel of somebody else's: the supernodal factors with wheels are GPL (CHOLMOD in cvxopt) or weigh 700 MB (MKL
Pardiso), the light ones (qdldl, SuperLU) are simplicial or unsymmetric and lose a factor of ten beyond 5,000 rows, and
none can factor again only what lies above changed rows in the elimination tree. This one is some two hundred lines of
kernels over SciPy's own matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels import blas
from perp.kernels.factors import dense_factors, supernodal
from perp.linalg.paces import DENSE, SUPERNODAL
from perp.linalg.plan import Plan
from perp.linalg.symbolic import Symbolic
from perp.problems.deadline import Pace, now
from perp.problems.inputs import Vector
from perp.problems.problem import SYMMETRY_TOLERANCE

ROUNDING = 16.0 * 2.0**-52


def dependence(rows: int) -> float:
    """A row whose pivot is at most this share of its diagonal entry depends on the rows before it.

    A pivot that should be zero is the sum of as many rounding errors as there are rows that it was reduced by.
    """
    return ROUNDING * max(rows, 30)


class NotPositive(ArithmeticError):
    """The matrix is not even positive semi-definite, so that it has no Cholesky factor."""


class NotFinite(ArithmeticError):
    """The matrix has numbers that are not finite, or they overflow on the way."""


def read_only(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """A view of A by rows that cannot be written to: kernels are compiled for one kind of array only."""
    view = np.ascontiguousarray(A).view()
    view.flags.writeable = False
    return view


def aligned(size: int) -> Vector:
    """Memory that begins with a line of the cache: runs of eight numbers then lie in one line (a third less time)."""
    memory = np.empty(size + 8)
    first = -memory.ctypes.data % 64 // 8
    return memory[first : first + size]


class DenseCholesky:
    """L L^T = A[chosen, chosen] for a symmetric dense A and a set of rows that changes from call to call.

    Rows that depend on earlier ones (`dependent` of them) rest: their unknown is 0.
    """

    dependent: int
    negative: int

    def __init__(self, A: NDArray[np.float64]) -> None:
        self.A = read_only(A)
        self.n: int = self.A.shape[0]
        self._address = blas.product_address()
        self._factor = np.empty(0)
        self._inverse = aligned(dense_factors.BLOCK * dense_factors.BLOCK)
        self._work = np.empty(self.n * dense_factors.BLOCK)
        self._size = 0
        self.dependent = self.negative = 0
        self.flops: float = 0.0

    def factor(self, chosen: NDArray[np.intp], shift: Vector | None = None) -> None:
        """Factor A[chosen, chosen] + diag(shift)."""
        size = chosen.size
        operations = size**3 / 3.0
        begun = DENSE.require(operations)
        self._size = size
        if self._factor.size < size * size:
            self._factor = np.empty(size * size)
        dense_factors.gather_square(self.A, chosen.astype(np.int64), size, self._factor)
        diagonal = self._factor[: size * size : size + 1]
        floor = dependence(size) * np.abs(diagonal)
        if shift is not None:
            diagonal += shift
        found = np.zeros(2, dtype=np.int64)
        dense_factors.factor(self._address, self._factor, size, floor, self._inverse, self._work, found)
        DENSE.learn(operations, now() - begun)
        self.dependent, self.negative = _read(found)
        self.flops += operations

    def solve(self, right: Vector) -> Vector:
        """A[chosen, chosen]^-1 right."""
        _require_positive(self.negative)
        x = np.array(right, dtype=np.float64)
        if x.shape != (self._size,):
            raise InvalidProblem(f"the right side has shape {x.shape}, and {self._size} rows were chosen")
        dense_factors.solve(self._factor, self._size, x)
        return x

    def border(self, columns: NDArray[np.float64], corner: NDArray[np.float64]) -> Border | None:
        """The matrix [[A, B], [B^T, corner]] with B = columns.T; None if that is singular."""
        return Border.make(self, columns, corner)


@dataclass(frozen=True)
class Border:
    """A factored matrix with a few more rows and columns, by the Schur complement S = corner - B^T A^-1 B."""

    cholesky: DenseCholesky
    reduced: Vector
    """L^-1 B, column after column."""
    schur: Vector
    exchange: NDArray[np.int64]

    @staticmethod
    def make(cholesky: DenseCholesky, columns: NDArray[np.float64], corner: NDArray[np.float64]) -> Border | None:
        count, size = columns.shape
        address, inverse = cholesky._address, cholesky._inverse
        reduced, schur = columns.reshape(-1).copy(), corner.reshape(-1).copy()
        work = np.empty(max(count, 1) * dense_factors.BLOCK)
        dense_factors.solve_lower_many(address, cholesky._factor, size, reduced, count, inverse, work)
        dense_factors.subtract_gram(address, reduced, size, count, schur, np.empty(count * size))
        floor = dependence(size + count) * np.abs(corner).max(axis=1, initial=0.0)
        exchange = np.empty(count, dtype=np.int64)
        if dense_factors.factor_lu(address, schur, count, floor, exchange, inverse, work) != 0:
            return None
        return Border(cholesky, reduced, schur, exchange)

    def solve(self, right: Vector, extra: Vector) -> tuple[Vector, Vector]:
        """The solution for the old rows and for the new ones."""
        x, z = np.array(right), np.array(extra)
        dense_factors.forward(self.cholesky._factor, x.size, x)
        dense_factors.dot_columns(self.reduced, x.size, z.size, x, z)  # extra - B^T A^-1 right
        dense_factors.solve_lu(self.schur, z.size, self.exchange, z)
        dense_factors.times_columns(self.reduced, x.size, z.size, z, x)
        dense_factors.backward(self.cholesky._factor, x.size, x)
        return x, z


class SparseCholesky:
    """L L^T = P A P^T for a sparse symmetric positive (semi-)definite A: `SparseCholesky(A).solve(b)`.

    `ordering` is a name that `perp.linalg.order` knows. The pattern of A is analysed once (or given as a `Plan`,
    which any number of factors can share); `factor(data)` takes other numbers for the same pattern (the `data` of the
    sorted csr array `matrix`), and works only on supernodes whose numbers changed, and on their ancestors in the
    elimination tree; the result is the same, bit for bit, as when all is recomputed. Rows that depend on earlier ones
    (`dependent` of them, found by a pivot at rounding level) rest: their unknown is 0. `definite` promises that there
    are none, however small a pivot gets.
    """

    plan: Plan
    negative: int
    dependent: int
    factorisations: int
    partial_factorisations: int

    def __init__(self, A: Any, ordering: str = "amd", *, factored: bool = True, definite: bool = False) -> None:
        self.plan = plan = A if isinstance(A, Plan) else Plan.make(A, ordering)
        if plan is not A:
            _require_symmetric(plan.matrix)
        self.symbolic: Symbolic = plan.symbolic
        self._definite, self._dependence = definite, dependence(plan.tallest)
        self._floor = np.zeros(plan.symbolic.n)
        self._address = blas.product_address()
        self._factor = np.zeros(int(plan.symbolic.values_start[-1]))
        self._numbers = np.full(plan.source.size, np.nan)
        self._marked = np.zeros(plan.symbolic.supernodes, dtype=np.bool_)
        self._position = np.empty(self.n, dtype=np.int64)
        self._spread = np.empty(plan.tallest, dtype=np.int64)
        self._product = np.empty(plan.largest_product)
        self._inverse = aligned(dense_factors.BLOCK * dense_factors.BLOCK)
        self._work = np.empty(max(plan.tallest * min(dense_factors.BLOCK, plan.widest), 1))
        self.dependent = self.negative = 0
        self.factorisations = self.partial_factorisations = 0
        self.flops: float = 0.0
        self._pace = Pace(SUPERNODAL)
        if factored:
            self.factor(plan.matrix.data)

    @property
    def n(self) -> int:
        return self.symbolic.n

    @property
    def matrix(self) -> sparse.csr_array:
        """A with sorted entries, as it was when the pattern was analysed."""
        return self.plan.matrix

    def factor(self, data: Vector, *, anew: bool = False) -> None:
        """Factor the matrix with these numbers; `anew` recomputes all of it, also what did not change."""
        if np.shape(data) != self.matrix.data.shape:
            raise InvalidProblem(f"data has shape {np.shape(data)}, and the pattern has {self.matrix.nnz} entries")
        self.factor_lower(data[self.plan.source], anew=anew)

    def factor_lower(self, numbers: Vector, *, anew: bool = False) -> None:
        """The same with the numbers of `plan.lower`, the lower triangle of P A P^T."""
        plan, symbolic = self.plan, self.symbolic
        anew = anew or self.negative > 0  # negative pivots are counted as they come, not kept
        self._marked[:] = False
        tree = (symbolic.super_start, symbolic.super_parent, plan.lower.start)
        done = supernodal.mark_changes(*tree, self._numbers, numbers, anew, self._marked)
        cost = plan.cost if done == symbolic.supernodes else float(plan.costs[self._marked].sum())
        begun = self._pace.require(cost)
        self._numbers = numbers
        floor = self._floor if self._definite else self._dependence * np.abs(numbers[plan.lower.start[:-1]])
        found = np.zeros(2, dtype=np.int64)
        supernodal.factor(
            self._address,
            *plan.structure,
            *plan.updates,
            *(plan.lower.start, plan.target, numbers, self._marked, floor),
            *(self._factor, self._position, self._spread, self._product, self._inverse, self._work, found),
        )
        if found[0] < 0:
            self._numbers = np.full_like(numbers, np.nan)  # nothing of this factor may be kept
        _, self.negative = _read(found)
        if found[0] or not self._definite:
            self.dependent = int(np.count_nonzero(np.isinf(self._factor[plan.diagonal])))
        self.factorisations += 1
        self.partial_factorisations += done < symbolic.supernodes
        self.flops += cost
        self._pace.learn(cost, now() - begun)

    def solve(self, right: Vector) -> Vector:
        """A^-1 right."""
        _require_positive(self.negative)
        right = np.asarray(right, dtype=np.float64)
        if right.shape != (self.n,):
            raise InvalidProblem(f"the right side has shape {right.shape}, and the matrix has {self.n} rows")
        x = right[self.symbolic.permutation]
        supernodal.solve(*self.plan.structure, self._factor, x, self._work)
        solution = np.empty_like(x)
        solution[self.symbolic.permutation] = x
        return solution

    def report(self) -> dict[str, float]:
        """Fill and work, and what was done.

        `factor_nonzeros` counts what is stored of L, zeros in joined supernodes included; `fill` is the nonzeros of L,
        without those, over the lower triangle of A; `factor_flops` is the work for all of L.
        """
        return {
            "factor_nonzeros": self.symbolic.nonzeros,
            "fill": self.symbolic.fill,
            "factor_flops": self.plan.cost,
            "factorisations": self.factorisations,
            "partial_factorisations": self.partial_factorisations,
            "flops": self.flops,
        }


def _read(found: NDArray[np.int64]) -> tuple[int, int]:
    if found[0] < 0:
        raise NotFinite("the matrix, or a number on the way to its factor, is not finite")
    return int(found[0]), int(found[1])


def _require_positive(negative: int) -> None:
    if negative:
        raise NotPositive("the matrix is not positive semi-definite: a pivot is negative")


def _require_symmetric(matrix: sparse.csr_array) -> None:
    difference = abs(matrix - matrix.T)
    if difference.nnz and difference.max() > SYMMETRY_TOLERANCE * abs(matrix).max():
        raise InvalidProblem(f"the matrix is not symmetric: max |A - A^T| is {difference.max():.3g}")
