"""Which bodies hang together in a step: through contacts, and through joints where the step's problem is known.

An island has the number of its lowest body, so that it keeps its colour from frame to frame while others come and go.
Bodies that cannot move couple nothing, and belong to no island; nor do bodies that no row of the problem acts on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.friction import ContactProblem
from perp.problems.island_cut import find_components
from perp.problems.operators.masses import BodyMasses, PlanarMasses
from perp.recording.frame import Frame
from perp.worlds.report import StepReport

NO_ISLAND = -1


def find_islands(frame: Frame, report: StepReport | None) -> tuple[NDArray[np.intp], int]:
    """The island of each body, and how many islands there are.

    A problem of body pairs tells all of it. Without one, as in a recording or in joint coordinates, contacts alone
    couple bodies, and all bodies count as able to move.
    """
    bodies = len(frame.position)
    moves = np.ones(bodies, dtype=np.bool_)
    pairs: NDArray[Any] = frame.contacts.bodies
    if report is not None and isinstance(report.problem, ContactProblem):
        A = report.problem.A.factored
        if A is not None and A.paired is not None and A.paired.body_count == bodies:
            pairs = _pairs_of_rows(report.problem, A.paired.bodies.reshape(-1, 2))
            if isinstance(A.mass, BodyMasses | PlanarMasses):
                moves = np.isfinite(A.mass.mass)
    return name_islands(pairs, moves)


def name_islands(pairs: NDArray[Any], moves: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
    """From pairs of bodies (-1 or beyond the last: the world), and which bodies can move."""
    bodies = moves.size
    side_moves = np.append(moves, False)[np.where(pairs < 0, bodies, pairs)]
    joined = pairs[side_moves.all(axis=1)]
    _, label = find_components(joined[:, 0], joined[:, 1], bodies)
    lowest = np.unique(label, return_index=True)[1]
    island = np.full(bodies, NO_ISLAND, dtype=np.intp)
    acted_on = pairs[side_moves]
    island[acted_on] = lowest[label[acted_on]]
    return island, int(np.count_nonzero(island == np.arange(bodies)))


def _pairs_of_rows(problem: ContactProblem, pairs: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """One pair a contact is enough, where all rows of a contact act on the same two bodies."""
    if not problem.has_pairs_of_bodies:
        return pairs
    return np.concatenate([pairs[problem.every(0)], pairs[problem.contact_rows :]])
