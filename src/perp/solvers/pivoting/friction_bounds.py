"""Friction bounds that follow the normal impulse, for methods that solve with fixed bounds.

Solve, take the bounds friction x_n of the normal impulses found, solve again: a fixed point iteration (the staggering
of normal and friction impulses has the same idea, NOTES section 8). Undamped it wanders for ever on larger stacks; so
the bounds go a share of the way, and a smaller share when they come no nearer. It still need not converge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.results.status import Status

if TYPE_CHECKING:
    from perp.solvers.pivoting.pivot_state import PivotState

SAME_BOUNDS = 1e-12
"""Friction bounds have settled when they miss those of their normal impulses by less than this share of the largest."""

NARROW = 1e-12
"""Friction bounds below this share of the largest impulse are closed: rounding would move x across them."""

FIRST_SHARE, LEAST_SHARE = 0.7, 0.02
"""Which share of the way friction bounds go, at most and at least; the first time they go all of it."""

COURAGE, CAUTION = 1.02, 0.7
"""The factor of that share when the way has become shorter, and when it has not."""

MOST_FRUITLESS = 1000
"""So many updates without coming closer than ever before show that they never will."""

PATIENCE = 2
"""So many updates may bring friction bounds no nearer before the share is made smaller."""


@dataclass
class FrictionBounds:
    """Friction bounds on their way to friction x_n: a fixed point iteration, damped more where it gets stuck."""

    rows: NDArray[np.intp]
    """The tangents."""
    limit: Vector
    """The bounds that the pivots go by: |x_t| <= limit."""
    share: float = 1.0
    nearest: float = np.inf
    failed: int = 0
    closest: float = np.inf
    fruitless: int = 0
    """Updates since the bounds were closest to those that they follow."""
    seen: set[bytes] = field(default_factory=set)

    @staticmethod
    def of(problem: Problem, x: Vector) -> FrictionBounds | None:
        """The bounds that stand at x; None where there are no contacts."""
        contacts = problem.frictional
        if contacts is None:
            return None
        tangents = np.flatnonzero(np.arange(contacts.contact_rows) % contacts.dimension)
        return FrictionBounds(tangents, problem.bounds(x)[1][tangents])

    def follow(self, wanted: Vector) -> bool:
        """Go a share of the way to the bounds `wanted`; False where that is no way at all."""
        distance = float(np.abs(wanted - self.limit).max(initial=0.0))
        if distance <= SAME_BOUNDS * wanted.max(initial=0.0):
            return False
        self.fruitless = 0 if distance < self.closest else self.fruitless + 1
        self.closest = min(distance, self.closest)
        self.limit = self.limit + self.share * (wanted - self.limit)
        if distance < self.nearest:
            self.nearest, self.failed, self.share = distance, 0, min(COURAGE * self.share, FIRST_SHARE)
        elif self.failed < PATIENCE:
            self.failed += 1
        else:
            self.nearest, self.failed, self.share = distance, 0, max(CAUTION * self.share, LEAST_SHARE)
        return True

    @property
    def has_stalled(self) -> bool:
        """The bounds wander and come no closer to those that they follow."""
        return self.fruitless > MOST_FRUITLESS

    def came_again(self, index_sets: bytes) -> bool:
        """Whether these index sets were found with these very bounds before."""
        here = index_sets + self.limit.tobytes() + np.float64(self.share).tobytes()
        known = here in self.seen
        self.seen.add(here)
        return known


def follow_impulses(problem: Problem, state: PivotState, friction: FrictionBounds, size: float) -> bool:
    """Let the friction bounds of block pivots follow the normal impulses; False where they have settled."""
    tangents = friction.rows
    least = NARROW * size * state.scale[tangents]
    wanted = problem.bounds(state.point)[1][tangents]
    if not friction.follow(np.where(wanted < least, 0.0, wanted)):
        return False
    if friction.has_stalled:
        state.ended = Status.STAGNATED, "friction bounds follow the normal impulses and do not settle"
        return True
    narrow = friction.limit < least
    friction.limit[narrow] = 0.0
    state.upper[tangents], state.lower[tangents] = friction.limit, -friction.limit
    state.sets[tangents[narrow]] = -1
    state.counters["bound_updates"] += 1
    return True
