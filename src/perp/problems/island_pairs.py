"""Which rows of body pairs hang together, and the pairs of each part.

A part is cut out of data that were checked when the whole was made. So the rows and bodies are sorted by part once, and
the parts are slices of the sorted arrays, without a second check: 300 of them in a few milliseconds.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector, freeze
from perp.problems.island_cut import NOWHERE, Couplings, Cut, Numbers, compliance_alone, find_components, starts_of
from perp.problems.operators import FactoredOperator, Operator
from perp.problems.operators.masses import BodyMasses, PlanarMasses
from perp.problems.operators.pairs import BodyPairs
from perp.problems.operators.planar_pairs import PlanarPairs


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
