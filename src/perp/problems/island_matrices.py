"""Which rows of A hang together, for every form of A, and A cut into the parts that do not.

Rows of A = J M^-1 J^T + C are coupled through velocities: two rows that act on one body, or on bodies that another row
joins. A body that cannot move hands nothing on, as its M^-1 is zero. Rows of an explicit A are coupled where A has an
entry, on either side of the diagonal.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from perp.problems.inputs import Vector, freeze
from perp.problems.operators import DenseOperator, DiagonalMass, FactoredOperator, Operator, SparseOperator
from perp.problems.operators.factored import BodyPairs, PlanarPairs
from perp.problems.operators.masses import BodyMasses, Mass, PlanarMasses
from perp.problems.operators.sparse import unsigned_parts

Numbers = NDArray[np.intp]

NOWHERE = -1
"""The part of a label that no row has."""


@dataclass(frozen=True)
class Cut:
    """Where A is cut: rows sorted by part, in their old order within each."""

    part_of_label: Numbers
    """Which part the rows (and velocities) with a label belong to, or NOWHERE."""
    part_of_row: Numbers
    rows: Numbers
    """All rows of part 0, then all of part 1, ..."""
    starts: list[int]
    """Where in `rows` each part begins, and the number of rows."""

    @staticmethod
    def make(part_of_label: Numbers, labels: Numbers, parts: int) -> Cut:
        part_of_row = part_of_label[labels]
        return Cut(part_of_label, part_of_row, np.argsort(part_of_row, kind="stable"), starts_of(part_of_row, parts))

    @property
    def parts(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def slices(self) -> list[slice]:
        """Where in `rows` each part lies."""
        return [slice(first, last) for first, last in itertools.pairwise(self.starts)]


class Couplings(ABC):
    """A seen as rows that hang together; `labels` has the same number for rows that do."""

    labels: Numbers
    count: int
    """Labels are below this."""

    @abstractmethod
    def cut(self, cut: Cut) -> list[Operator]:
        """The diagonal blocks of A that the cut leaves, in their own order of rows."""


def find_components(first: NDArray[Any], second: NDArray[Any], count: int) -> tuple[int, Numbers]:
    """How many components the graph of `count` nodes with an edge first[k] - second[k] for each k has, and whose."""
    edges = sparse.coo_array((np.ones(first.size), (first, second)), shape=(count, count))
    number, label = csgraph.connected_components(edges.tocsr(), directed=False)
    return int(number), label.astype(np.intp)


def starts_of(part: Numbers, parts: int) -> list[int]:
    """Where each part begins once the entries are sorted by part, and where the last one ends."""
    counts: list[int] = np.bincount(part, minlength=parts).cumsum().tolist()
    return [0, *counts]


def compliance_alone(compliance: Vector) -> SparseOperator:
    """A of rows on which nothing moves."""
    return SparseOperator(sparse.diags_array(compliance, format="csr"))


class CoupledVelocities(Couplings):
    """Any J and M: rows are coupled by the velocities that they act on, and velocities by M."""

    moves: NDArray[np.bool_]
    labels: Numbers
    count: int

    def __init__(self, A: FactoredOperator) -> None:
        self.A, self.J = A, A.J
        self.moves, node, nodes = _tie_velocities(A.mass)
        rows = self.J.shape[0]
        entry_row = np.repeat(np.arange(rows), np.diff(self.J.indptr))
        moved = self.moves[self.J.indices]
        components, label = find_components(entry_row[moved], rows + node[self.J.indices[moved]], rows + nodes)
        self.label_of_velocity: NDArray[np.intp] = label[rows + node]
        self.labels, self.count = label[:rows], components + 1
        self.labels[np.bincount(entry_row[moved], minlength=rows) == 0] = components  # nothing moves

    def cut(self, cut: Cut) -> list[Operator]:
        part_of_velocity = np.where(self.moves, cut.part_of_label[self.label_of_velocity], NOWHERE)
        kept = np.flatnonzero(part_of_velocity != NOWHERE)
        kept = kept[np.argsort(part_of_velocity[kept], kind="stable")]
        starts = starts_of(part_of_velocity[kept], cut.parts)
        own_slices = [slice(first, last) for first, last in itertools.pairwise(starts)]
        sorted_rows, compliance = self.J[cut.rows][:, kept], self.A.compliance[cut.rows]
        masses = _cut_mass(self.A.mass, kept, own_slices)
        return [
            FactoredOperator(sorted_rows[rows, own], mass, compliance[rows])
            if own.start < own.stop
            else compliance_alone(compliance[rows])
            for rows, own, mass in zip(cut.slices, own_slices, masses, strict=True)
        ]


class CoupledCompressedRows(Couplings):
    """A as compressed rows, or what can be written so."""

    count: int

    def __init__(self, A: SparseOperator) -> None:
        self.A = A
        self.count, label = csgraph.connected_components(self.A.matrix, directed=False)
        self.labels: Numbers = label.astype(np.intp)

    def cut(self, cut: Cut) -> list[Operator]:
        number = np.empty(self.A.n, dtype=self.A.matrix.indices.dtype)
        number[cut.rows] = np.arange(self.A.n) - np.array(cut.starts)[cut.part_of_row[cut.rows]]
        taken = self.A.matrix[cut.rows]
        values, indices, pointers = taken.data, number[taken.indices], taken.indptr
        groups = None if self.A.row_groups is None else self.A.row_groups[cut.rows]
        parts: list[Operator] = []
        for rows in cut.slices:
            size, entries = rows.stop - rows.start, slice(pointers[rows.start], pointers[rows.stop])
            own_pointers = pointers[rows.start : rows.stop + 1] - entries.start
            matrix = sparse.csr_array((values[entries], indices[entries], own_pointers), shape=(size, size))
            for array in (matrix.data, matrix.indices, matrix.indptr):
                freeze(array)
            operator = SparseOperator.__new__(SparseOperator)
            operator.given_format, operator.matrix = self.A.given_format, matrix
            operator.pointers, operator.indices, operator.values = unsigned_parts(matrix)
            if groups is not None:
                operator.row_groups = freeze(np.unique(groups[rows], return_inverse=True)[1])
            parts.append(operator)
        return parts


class CoupledEntries(Couplings):
    """A as an array."""

    count: int
    labels: Numbers

    def __init__(self, A: DenseOperator) -> None:
        self.A = A
        row, column = np.nonzero(A.matrix)
        self.count, self.labels = find_components(row, column, A.n)

    def cut(self, cut: Cut) -> list[Operator]:
        return [DenseOperator(self.A.submatrix(cut.rows[rows], cut.rows[rows])) for rows in cut.slices]


def _tie_velocities(mass: Mass) -> tuple[NDArray[np.bool_], Numbers, int]:
    """Which velocities can change, and a number that those have in common which M ties together."""
    if isinstance(mass, BodyMasses | PlanarMasses):
        body = np.arange(mass.dofs) // _velocities(mass)
        return np.isfinite(mass.mass)[body], body, mass.mass.size
    if isinstance(mass, DiagonalMass):
        return np.isfinite(mass.m), np.arange(mass.dofs), mass.dofs
    entries = mass.to_sparse().tocoo()
    count, node = find_components(entries.row, entries.col, mass.dofs)
    return np.ones(mass.dofs, dtype=bool), node, count


def _cut_mass(mass: Mass, kept: Numbers, slices: list[slice]) -> list[Any]:
    """M of the velocities `kept[own]` for each slice; no entry of M ties them to others."""
    if isinstance(mass, BodyMasses | PlanarMasses):
        width = _velocities(mass)
        bodies = [kept[own][::width] // width for own in slices]
        return [type(mass)(mass.mass[own], mass.inertia[own]) for own in bodies]
    if isinstance(mass, DiagonalMass):
        return [DiagonalMass(mass.m[kept[own]]) for own in slices]
    matrix = mass.to_sparse()[kept][:, kept]
    return [matrix[own, own] for own in slices]


def _velocities(mass: BodyMasses | PlanarMasses) -> int:
    """How many a body has."""
    return BodyPairs.width if isinstance(mass, BodyMasses) else PlanarPairs.width


class CoupledPairs(Couplings):
    """Rows that act on two bodies each, in space or in a plane; the bodies of a part are numbered anew, in their order.

    What acts on a body that cannot move acts on the world, which is the same and needs no number of its own.
    """

    pairs: BodyPairs | PlanarPairs
    mass: BodyMasses | PlanarMasses
    compliance: Vector
    labels: Numbers
    count: int

    def __init__(self, pairs: BodyPairs | PlanarPairs, mass: BodyMasses | PlanarMasses, compliance: Vector) -> None:
        self.pairs, self.mass, self.compliance = pairs, mass, compliance
        self.bodies: NDArray[np.uint32] = pairs.bodies.reshape(-1, 2)
        self.moves: NDArray[np.bool_] = np.append(np.isfinite(mass.mass), False)[self.bodies]
        joined = self.bodies[self.moves.all(axis=1)]
        bodies, label_of_body = find_components(joined[:, 0], joined[:, 1], pairs.body_count)
        self.label_of_body: Numbers = np.where(np.isfinite(mass.mass), label_of_body, bodies)
        of_sides = np.append(self.label_of_body, bodies)[self.bodies]
        self.labels, self.count = of_sides.min(axis=1), bodies + 1  # the last label: nothing moves

    def cut(self, cut: Cut) -> list[Operator]:
        part_of_body = np.append(cut.part_of_label[:-1], NOWHERE)[self.label_of_body]
        kept = np.flatnonzero(part_of_body != NOWHERE)
        kept = kept[np.argsort(part_of_body[kept], kind="stable")]
        part_of_kept = part_of_body[kept]
        starts = starts_of(part_of_kept, cut.parts)
        number = np.empty(self.pairs.body_count + 1, dtype=np.int64)
        number[kept] = np.arange(kept.size) - np.array(starts)[part_of_kept]
        world = np.diff(starts)[cut.part_of_row[cut.rows]]
        moves = self.moves[cut.rows]
        bodies = np.where(moves, number[self.bodies[cut.rows]], world[:, None]).astype(np.uint32)
        jacobian = self.pairs.jacobian.reshape(-1, 2, self.pairs.width)[cut.rows]
        jacobian[~moves] = 0.0
        given = self.pairs.inverse_mass.reshape(self.pairs.body_count + 1, -1)
        inverse_mass = np.zeros((kept.size + cut.parts, given.shape[1]))  # each part ends with the world
        inverse_mass[np.arange(kept.size) + part_of_kept] = given[kept]
        whole = _Sorted(
            freeze(bodies.reshape(-1)),
            freeze(jacobian.reshape(-1)),
            freeze(inverse_mass),
            freeze(self.mass.mass[kept]),
            freeze(self.mass.inertia[kept]),
            freeze(self.compliance[cut.rows]),
            type(self.pairs),
            type(self.mass),
        )
        own_bodies = [slice(first, last) for first, last in itertools.pairwise(starts)]
        return [
            whole.take(rows, own, part) if own.start < own.stop else compliance_alone(whole.compliance[rows])
            for part, (rows, own) in enumerate(zip(cut.slices, own_bodies, strict=True))
        ]


@dataclass(frozen=True)
class _Sorted:
    """Body pairs and masses of all parts, one part after the other."""

    bodies: NDArray[np.uint32]
    jacobian: Vector
    inverse_mass: NDArray[np.float64]
    mass: Vector
    inertia: NDArray[np.float64]
    compliance: Vector
    kind: type[BodyPairs] | type[PlanarPairs]
    masses: type[BodyMasses] | type[PlanarMasses]

    def take(self, rows: slice, own: slice, part: int) -> FactoredOperator:
        """The part with these rows and bodies, made without the checks that the whole has passed."""
        packed = self.inverse_mass[own.start + part : own.stop + part + 1].reshape(-1)
        masses = self.masses.of_checked(self.mass[own], self.inertia[own], packed)
        wide = 2 * self.kind.width
        bodies = self.bodies[2 * rows.start : 2 * rows.stop]
        pairs = self.kind(bodies, self.jacobian[wide * rows.start : wide * rows.stop], masses)
        return FactoredOperator.of_pairs(pairs, masses, self.compliance[rows])
