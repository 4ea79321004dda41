"""What is added to the diagonal of A in a Newton equation of contact laws, as a share of each contact's stiffness."""

from __future__ import annotations

from dataclasses import dataclass

MOST, LEAST = 1.0 / 32.0, 1e-9
"""Limits of it. Without any, redundant contacts would make the matrix singular."""

HELD_BACK, RELIEF = 0.5, 0.1
"""Where it takes more than this share of a Newton step, and the whole step is good, there is less the next time."""

SHORT, RISE = 0.1, 4.0
"""After steps shorter than this there is more, up to where it began."""


@dataclass
class ConeRegularisation:
    """share ||F||: it vanishes at a solution, quickly enough for quadratic convergence (Yamashita & Fukushima 2001)."""

    first: float
    share: float

    def size(self, norm: float) -> float:
        """For this ||F||."""
        return min(MOST, max(LEAST, self.share * norm))

    def follow(self, step_length: float, whole: float) -> None:
        """Take note of a step: its length, and which share of the slope of a Newton step its direction had."""
        if step_length == 1.0 and whole < HELD_BACK:
            self.share *= RELIEF
        elif step_length < SHORT:
            self.share = min(self.first, self.share * RISE)
