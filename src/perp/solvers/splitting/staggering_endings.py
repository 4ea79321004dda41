"""When staggering is over: its fixed point is reached, or will not be, and by how much it is missed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Vector
from perp.solvers.results.status import Status

SETTLED = 1e-14
"""Normal impulses that change by no more than this share of the largest have settled."""

SAME = 1e-12
"""Normal impulses that come back to earlier ones up to this share of the largest go round in circles."""

PATIENCE = 300
"""Iterations without a new least fixed point residual, and as many as came before it, show that there is none."""

SHORT_PATIENCE = 20
"""The same where that residual is already as small as the tolerance of the two solves."""

GREATEST = 1e12
"""Normal impulses that are so many times greater than usual ones have run away."""


@dataclass
class FixedPointWatch:
    """Follows z, the normal impulses, and f = N(F(z)) - z, what one friction and one normal solve make of them."""

    inner_tolerance: float
    is_plain: bool
    """Whether z alone decides what comes next, so that a z seen before means a cycle."""
    usual: float
    """What a normal impulse may be without surprise: the largest of the first ones at least."""
    least: float = np.inf
    least_at: int = 0
    count: int = 0
    mark: Vector | None = None
    mark_at: int = 0
    seen: float = np.inf
    """The last fixed point residual, max |f|."""

    def look(self, z: Vector, f: Vector) -> tuple[Status, str] | None:
        """How to end, with a sentence that names the fixed point residual; None to go on."""
        size, largest = float(np.abs(f).max(initial=0.0)), float(np.abs(z).max(initial=0.0))
        self.count += 1
        self.seen = size
        if self.count == 1:
            self.usual = max(self.usual, largest)
        if size < self.least:
            self.least, self.least_at = size, self.count
        missed = f"a normal and a friction solve still move the normal impulses by {size:.1e}"
        if size <= SETTLED * largest:
            return Status.STAGNATED, f"the fixed point is reached, up to inner_tolerance = {self.inner_tolerance:g}"
        if largest > GREATEST * self.usual:
            return Status.BREAKDOWN, f"the normal impulses grow without end, no fixed point attracts them; {missed}"
        if self.is_plain and self.mark is not None and np.abs(z - self.mark).max(initial=0.0) <= SAME * largest:
            period = self.count - self.mark_at
            return Status.CYCLING, f"every {period} iterations the same normal impulses come again, and {missed}"
        if self.count & (self.count - 1) == 0:  # Brent's search for a cycle: compare with 1, 2, 4, 8, ...
            self.mark, self.mark_at = z.copy(), self.count
        accurate = self.least <= self.inner_tolerance
        if self.count - self.least_at > (SHORT_PATIENCE if accurate else max(PATIENCE, self.least_at)):
            return Status.STAGNATED, self._name_stagnation(accurate)
        return None

    def _name_stagnation(self, accurate: bool) -> str:
        if accurate:
            return f"the fixed point residual, {self.least:.1e}, is within inner_tolerance = {self.inner_tolerance:g}"
        waited = self.count - self.least_at
        return f"no fixed point was found: its residual was {self.least:.1e} at best, {waited} iterations ago"
