"""Free rows of A = J M^-1 J^T + C in body space, where there are as many unknowns as velocities.

What the numbers of K = M + J_F^T C_F^-1 J_F need besides C and F is made once for an operator, as a plan. There are two
ways to the same K, as there are two layouts of J: rows that touch two rigid bodies make blocks of 12 x 12, one a pair
of bodies (`PairPlan`); any other J is taken entry by entry (`RowPlan`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels.factors import body_space
from perp.kernels.measures import index_sets
from perp.linalg.cholesky import SparseCholesky
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.orderings import order as order_rows
from perp.linalg.plan import Plan, with_diagonal
from perp.linalg.symbolic import Graph
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import BodyMasses, FactoredOperator, PlanarMasses
from perp.problems.operators.factored import BodyPairs

LEAST_COMPLIANCE = 1e-9
"""In body space every row needs a compliance; those below this share of A_ii are lifted to it.

An error of that share is made, and rounding adds 1e-16 over it; both are taken back by refinement.
"""

Integers = NDArray[np.int64]


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
        self.added: Vector = np.empty(self._weight.size)
        body_space.weigh(free, self._compliance, shift, self._least, self._weight, self.added)
        self._cholesky.factor_lower(self._plan.assemble(self._weight))
        self.factorisations += 1

    def solve(self, r: Vector) -> Vector:
        velocity = self._cholesky.solve(self._plan.push(self._weight, r))
        return self._plan.pull(self._weight, r, velocity)

    def keep_apart(self, rows: NDArray[np.intp]) -> Mask:
        mark, keep = np.zeros(self._plan.parts, dtype=np.bool_), np.zeros(self._weight.size, dtype=np.bool_)
        index_sets.keep_apart_by_columns(rows, *self._plan.touched, mark, keep)
        return keep

    def counters(self) -> dict[str, float]:
        return self._cholesky.report() | super().counters()


@dataclass(frozen=True, eq=False, repr=False)
class BodyPlan(ABC):
    plan: Plan
    mass_numbers: Vector
    """M in the lower triangle of K."""

    @abstractmethod
    def assemble(self, weight: Vector) -> Vector:
        """The numbers of K = M + J^T diag(weight) J."""

    @abstractmethod
    def push(self, weight: Vector, r: Vector) -> Vector:
        """J^T (weight r), one number a velocity."""

    @abstractmethod
    def pull(self, weight: Vector, r: Vector, v: Vector) -> Vector:
        """weight (r - J v), one number a row."""

    @property
    @abstractmethod
    def touched(self) -> tuple[Integers, Integers]:
        """What each row touches (velocities or bodies that move): pointers and numbers, as in compressed rows."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """How many such numbers there are."""


def make_body_plan(A: FactoredOperator, ordering: str) -> BodyPlan:
    if A.pairs is not None:
        return PairPlan.make(A, A.pairs, ordering)
    return RowPlan.make(A, ordering)


@dataclass(frozen=True, eq=False, repr=False)
class PairPlan(BodyPlan):
    pairs: BodyPairs
    bodies: NDArray[np.uint32]
    """As in `pairs`, with the last, immovable body in place of every one that cannot move."""
    start: Integers
    """The rows of pair p are order[start[p]:start[p + 1]]."""
    order: Integers
    place: Integers

    @staticmethod
    def make(A: FactoredOperator, pairs: BodyPairs, ordering: str) -> PairPlan:
        mass = A.mass
        assert isinstance(mass, BodyMasses)
        ground = pairs.body_count
        bodies = pairs.bodies.copy()
        if not np.isfinite(mass.mass).all():
            bodies = np.append(np.where(np.isfinite(mass.mass), np.arange(ground), ground), ground)[bodies]
            bodies = bodies.astype(np.uint32)
        key = bodies[::2].astype(np.int64) * (ground + 1) + bodies[1::2]
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        begins = np.flatnonzero(np.diff(ordered, prepend=-1))
        start = np.append(begins, key.size)
        distinct = np.stack(np.divmod(ordered[begins], ground + 1), axis=1)
        plan = _plan_blocks(distinct, ground, ordering)

        def find_places(wanted: Integers) -> Integers:
            place = np.empty(body_space.ENTRIES * len(wanted), dtype=np.int64)
            body_space.find_places(wanted.reshape(-1), plan.symbolic.inverse, *plan.lower, place)
            return place

        alone = np.stack([np.arange(ground), np.full(ground, ground)], axis=1)
        own = find_places(alone).reshape(ground, body_space.ENTRIES)
        v, u = np.triu_indices(12)  # the order of the places
        inside = u < 6
        mass_numbers = np.zeros(plan.lower.row.size)
        mass_numbers[own[:, inside]] = _finite(mass).blocks[:, u[inside], v[inside]]
        return PairPlan(plan, mass_numbers, pairs, freeze(bodies), start, order, find_places(distinct))

    def assemble(self, weight: Vector) -> Vector:
        numbers = np.append(self.mass_numbers, 0.0)
        local = np.empty(144)
        body_space.assemble(self.start, self.order, self.pairs.jacobian, weight, self.place, local, numbers)
        return numbers[:-1]

    def push(self, weight: Vector, r: Vector) -> Vector:
        f = np.empty(6 * (self.pairs.body_count + 1))
        body_space.push(self.bodies, self.pairs.jacobian, weight, r, f)
        return f[:-6]

    def pull(self, weight: Vector, r: Vector, v: Vector) -> Vector:
        dx = np.empty(r.size)
        with_ground = np.concatenate([v, np.zeros(6)])
        body_space.pull(self.bodies, self.pairs.jacobian, weight, r, with_ground, dx)
        return dx

    @cached_property
    def touched(self) -> tuple[Integers, Integers]:
        moves = self.bodies < self.pairs.body_count
        pointers = np.append(0, np.cumsum(moves.reshape(-1, 2).sum(axis=1)))
        return pointers, self.bodies[moves].astype(np.int64)

    @property
    def parts(self) -> int:
        return self.pairs.body_count


@dataclass(frozen=True, eq=False, repr=False)
class RowPlan(BodyPlan):
    J: sparse.csr_array
    J_transposed: sparse.csr_array
    pointers: Integers
    columns: Integers
    place: Integers
    """Where each product J_ip J_iq goes in the lower triangle of K."""

    @staticmethod
    def make(A: FactoredOperator, ordering: str) -> RowPlan:
        J, mass = movable_parts(A)
        plan = Plan.make(body_pattern(J, mass), ordering)
        pointers, indices = J.indptr.astype(np.int64), J.indices.astype(np.int64)
        length = np.diff(pointers)
        place = np.empty(int(np.sum(length * (length + 1) // 2)), dtype=np.int64)
        body_space.find_pairs(pointers, indices, plan.symbolic.inverse, *plan.lower, place)
        return RowPlan(plan, plan.scatter(mass), J, J.T.tocsr(), pointers, indices, place)

    def assemble(self, weight: Vector) -> Vector:
        numbers = self.mass_numbers.copy()
        body_space.add_rows(self.pointers, self.J.data, weight, self.place, numbers)
        return numbers

    def push(self, weight: Vector, r: Vector) -> Vector:
        return np.asarray(self.J_transposed @ (weight * r))

    def pull(self, weight: Vector, r: Vector, v: Vector) -> Vector:
        return np.asarray(weight * (r - self.J @ v))

    @property
    def touched(self) -> tuple[Integers, Integers]:
        return self.pointers, self.columns

    @property
    def parts(self) -> int:
        return int(self.J.shape[1])


def movable_parts(A: FactoredOperator) -> tuple[sparse.csr_array, sparse.csr_array]:
    """J, sorted, and M; a body that cannot move has zeros in J and the identity in M, so that its velocity is zero."""
    J, mass = A.J, A.mass
    if isinstance(mass, BodyMasses | PlanarMasses) and not np.isfinite(mass.mass).all():
        moves = np.isfinite(mass.mass)
        J = sparse.csr_array(J @ sparse.diags_array(np.repeat(moves, mass.dofs // moves.size).astype(np.float64)))
        J.eliminate_zeros()
        mass = _finite(mass) if isinstance(mass, BodyMasses) else _finite_planar(mass)
    if not J.has_sorted_indices:
        J = J.sorted_indices()
    return J, sparse.csr_array(mass.to_sparse())


def body_pattern(J: sparse.csr_array, mass: sparse.csr_array) -> sparse.csr_array:
    """The pattern of K = M + J^T J, with ones for numbers."""
    ones = sparse.csr_array((np.ones(J.nnz), J.indices, J.indptr), shape=J.shape)
    return with_diagonal(sparse.csr_array(abs(mass) + ones.T @ ones))


def _finite(mass: BodyMasses) -> BodyMasses:
    """The same masses with 1 for those of bodies that cannot move."""
    moves = np.isfinite(mass.mass)
    if moves.all():
        return mass
    return BodyMasses(np.where(moves, mass.mass, 1.0), np.where(moves[:, None, None], mass.inertia, np.eye(3)))


def _finite_planar(mass: PlanarMasses) -> PlanarMasses:
    return PlanarMasses(np.where(np.isfinite(mass.mass), mass.mass, 1.0), mass.inertia)


def _plan_blocks(pairs: Integers, bodies: int, ordering: str) -> Plan:
    """The plan of a matrix with full 6 x 6 blocks on the diagonal and for every pair of bodies that both move.

    Bodies are ordered instead of their velocities, which have the same neighbours.
    """
    both = pairs[(pairs < bodies).all(axis=1)]
    own = np.arange(bodies)
    row, column = np.concatenate([own, both[:, 0], both[:, 1]]), np.concatenate([own, both[:, 1], both[:, 0]])
    blocks = sparse.csr_array((np.ones(row.size), (row, column)), shape=(bodies, bodies))
    permutation = (6 * order_rows(blocks, ordering)[:, None] + np.arange(6)).reshape(-1)
    length = np.repeat(6 * np.diff(blocks.indptr), 6)
    pointers = np.append(0, np.cumsum(length))
    spread = (6 * blocks.indices[:, None] + np.arange(6)).reshape(-1)  # one row of each block, body after body
    begin = np.repeat(6 * blocks.indptr[:-1].astype(np.int64), 6)
    indices = spread[np.arange(pointers[-1]) + np.repeat(begin - pointers[:-1], length)].astype(np.int64)
    matrix = sparse.csr_array((np.ones(indices.size), indices, pointers), shape=(6 * bodies, 6 * bodies))
    others = indices != np.repeat(np.arange(6 * bodies), length)
    return Plan.follow(matrix, Graph(pointers - np.arange(6 * bodies + 1), indices[others]), permutation)
