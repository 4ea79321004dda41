"""What is proved of a solution near a point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perp.problems.inputs import Vector

SHOWN = 6
"""Rows of the box that are printed."""


@dataclass(frozen=True, eq=False)
class Proof:
    """The outcome of `prove`; where `exists` is False nothing is claimed, neither that there is no solution."""

    exists: bool
    """Whether it is proved that a solution lies in the box."""
    lower: Vector | None
    """lower_i <= x*_i <= upper_i for a solution x*; None without a proof."""
    upper: Vector | None
    radius: float
    """max |x_i - x*_i| is at most this, for the x that was given; inf without a proof."""
    exact: tuple[Fraction, ...] | None
    """The solution itself, where exact arithmetic was used."""
    unique: bool | None
    """True: proved to be the only solution of the problem. False: proved to be one of many. None: not known."""
    unique_in_box: bool | None
    """True: proved to be the only one in the box. None: not known."""
    how: str
    """What the proof rests on, in a sentence; empty without one."""
    reason: str
    """Why there is no proof; empty where there is one."""

    @property
    def width(self) -> float:
        """The largest width of the box; inf without a proof."""
        if self.lower is None or self.upper is None:
            return np.inf
        return float(np.max(self.upper - self.lower, initial=0.0))

    @property
    def relative_width(self) -> float:
        """The largest width of an entry as a share of its magnitude; 0 for entries known exactly."""
        if self.lower is None or self.upper is None:
            return np.inf
        width = self.upper - self.lower
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return float(np.max(np.divide(width, size, out=np.zeros_like(width), where=size > 0.0), initial=0.0))

    def __str__(self) -> str:
        if not self.exists or self.lower is None or self.upper is None:
            return f"no proof: {self.reason}"
        only = {True: "it is the only solution", False: "there are others beside it", None: ""}[self.unique]
        if not only:
            only = "there is no other in the box" if self.unique_in_box else "whether there are others is not known"
        lines = [
            f"proved: a solution lies within {self.radius:.3g} of x, in a box of width {self.width:.3g}; {only}",
            f"   how: {self.how}",
        ]
        for i in range(min(self.lower.size, SHOWN)):
            value = f"  = {self.exact[i]}" if self.exact is not None and len(str(self.exact[i])) <= 40 else ""
            lines.append(f"  x[{i}] in [{float(self.lower[i])!r}, {float(self.upper[i])!r}]{value}")
        if self.lower.size > SHOWN:
            lines.append(f"  ... and {self.lower.size - SHOWN} more")
        return "\n".join(lines)


def no_proof(reason: str) -> Proof:
    """A proof that failed."""
    return Proof(False, None, None, np.inf, None, None, None, "", reason)
