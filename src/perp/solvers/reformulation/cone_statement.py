"""A quadratic program over second-order cones, in arrays alone:

    minimise 1/2 z^T P z + c^T z   with   rows z + s = right,   s in {0}^equations x R+^inequalities x L x ... x L,

where L = {(t, w): |w| <= t} has `width` entries. Multipliers d of the rows are in the dual cones (any, >= 0, L), with
P z + c + rows^T d = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy import sparse

from perp.problems.inputs import Vector


@dataclass(frozen=True)
class ConeStatement:
    """The data of one program."""

    P: sparse.csc_matrix
    """Its upper triangle."""
    c: Vector
    rows: sparse.csc_matrix
    right: Vector
    equations: int
    inequalities: int
    cones: int
    width: int

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.c.size
