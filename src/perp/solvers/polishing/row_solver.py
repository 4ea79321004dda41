"""What a polish asks of a linear system that is made for one set of free rows."""

from __future__ import annotations

from typing import Protocol

from perp.problems.inputs import Vector


class RowSolver(Protocol):
    """Systems of `perp.linalg.free_systems`, once they are factored, and those of this folder."""

    complaint: str
    """Why the last solve is less accurate than it should be, where it is."""

    def solve(self, r: Vector) -> Vector:
        """dx with A_FF dx_F = r_F, zero in the other rows."""
        ...
