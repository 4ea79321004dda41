"""Linear systems A_FF dx_F = r_F for a set F of free rows that changes from solve to solve (THESIS eq. 2.40).

Four ways, and one function that chooses by an operation count:

* **dense**: gather A_FF, factor it (Cholesky, or LU where A is not symmetric);
* **sparse**: the pattern of all of A is ordered and analysed once; rows that are not free stand in the matrix as rows
  of the identity, so the pattern never changes, and only what lies above a changed row in the elimination tree is
  factored again (LU through SuperLU, from scratch, where A is not symmetric);
* **body**: for A = J M^-1 J^T + C, by the Woodbury formula with K = M + J_F^T C_F^-1 J_F:

      A_FF^-1 r = C_F^-1 (r - J_F K^-1 J_F^T C_F^-1 r),

  which has as many rows as there are velocities, however many contacts there are. A row without compliance gets a small
  one, and what that changes is repaired by iterative refinement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import suggest
from perp.linalg.cholesky import Border, DenseCholesky, NotFinite, SparseCholesky, dependence, read_only
from perp.linalg.orderings import order
from perp.linalg.plan import Plan
from perp.linalg.symbolic import predict_flops
from perp.problems.inputs import Vector
from perp.problems.operators import BodyMasses, DenseOperator, FactoredOperator, Operator
from perp.problems.problem import Problem

Mask = NDArray[np.bool_]
Kept = TypeVar("Kept")

SPACES = ("auto", "dense", "sparse", "body")

DENSE_ROWS = 150
"""Up to so many rows the dense factor wins whatever the pattern (measured: 150 rows with 20 % nonzeros)."""

DENSE_SHARE = 0.25
"""With more nonzeros than this share, the factor would be full anyway."""

BORDER_COST = 2.0
"""How much more an operation of a border costs than one of a new factor (it is made of smaller products)."""

LEAST_COMPLIANCE = 1e-9
"""In body space every row needs a compliance; those below this share of A_ii are lifted to it.

An error of that share is made, and rounding adds 1e-16 over it; both are taken back by refinement.
"""


class FreeSystem(ABC):
    """`factor(free, shift)`, then `solve(r)`, which reads r on the free rows and returns dx, zero on the others.

    `shift` is added to the diagonal of A (zero, or a regularisation).
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self.factorisations = 0
        self.dependent = 0
        """Free rows that rest because they depend on other ones."""
        self.negative = 0
        """Those of them whose pivot was even negative: A is not positive semi-definite."""
        self.added: Vector = np.empty(0)
        """What the last factor has on its diagonal beside A."""

    @abstractmethod
    def factor(self, free: Mask, shift: Vector) -> None: ...

    @abstractmethod
    def solve(self, r: Vector) -> Vector: ...

    def slack(self, problem: Problem, x: Vector, out: Vector) -> Vector:
        """out = A x + b, in the way that is quickest here."""
        return problem.A.slack(x, problem.b, out)

    can_keep_apart: ClassVar[bool] = False
    """Whether there are rows that are not coupled with each other, and `keep_apart` finds them."""

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        """Of these rows, in this order, those that are not coupled (A_ij = 0) with one that was kept before."""
        raise NotImplementedError(f"all rows of a {self.name} system count as coupled")

    def counters(self) -> dict[str, float]:
        """What was done so far; names are the same for all kinds where they mean the same."""
        return {"factorisations": self.factorisations}


class DenseSymmetric(FreeSystem):
    """Cholesky; where few rows changed since the last factor, a border of those rows is added to it instead.

    A row that left is held at zero by one more equation, x_i = 0, whose multiplier is one more unknown; so leaving and
    entering rows both are a new row and column (the Schur-complement method of Gill, Murray, Saunders & Wright 1990).
    """

    name = "dense"

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
        self.borders = 0

    def factor(self, free: Mask, shift: Vector) -> None:
        self._free = np.flatnonzero(free)
        if self._extend(free, shift):
            self.borders += 1
            return
        self._base, self._base_shift, self._border = self._free, shift.copy(), None
        self._cholesky.factor(self._free, shift[self._free])
        self.dependent, self.negative = self._cholesky.dependent, self._cholesky.negative
        self.added = shift.copy()
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
        from perp.kernels import dense

        dense.slack_by_rows(self._A.reshape(-1), problem.b, x, self._nonzero, out)
        return out

    def counters(self) -> dict[str, float]:
        return super().counters() | {"borders": self.borders, "flops": self._cholesky.flops}


class DenseGeneral(FreeSystem):
    """LU with row exchanges."""

    name = "dense"

    def __init__(self, A: NDArray[np.float64]) -> None:
        from perp.kernels.blas import product_address
        from perp.kernels.lu import BLOCK

        super().__init__()
        self._A = read_only(A)
        n = self._A.shape[0]
        self._address = product_address()
        self._factor, self._exchange = np.empty(n * n), np.empty(n, dtype=np.int64)
        self._inverse, self._work = np.empty(BLOCK * BLOCK), np.empty(n * BLOCK)
        self._row_size = np.abs(self._A).max(axis=1, initial=0.0)
        self._free = np.empty(0, dtype=np.intp)
        self._flops = 0.0

    def factor(self, free: Mask, shift: Vector) -> None:
        from perp.kernels import lu

        self._free = np.flatnonzero(free)
        size = self._free.size
        lu.gather_square(self._A, self._free.astype(np.int64), size, self._factor)
        self._factor[: size * size : size + 1] += shift[self._free]
        floor = dependence(size) * self._row_size[self._free]
        small = lu.factor(self._address, self._factor, size, floor, self._exchange, self._inverse, self._work)
        if small < 0:
            raise NotFinite("the matrix, or a number on the way to its factor, is not finite")
        self.dependent = int(small)
        self.added = shift.copy()
        self.factorisations += 1
        self._flops += 2.0 * size**3 / 3.0

    def solve(self, r: Vector) -> Vector:
        from perp.kernels import lu

        part = r[self._free]
        lu.solve(self._factor, part.size, self._exchange, part)
        dx = np.zeros(r.size)
        dx[self._free] = part
        return dx

    def counters(self) -> dict[str, float]:
        return super().counters() | {"flops": self._flops}


class SparseSymmetric(FreeSystem):
    name = "sparse"
    can_keep_apart = True

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
        self.added = shift.copy()
        self.factorisations += 1

    def solve(self, r: Vector) -> Vector:
        return self._cholesky.solve(np.where(self._free, r, 0.0))

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        from perp.kernels import index_sets

        n = self._free.size
        mark, keep = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        pointers, indices = (part.astype(np.int64) for part in (self._matrix.indptr, self._matrix.indices))
        index_sets.keep_apart_by_neighbours(rows, pointers, indices, mark, keep)
        return keep

    def counters(self) -> dict[str, float]:
        return self._cholesky.report() | super().counters()


class SparseGeneral(FreeSystem):
    """SuperLU on A_FF, from scratch each time."""

    name = "sparse"

    def __init__(self, A: sparse.csr_array) -> None:
        super().__init__()
        self._A = sparse.csc_array(A)
        self._free = np.empty(0, dtype=np.intp)
        self._nonzeros = 0

    def factor(self, free: Mask, shift: Vector) -> None:
        from scipy.sparse.linalg import splu

        self._free = np.flatnonzero(free)
        self.added = shift.copy()
        self.factorisations += 1
        self.dependent = 0
        if self._free.size == 0:
            return
        matrix = self._A[self._free][:, self._free] + sparse.diags_array(shift[self._free])
        try:
            self._lu = splu(sparse.csc_array(matrix))
        except RuntimeError:  # 'Factor is exactly singular': SuperLU does not say where
            self.dependent = 1
            return
        self._nonzeros = int(self._lu.nnz)

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        if self._free.size and not self.dependent:
            dx[self._free] = self._lu.solve(r[self._free])
        return dx

    def counters(self) -> dict[str, float]:
        return super().counters() | {"factor_nonzeros": self._nonzeros}


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

        J, mass = _movable_parts(A)
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


def _movable_parts(A: FactoredOperator) -> tuple[sparse.csr_array, sparse.csr_array]:
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
    return _with_diagonal(sparse.csr_array(abs(mass) + ones.T @ ones))


def choose_system(problem: Problem, space: str = "auto", ordering: str = "amd", *, general: bool = False) -> FreeSystem:
    """The way to solve for the free rows of this problem; `space` other than "auto" forces one of `SPACES`.

    `general` asks for row exchanges also where A is symmetric: it may be indefinite.
    """
    if space not in SPACES:
        raise ValueError(f"space is {space!r}{suggest(str(space), SPACES)}")
    A = problem.A
    symmetric = bool(problem.is_symmetric) and not general
    if space == "body" and not isinstance(A, FactoredOperator):
        raise ValueError(f"space='body' needs a factored A, and this one is {A.form}")
    matrix = None
    if space == "auto":
        space, matrix = _cheapest(problem, ordering)
    if space == "body":
        assert isinstance(A, FactoredOperator)
        assert problem.diagonal is not None
        return BodySpace(A, problem.diagonal, _kept(A, f"body {ordering}", lambda: BodyPlan.make(A, ordering)))
    if space == "dense":
        dense = _as_dense(problem.A) if matrix is None else matrix.toarray()
        return DenseSymmetric(dense) if symmetric else DenseGeneral(dense)
    if not symmetric:
        return SparseGeneral(A.to_sparse() if matrix is None else matrix)

    def make_plan() -> Plan:
        return Plan.make(_with_diagonal(A.to_sparse() if matrix is None else matrix), ordering)

    return SparseSymmetric(_kept(A, f"sparse {ordering}", make_plan))


def _cheapest(problem: Problem, ordering: str) -> tuple[str, sparse.csr_array | None]:
    """The space with the fewest operations a factorisation, and A as a sparse array if it had to be formed."""
    A, n = problem.A, problem.n
    if isinstance(A, DenseOperator) or n <= DENSE_ROWS:
        return "dense", None
    if isinstance(A, FactoredOperator):
        velocities = A.mass.dofs
        if velocities <= n // 2:  # K is so much smaller that A need not be looked at
            return "body", None
        matrix = A.to_sparse()
        pattern = body_pattern(*_movable_parts(A))
        body, rows = (predict_flops(one, order(one, ordering)) for one in (pattern, matrix))
        return ("body", None) if body < rows else ("sparse", matrix)
    matrix = A.to_sparse()
    return ("dense" if matrix.nnz > DENSE_SHARE * n * n else "sparse"), matrix


_PLANS: WeakKeyDictionary[Operator, dict[str, Any]] = WeakKeyDictionary()


def _kept(A: Operator, name: str, make: Callable[[], Kept]) -> Kept:
    """What `make` makes, kept as long as the operator lives: operators and plans are never changed."""
    plans = _PLANS.setdefault(A, {})
    if name not in plans:
        plans[name] = make()
    plan: Kept = plans[name]
    return plan


def _as_dense(A: Operator) -> NDArray[np.float64]:
    """All of A, without a copy where there is a dense one already."""
    return A.matrix if isinstance(A, DenseOperator) else A.to_dense()


def _with_diagonal(A: Any) -> sparse.csr_array:
    """A with every diagonal entry stored, be it zero."""
    matrix = sparse.csr_array(A, dtype=np.float64)
    n = matrix.shape[0]
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    if np.count_nonzero(row == matrix.indices) == n:
        return matrix
    entries = matrix.tocoo()
    data = np.concatenate([entries.data, np.zeros(n)])
    own = np.arange(n)
    places = (np.concatenate([entries.row, own]), np.concatenate([entries.col, own]))
    return sparse.csr_array(sparse.coo_array((data, places), shape=matrix.shape))
