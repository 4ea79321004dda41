"""Where a solver starts: the impulses of the last step, carried over to the contacts that are still there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.residuals import Watch
from perp.worlds.contacts import Contacts


def carry_impulses(old: Contacts, x: Vector, new: Contacts, match: NDArray[np.int64], rows: int) -> Vector:
    """Impulses x of the old contacts on the new ones; `match` names the old one of each new one, or is -1.

    The normal impulse is carried as a number, as normals turn with the bodies. Friction is carried as a vector of the
    world, because the tangents of a contact may be drawn anew in every step. What comes after the contacts in x
    (joints, limits, motors) keeps its order from step to step and is copied.
    """
    d = new.dimension
    start = np.zeros(rows)
    kept = np.flatnonzero(match >= 0)
    source = match[kept]
    impulse = x[: d * len(old)].reshape(-1, d)[source]
    friction = np.einsum("mk,mkj->mj", impulse[:, 1:], old.frame[source, 1:])
    carried = start[: d * len(new)].reshape(-1, d)
    carried[kept, 0] = impulse[:, 0]
    carried[kept, 1:] = np.einsum("mj,mkj->mk", friction, new.frame[kept, 1:])
    others = x[d * len(old) :]
    if others.size == rows - d * len(new):
        start[d * len(new) :] = others
    return start


def not_worse_than_cold(problem: ContactProblem, start: Vector) -> Vector | None:
    """The start, brought within its bounds; or None, for a cold start, where zero has the smaller residual."""
    warm = problem.project(start)
    if not warm.any():
        return None
    watch = Watch(problem)
    with np.errstate(all="ignore"):
        at_warm, at_zero = watch.look(warm)[0], watch.look(problem.project(np.zeros(problem.n)))[0]
    return warm if at_warm < at_zero else None
