"""Where block principal pivoting stands."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perp.linalg.free_systems import FreeSystem
from perp.problems.inputs import Vector
from perp.solvers.method import State
from perp.solvers.pivoting.friction_bounds import FrictionBounds
from perp.solvers.pivoting.parametric import Path, Sets


@dataclass
class PivotState(State):
    """Where block pivoting stands: its index sets, x as the free rows want it (not clipped), and the safeguards."""

    point: Vector
    y: Vector
    """A x + b."""
    soft_y: Vector
    """The same with the softening, by which rows are judged."""
    sets: Sets
    lower: Vector
    upper: Vector
    scale: Vector
    anchor: Sets
    """The first index sets for the present bounds."""
    anchor_point: Vector
    best: Sets
    """Those with the fewest violations."""
    best_point: Vector
    system: FreeSystem
    softening: Vector
    """The slack is A x + b + softening (x - centre): THESIS Algorithm 9, or a proximal term for dependent rows."""
    centre: Vector
    limits: NDArray[np.int64]
    """How often each row may pivot before it is softened (again)."""
    pivots: NDArray[np.int64]
    factored: Sets | None = None
    left: float = 0.0
    """The slack that the last solve left in free rows, as a share of the numbers involved."""
    first: int = 0
    """Violations of the first index sets, for the present bounds; 0 while they are not counted."""
    least: int = 0
    """The fewest violations so far."""
    budget: int = 0
    """Block pivots that may still pass without a new least number of violations."""
    singles: int = 0
    """Single pivots still to do; -1: until there are fewer violations than ever before."""
    apart: bool = False
    """Blocks are made of rows that are not coupled."""
    path: Path | None = None
    friction: FrictionBounds | None = None
    seen: set[int] = field(default_factory=set)
    seen_single: set[int] = field(default_factory=set)
    hardened: bool = False
    """The softening of Algorithm 9 was taken back, and is not to come again."""
    has_dependent_rows: bool = False
    """A set of free rows was singular."""
    proximal: bool = False
    """The softening is a proximal term: taken back by moving its centre to where x is."""
