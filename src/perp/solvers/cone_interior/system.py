"""The linear equations of a problem as the kernels read them: in body space for factored A, else in contact space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels import by_address
from perp.kernels.conic.layout import BODY_LINES, ROW_LINES, SAVED, Blocks, Factor, Iterate, System
from perp.kernels.factors import body_space, supernodal_lu
from perp.linalg.free_systems.body import body_pattern, make_body_plan, movable_parts
from perp.linalg.plan import Plan, with_diagonal
from perp.linalg.sparse_lu import LUArrays
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, Operator
from perp.problems.problem import Problem
from perp.solvers.cone_interior.cones import ConeRows

Integers = NDArray[np.int64]

SPACES = ("auto", "body", "contact")


@dataclass(frozen=True, eq=False)
class ConicSystem:
    in_bodies: bool
    plan: Plan
    blocks: Blocks
    system: System
    factor: Factor
    compliance: Vector
    """C, in the units of the cones; zero in contact space, where A has it."""
    b: Vector
    diagonal: Vector
    """A_ii."""
    roots: Vector
    """1 / sqrt(M_ii), or of A_ii in contact space, in the order of the factor."""
    symmetric: bool

    def new_iterate(self, rows: ConeRows, refinements: int) -> Iterate:
        n, unknowns = rows.unit.size, self.plan.symbolic.n
        size = int(np.diff(self.system.group_columns).max(initial=1))
        return Iterate(
            rows=np.zeros((len(ROW_LINES), n)),
            bodies=np.zeros((len(BODY_LINES), unknowns)),
            target=np.ones(rows.cones.slot.size),
            H=np.zeros(int(np.sum(rows.width**2))),
            local=np.zeros(size * size + size),
            saved=np.zeros((1 if rows.symmetric else SAVED, 2 + 3 * n + unknowns)),
            krylov=np.zeros((max(refinements, 1), 3 * n + 2 * unknowns)),
        )


@dataclass(frozen=True)
class _Matrices:
    """In body space M and J, in contact space A and the identity; in the units of the cones."""

    plan: Plan
    whole: sparse.csr_array
    lower: Vector
    upper: Vector
    pointers: Integers
    columns: Integers
    data: Vector
    compliance: Vector


def make_system(problem: Problem, rows: ConeRows, space: str, ordering: str) -> ConicSystem:
    A, unit = problem.A, rows.unit
    factored = None if space == "contact" else A.factored
    in_bodies = factored is not None
    parts = _rows(A, rows, ordering) if factored is None else _bodies(factored, rows, ordering)
    plan, symbolic = parts.plan, parts.plan.symbolic
    columns_in_order = symbolic.inverse[parts.columns]
    block_pointers = np.zeros(rows.row.size + 1, dtype=np.int64)
    block_columns = np.empty(parts.columns.size, dtype=np.int64)
    mark = np.full(symbolic.n, -1, dtype=np.int64)
    body_space.union_columns(
        parts.pointers, columns_in_order, rows.row, rows.width, block_pointers, block_columns, mark
    )
    group_of, columns = np.empty(rows.row.size, dtype=np.int64), np.empty_like(block_columns)
    group_columns = np.zeros(rows.row.size + 1, dtype=np.int64)
    count = body_space.gather_groups(block_pointers, block_columns, in_bodies, group_of, group_columns, columns)
    group_columns = group_columns[: count + 1].copy()
    sizes = np.diff(group_columns)
    group_places = np.append(0, np.cumsum(sizes**2))
    places = np.empty(int(group_places[-1]), dtype=np.int64)
    # in contact space the numbers of a block stand in the order of its rows, not of the factor
    placed = columns if in_bodies else symbolic.inverse[np.flatnonzero(rows.block_of_row >= 0)]
    body_space.find_group_places(group_columns, placed, *plan.lower, group_places, places)
    start = np.append(0, np.cumsum(rows.width * sizes[group_of]))
    jacobian = np.zeros(int(start[-1]))
    body_space.spread_rows(
        *(parts.pointers, columns_in_order, parts.data, rows.row, rows.width),
        *(group_of, group_columns, columns, start, jacobian),
    )
    group_blocks = np.append(np.flatnonzero(np.diff(group_of, prepend=-1)), rows.row.size)
    order = symbolic.permutation
    permuted = sparse.csr_array(parts.whole[order][:, order])
    system = System(
        group_blocks=group_blocks,
        group_columns=group_columns,
        columns=columns,
        group_places=group_places,
        places=places,
        jacobian=jacobian,
        base=np.concatenate([parts.lower, parts.upper]),
        pointers=permuted.indptr.astype(np.int64),
        indices=permuted.indices.astype(np.int64),
        values=permuted.data.copy(),
        rows=np.array(order),
    )
    matrix = np.append(0, np.cumsum(rows.width**2))[:-1]
    blocks = Blocks(rows.row, rows.width, rows.first_cone, matrix, start[:-1])
    b = problem.b / unit
    if rows.value.any():  # rows that cannot move act on the others
        b = A.slack(rows.value, problem.b, np.empty(problem.n)) / unit
    if not in_bodies:
        b = np.where(rows.block_of_row >= 0, b, -rows.value)  # with their rows of the identity: y = 0, and dx = 0
    own = np.abs(permuted.diagonal())
    symmetric = rows.symmetric and (in_bodies or problem.is_symmetric is True)
    return ConicSystem(
        in_bodies=in_bodies,
        plan=plan,
        blocks=blocks,
        system=system,
        factor=_make_factor(plan, symmetric),
        compliance=parts.compliance,
        b=b,
        diagonal=A.diagonal() / unit**2,
        roots=1.0 / np.sqrt(np.where(own > 0.0, own, 1.0)),
        symmetric=symmetric,
    )


def _bodies(A: FactoredOperator, rows: ConeRows, ordering: str) -> _Matrices:
    J, mass = movable_parts(A)
    if _touch_one_pair(A, rows):
        body = make_body_plan(A, ordering)
        plan, numbers = body.plan, body.mass_numbers
    else:
        plan = Plan.make(body_pattern(sparse.csr_array(_membership(rows).T @ abs(J)), mass), ordering)
        numbers = plan.scatter(mass)
    pointers = J.indptr.astype(np.int64)
    data = J.data / np.repeat(rows.unit, np.diff(pointers))
    compliance = A.compliance / rows.unit**2
    cones = rows.cones
    for k in np.flatnonzero((cones.count > 1) & np.isinf(rows.unit[cones.tail])):
        first, last = cones.tail[k], cones.tail[k] + cones.count[k]  # the kernels read the first for all
        compliance[first] = compliance[first:last].max()
    return _Matrices(plan, mass, numbers, numbers, pointers, J.indices.astype(np.int64), data, compliance)


def _touch_one_pair(A: FactoredOperator, rows: ConeRows) -> bool:
    """Whether the rows of each block touch the same two bodies: then a pattern row by row has all that H couples."""
    if A.pairs is None:
        return False
    pairs, block = A.pairs.bodies.reshape(-1, 2), rows.block_of_row
    inside = block >= 0
    return bool((pairs[inside] == pairs[rows.row][block[inside]]).all())


def _membership(rows: ConeRows) -> sparse.csr_array:
    """A one for each row in the column of its block."""
    block = rows.block_of_row
    inside = np.flatnonzero(block >= 0)
    return sparse.csr_array((np.ones(inside.size), (inside, block[inside])), shape=(block.size, rows.row.size))


def _rows(A: Operator, rows: ConeRows, ordering: str) -> _Matrices:
    """A, with rows and columns of the identity for what is in no block."""
    inside = rows.block_of_row >= 0
    scale = sparse.diags_array(inside / rows.unit)
    fixed = sparse.diags_array(np.where(inside, 0.0, 1.0))
    whole = with_diagonal(sparse.csr_array(scale @ sparse.csr_array(A.to_sparse()) @ scale + fixed))
    whole.sum_duplicates()
    plan = Plan.make(_full_pattern(whole, rows), ordering)
    n = rows.unit.size
    transposed = sparse.csr_array(whole.T)
    own = np.arange(n)
    return _Matrices(
        plan, whole, plan.scatter(whole), plan.scatter(transposed), np.arange(n + 1), own, np.ones(n), np.zeros(n)
    )


def _full_pattern(A: sparse.csr_array, rows: ConeRows) -> sparse.csr_array:
    """Ones where A, its transpose or a block on its diagonal may have a number."""
    ones = sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    member = _membership(rows)
    return sparse.csr_array(ones + ones.T + member @ member.T)


def _make_factor(plan: Plan, symmetric: bool) -> Factor:
    arrays = LUArrays.make(plan)
    if symmetric:
        factor_at = by_address.address_of(supernodal_lu.factor_symmetric, supernodal_lu.FACTOR_SYMMETRIC)
    else:
        factor_at = by_address.address_of(supernodal_lu.factor, supernodal_lu.FACTOR)
    return Factor(
        factor_at,
        by_address.address_of(supernodal_lu.solve, supernodal_lu.SOLVE),
        *plan.structure,
        *plan.updates,
        plan.lower.start,
        plan.target,
        floor=np.full(plan.symbolic.n, 1e-300),
        numbers=np.zeros(2 * plan.lower.row.size),
        L=arrays.L,
        U=arrays.U,
        position=arrays.position,
        spread=arrays.spread,
        product=arrays.product,
        product_upper=arrays.product_u,
        inverse=arrays.inverse,
        work=arrays.work,
        found=np.zeros(2, dtype=np.int64),
    )
