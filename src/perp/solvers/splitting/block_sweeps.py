"""Sweeps that solve one contact after the other exactly: one function a storage binds its arrays to its kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from perp.kernels.storages import body_pairs, planar_pairs
from perp.kernels.sweeps import blocked, blocked_pairs, planar_blocked
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, SparseOperator
from perp.problems.operators.factored import BodyPairs, PlanarPairs
from perp.problems.problem import scale_data
from perp.solvers.splitting.local_blocks import LEAST_SHARE, STRONGEST_COUPLING, prepare_blocks
from perp.solvers.splitting.orders import Index
from perp.solvers.splitting.sweeps import fits_pairs, sweep_factored

LEAST_FILL = 0.5
"""Of blocks of 3 x 3: where fewer of their numbers are nonzeros, plain compressed rows read less."""

SAME = 1e-13
"""By how much, of their size, the rows of a contact may differ from those of a contact at a point."""

WIDEST_SCALE = 2.0**200
"""Contacts whose `row_scales` lie beyond it or its inverse have velocities whose squares overflow or vanish."""


@dataclass(frozen=True)
class BlockSweeper:
    """A compiled sweep and the arrays that it reads; x is changed in place."""

    x: Vector
    kernel: Callable[..., None]
    contact: tuple[Any, ...]
    """The law of the contacts, and what is known of each of them."""
    storage: tuple[Any, ...]
    """What the kernel knows of A."""
    vectors: tuple[Vector, ...]
    """step, b, lower, upper, x and its velocity; where none is kept, x stands in its place."""
    refresh: Callable[[], None] | None = None
    """Computes the velocity anew from x, where one is kept."""

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        """`count` passes over the contacts and the other rows, in the order given."""
        self.kernel(count, (contacts, rows, rows_first), self.contact, self.storage, self.vectors)


def make_block_sweeper(problem: ContactProblem, relaxation: float, x: Vector) -> BlockSweeper:
    """The sweeper for the form of A. It may take another array for x: go on with `sweeper.x`."""
    problem = _within_range(problem)
    width, law, _ = problem.law
    vectors = (_row_steps(problem, relaxation), problem.b, problem.lower, problem.upper, x)
    A = problem.A.factored
    if A is not None and A.planar is not None and fits_pairs(problem, A.planar, 2):
        prepare = _prepare_planar_blocks if problem.model in ("box", "cone") else prepare_blocks
        cells, local = prepare(problem, relaxation)
        return _sweep_planar_pairs(A, A.planar, (law, cells, problem.friction, local), vectors)
    cells, local = prepare_blocks(problem, relaxation)
    plain = (law, cells, width, problem.friction, local)
    if A is not None:
        if A.pairs is not None and fits_pairs(problem, A.pairs, 3):
            return _sweep_body_pairs(A, A.pairs, problem, (law, cells, problem.friction, local), vectors)
        return _sweep_factored(A, plain, vectors)

    if problem.A.is_dense:
        return BlockSweeper(x, blocked.sweep_dense, plain, (problem.A.array().reshape(-1),), (*vectors, x))
    rows = problem.A.compressed()
    compressed = (rows.pointers, rows.indices, rows.values)
    blocks = _find_blocks(rows, problem)
    if blocks is None:
        return BlockSweeper(x, blocked.sweep_compressed, plain, compressed, (*vectors, x))
    padded = np.zeros(3 * -(-problem.n // 3))
    padded[: problem.n] = x
    swept = (*vectors[:-1], padded, padded)
    return BlockSweeper(padded[: problem.n], blocked.sweep_blocks, (plain, blocks), compressed, swept)


def _row_steps(problem: ContactProblem, relaxation: float) -> Vector:
    """relaxation / A_ii for the rows after the contacts, which need none; what is not positive is fixed."""
    assert problem.diagonal is not None
    step = np.zeros(problem.n)
    rows = slice(problem.contact_rows, None)
    np.divide(relaxation, problem.diagonal[rows], out=step[rows], where=problem.diagonal[rows] > 0.0)
    return step


def _within_range(problem: ContactProblem) -> ContactProblem:
    """The problem, or one with the same solutions whose rows are scaled where no square of a velocity has a number."""
    scales = problem.row_scales
    if np.all((scales < WIDEST_SCALE) & (scales > 1.0 / WIDEST_SCALE)):
        return problem
    scaled = scale_data(problem)
    if scaled is None:
        return problem
    return ContactProblem(
        *scaled, problem.friction, problem.model, dimension=problem.dimension, lower=problem.lower, upper=problem.upper
    )


def _find_blocks(A: SparseOperator, problem: ContactProblem) -> tuple[Any, ...] | None:
    """The rows of the contacts in blocks of 3 x 3: pointers, columns and values; None where that wastes memory."""
    if problem.dimension != 3:
        return None
    rows = A.to_sparse()[: problem.contact_rows]
    wide = -(-problem.n // 3) * 3
    blocks = sparse.bsr_array(
        sparse.csr_array((rows.data, rows.indices, rows.indptr), (problem.contact_rows, wide)), blocksize=(3, 3)
    )
    if rows.nnz < LEAST_FILL * blocks.data.size:
        return None
    return (
        blocks.indptr.astype(np.uint32),
        blocks.indices.astype(np.uint32),
        np.ascontiguousarray(blocks.data, dtype=np.float64).reshape(-1),
    )


def _sweep_factored(A: FactoredOperator, contact: tuple[Any, ...], vectors: tuple[Vector, ...]) -> BlockSweeper:
    """J and W = J M^-1 in compressed rows, with the velocity v = W^T x kept up to date, as PGS has them."""
    rows = sweep_factored(A, vectors, None)
    return BlockSweeper(rows.x, blocked.sweep_factored, contact, rows.storage, rows.vectors, rows.refresh)


def _sweep_body_pairs(
    A: FactoredOperator,
    pairs: BodyPairs,
    problem: ContactProblem,
    contact: tuple[Any, ...],
    vectors: tuple[Vector, ...],
) -> BlockSweeper:
    """Two rigid bodies a row. Contacts apply M^-1 on the fly; other rows read a scaled copy of their part of J.

    Contacts at points, which is what rigid bodies have, are recognised and swept with less to read.
    """
    x, velocity = vectors[-1], np.empty(6 * (pairs.body_count + 1))
    refresh = partial(body_pairs.velocity, pairs.bodies, pairs.jacobian, pairs.inverse_mass, x, velocity)
    refresh()
    scaled, _ = pairs.scaled(first=problem.contact_rows)
    storage = (pairs.bodies, pairs.jacobian, pairs.inverse_mass, scaled, A.compliance)
    points, kernel = np.empty(15 * problem.contacts), blocked_pairs.sweep_pairs
    if blocked_pairs.find_points(pairs.bodies, pairs.jacobian, np.uint64(pairs.body_count), SAME, points):
        _, cells, _, local = contact
        sticking = np.empty(9 * problem.contacts)
        blocked_pairs.prepare_sticking(problem.model == "box", cells, local, sticking)
        contact, kernel = (*contact, sticking, points), blocked_pairs.sweep_points
    return BlockSweeper(x, kernel, contact, storage, (*vectors, velocity), refresh)


def _sweep_planar_pairs(
    A: FactoredOperator, planar: PlanarPairs, contact: tuple[Any, ...], vectors: tuple[Vector, ...]
) -> BlockSweeper:
    """Two bodies in a plane a row; M^-1 is applied on the fly."""
    x, velocity = vectors[-1], np.empty(3 * (planar.body_count + 1))
    parts = (planar.bodies, planar.jacobian, planar.inverse_mass)
    refresh = partial(planar_pairs.velocity, *parts, x, velocity)
    refresh()
    storage = (*parts, A.compliance)
    return BlockSweeper(x, planar_blocked.sweep_pairs, contact, storage, (*vectors, velocity), refresh)


def _prepare_planar_blocks(problem: ContactProblem, relaxation: float) -> tuple[np.uint64, Vector]:
    """The four numbers that `perp.kernels.sweeps.planar_blocked` keeps of a contact with one tangent."""
    local = np.empty(4 * problem.contacts)
    blocks = problem.contact_blocks.reshape(-1)
    planar_blocked.prepare(blocks, float(relaxation), LEAST_SHARE, STRONGEST_COUPLING, local)
    return np.uint64(4), local
