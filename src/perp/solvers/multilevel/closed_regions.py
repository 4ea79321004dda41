"""Regions of a pressure problem in which nothing holds a constant: u = 1 there may prove that there is no solution.

If A u = 0 for the indicator u of a region, u^T y = u^T b whatever x is. Where no row of the region has an upper bound,
all ask for y >= 0, and b^T u < 0 leaves no solution: more flows in than can leave. Where none has a
lower bound, -u proves the same of b^T u > 0. (`perp.problems.certificates`)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from perp.linalg.multigrid import find_grid_regions, grid_sizes
from perp.problems.certificates import rounding_share
from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

ROUNDING = 1e-12
"""A row sum that is so small a share of its terms is zero."""


def find_overfull_regions(problem: Problem) -> Vector | None:
    """A certificate made of 1 (or -1) in all regions that prove something, 0 elsewhere; None where there is none."""
    A = problem.A
    if TO_SPARSE not in A.ability_set:
        return None
    region: Any
    if A.stencil is not None and grid_sizes(A.stencil) is not None:
        region, is_open = find_grid_regions(A.stencil, ROUNDING)
        count = problem.n
    else:
        rows = A.to_sparse()
        count, region = sparse.csgraph.connected_components(rows, directed=False)
        is_open = np.abs(rows.sum(axis=1)) > ROUNDING * abs(rows).sum(axis=1)
    lower, upper = problem.bounds(problem.b)

    def sum_up(values: Any) -> Vector:
        sums: Vector = np.bincount(region, weights=values, minlength=count).astype(np.float64)
        return sums

    closed = sum_up(is_open) == 0.0
    if not closed[region].any():
        return None
    inflow, noise = sum_up(problem.b), rounding_share(problem.n) * sum_up(np.abs(problem.b))
    rises = closed & (sum_up(np.isfinite(upper)) == 0.0) & (inflow < -noise)
    falls = closed & (sum_up(np.isfinite(lower)) == 0.0) & (inflow > noise)
    u = rises[region].astype(np.float64) - falls[region]
    return u if u.any() else None
