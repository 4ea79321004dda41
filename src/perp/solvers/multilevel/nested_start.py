"""Where projected multigrid begins on a grid: at the answer of the same problem on coarser grids (full multigrid)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perp.linalg.grid_nesting import Nesting, can_coarsen, coarsen
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

if TYPE_CHECKING:
    from perp.solvers.multilevel.multigrid import Multigrid

CYCLES_A_LEVEL = 1
"""Enough to come within the difference of two grids' answers (Brandt & Cryer 1983)."""

COARSEST_CYCLES = 10
"""On the coarsest grid, which is to be solved."""


def find_nested_start(problem: Problem, method: Multigrid) -> Vector | None:
    """The start for the given grid from a cycle on each coarser one; None where there is no coarser one."""
    nestings: list[Nesting] = []
    finest = problem
    while can_coarsen(finest):
        nestings.append(coarsen(finest))
        finest = nestings[-1].coarse
    if not nestings:
        return None
    x = finest.project(np.zeros(finest.n))
    cycles = COARSEST_CYCLES
    for nesting in reversed(nestings):
        state = method.begin(nesting.coarse, x)
        method.step(nesting.coarse, state, cycles)
        x = nesting.interpolate(state.x)
        cycles = CYCLES_A_LEVEL
    return x if np.isfinite(x).all() else None
