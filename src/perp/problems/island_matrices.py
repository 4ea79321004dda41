"""Which rows of A hang together, for every form of A, and A cut into the parts that do not.

Rows of A = J M^-1 J^T + C are coupled through velocities: two rows that act on one body, or on bodies that another row
joins. A body that cannot move hands nothing on, as its M^-1 is zero. Rows of an explicit A are coupled where A has an
entry, on either side of the diagonal.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.inputs import freeze
from perp.problems.island_cut import NOWHERE, Couplings, Cut, Numbers, compliance_alone, find_components, starts_of
from perp.problems.operators import DenseOperator, DiagonalMass, FactoredOperator, Operator, SparseOperator
from perp.problems.operators.masses import BodyMasses, Mass, PlanarMasses
from perp.problems.operators.pairs import BodyPairs
from perp.problems.operators.planar_pairs import PlanarPairs
from perp.problems.operators.sparse import unsigned_parts


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
        from scipy.sparse import csgraph

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
