"""Sweeps over whatever form A has: one function a storage binds its arrays to its compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.storages import body_pairs, csr, dense, factored, planar_pairs, runs
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, SparseOperator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.operators.factored import BodyPairs, PlanarPairs
from perp.problems.operators.sparse import unsigned_parts
from perp.problems.problem import Problem
from perp.solvers.splitting.orders import Index


@dataclass(frozen=True)
class Sweeper:
    """Kernels of one storage and the arrays that they read; x is changed in place."""

    kernels: ModuleType
    storage: tuple[Any, ...]
    """What the kernels know of A."""
    vectors: tuple[Vector, ...]
    """step, b, lower, upper, x and its velocity; where none is kept, x stands in its place."""
    contact: tuple[Any, ...] | None
    """For contact problems: the shape of a contact, where it matters, and the coefficients of friction."""
    refresh: Callable[[], None] | None = None
    """Computes the velocity anew from x, where one is kept: after 1e12 has come and gone, rounding has spoilt it."""

    @property
    def x(self) -> Vector:
        """What is swept."""
        return self.vectors[4]

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        """`count` passes over the contacts and the other rows, in the order given."""
        if self.contact is None:
            self.kernels.sweep_rows(count, rows, self.storage, self.vectors)
        else:
            order = (contacts, rows, rows_first)
            self.kernels.sweep_contacts(count, order, self.contact, self.storage, self.vectors)


def make_sweeper(problem: Problem, relaxation: float, x: Vector) -> Sweeper:
    """The sweeper for the form of A: row i moves by -relaxation y_i / A_ii and is clipped (NOTES eq. 59)."""
    contact, contacts = None, problem.frictional
    if contacts is not None:
        contact = (np.uint64(contacts.dimension), contacts.has_discs, contacts.friction)
    vectors = (steps(problem, relaxation), problem.b, problem.lower, problem.upper, x)
    A = problem.A
    if A.is_dense:
        return Sweeper(dense, (A.array().reshape(-1),), (*vectors, x), contact)
    if (factored := A.factored) is not None:
        if factored.pairs is not None and fits_pairs(problem, factored.pairs, 3):
            return _sweep_body_pairs(problem, factored, factored.pairs, vectors)
        if factored.planar is not None and fits_pairs(problem, factored.planar, 2):
            return _sweep_planar_pairs(problem, factored, factored.planar, vectors)
        return sweep_factored(factored, vectors, contact)
    return _sweep_compressed_rows(A.compressed(), vectors, contact)


def steps(problem: Problem, relaxation: float) -> Vector:
    """relaxation / A_ii, and for the two tangents of a disc relaxation over the larger eigenvalue of their block.

    Where A cannot show that block, the sum of its diagonal stands in: it is no smaller for a semidefinite A.
    """
    assert problem.diagonal is not None
    stiffness = problem.diagonal
    contacts = problem.frictional
    if contacts is not None and contacts.has_discs:
        stiffness = stiffness.copy()
        p, q = contacts.every(1), contacts.every(2)
        if TO_SPARSE in problem.A.ability_set:
            stiffness[p] = stiffness[q] = _larger_eigenvalues(contacts.contact_blocks[:, 1:, 1:])
        else:
            stiffness[p] = stiffness[q] = stiffness[p] + stiffness[q]
    positive = stiffness > 0.0
    if positive.all():
        return relaxation / stiffness
    return np.divide(relaxation, stiffness, out=np.zeros(problem.n), where=positive)  # what is not positive is fixed


def _larger_eigenvalues(blocks: NDArray[np.float64]) -> Vector:
    """Of the symmetric part of each 2 x 2 block: mean of the diagonal + |(half its difference, coupling)|."""
    first, second = 0.5 * blocks[:, 0, 0], 0.5 * blocks[:, 1, 1]
    coupling = 0.5 * blocks[:, 0, 1] + 0.5 * blocks[:, 1, 0]
    larger: Vector = first + second + np.hypot(first - second, coupling)
    return larger


def _sweep_compressed_rows(A: SparseOperator, vectors: tuple[Vector, ...], contact: tuple[Any, ...] | None) -> Sweeper:
    if A.runs is not None:
        return Sweeper(runs, (*A.runs, A.values), (*vectors, vectors[-1]), contact)

    return Sweeper(csr, (A.pointers, A.indices, A.values), (*vectors, vectors[-1]), contact)


def sweep_factored(A: FactoredOperator, vectors: tuple[Vector, ...], contact: tuple[Any, ...] | None) -> Sweeper:
    """J and W = J M^-1 in compressed rows, with the velocity v = W^T x kept up to date."""
    J, W = unsigned_parts(A.J), unsigned_parts(A.scaled_rows)
    velocity = np.empty(A.mass.dofs)
    refresh = partial(factored.velocity, *W, vectors[-1], velocity)
    refresh()
    return Sweeper(factored, (*J, *W, A.compliance), (*vectors, velocity), contact, refresh)


def _sweep_body_pairs(problem: Problem, A: FactoredOperator, pairs: BodyPairs, vectors: tuple[Vector, ...]) -> Sweeper:
    """Two rigid bodies a row. Contacts apply M^-1 on the fly; other rows read a scaled copy of their part of J."""
    velocity = np.empty(6 * (pairs.body_count + 1))
    refresh = partial(body_pairs.velocity, pairs.bodies, pairs.jacobian, pairs.inverse_mass, vectors[-1], velocity)
    refresh()
    contact, contacts = None, problem.frictional
    if contacts is not None:
        blocks = contacts.contact_blocks
        coupling = np.stack([blocks[:, 0, 1], blocks[:, 0, 2], blocks[:, 1, 2]], axis=1).reshape(-1)
        contact = (contacts.has_discs, contacts.friction, coupling)
    scaled = pairs.scaled(first=problem.contact_rows)[0]
    storage = (pairs.bodies, pairs.jacobian, pairs.inverse_mass, scaled, A.compliance)
    return Sweeper(body_pairs, storage, (*vectors, velocity), contact, refresh)


def _sweep_planar_pairs(
    problem: Problem, A: FactoredOperator, planar: PlanarPairs, vectors: tuple[Vector, ...]
) -> Sweeper:
    """Two bodies in a plane a row; M^-1 is applied on the fly."""
    velocity = np.empty(3 * (planar.body_count + 1))
    parts = (planar.bodies, planar.jacobian, planar.inverse_mass)
    refresh = partial(planar_pairs.velocity, *parts, vectors[-1], velocity)
    refresh()
    contact, contacts = None, problem.frictional
    if contacts is not None:
        contact = (contacts.friction, contacts.contact_blocks[:, 0, 1].copy())
    return Sweeper(planar_pairs, (*parts, A.compliance), (*vectors, velocity), contact, refresh)


def fits_pairs(problem: Problem, pairs: BodyPairs | PlanarPairs, size: int) -> bool:
    """The kernels assume `size` rows a contact, all on one pair of bodies; plain rows are always welcome."""
    contacts = problem.frictional
    return contacts is None or (contacts.dimension == size and contacts.has_pairs_of_bodies)
