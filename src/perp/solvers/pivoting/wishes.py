"""Which of the rows that want to change their index set may do so, and which are softened because they do so often."""

from __future__ import annotations

import numpy as np

from perp.solvers.pivoting.parametric import Sets
from perp.solvers.pivoting.pivot_state import PivotState


def keep_apart(state: PivotState, wanted: Sets) -> None:
    """Of all wishes grant those of rows that are not coupled with one that is further off."""
    rows = np.flatnonzero(wanted != state.sets)
    outside = np.maximum(state.lower - state.point, state.point - state.upper) / state.scale
    violation = np.where(state.sets == 0, outside, np.abs(state.soft_y) * state.scale)
    keep = state.system.keep_apart(rows[np.argsort(-violation[rows], kind="stable")])
    wanted[~keep] = state.sets[~keep]


def keep_first(state: PivotState, wanted: Sets, block_pivots: int) -> None:
    """Of all wishes grant the one of least index: finite for every P-matrix (Murty 1974)."""
    first = int(np.flatnonzero(wanted != state.sets)[0])
    wish = wanted[first]
    wanted[:] = state.sets
    wanted[first] = wish
    state.counters["single_pivots"] += 1
    if state.singles > 0:
        state.singles -= 1
        if state.singles == 0:
            state.budget = block_pivots


def soften(state: PivotState, regularisation: float) -> None:
    """THESIS Algorithm 9, for the rows with two finite bounds."""
    friction = np.isfinite(state.lower) & np.isfinite(state.upper)
    often = friction & (state.sets == 0) & (state.pivots > state.limits)
    if often.any():
        typical = 1.0 / state.scale[often] ** 2  # A_ii up to a factor of 2
        state.softening[often] += regularisation * typical
        state.limits[often] *= 2
        state.factored = None
