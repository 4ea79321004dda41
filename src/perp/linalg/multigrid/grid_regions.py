"""Regions of a grid that couplings other than zero hold together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.linalg.multigrid.hierarchy import stencil_arguments
from perp.linalg.multigrid.level_table import grid_sizes
from perp.problems.operators import StencilOperator


def find_grid_regions(A: StencilOperator, rounding: float) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Of each cell the first one of its region, and whether its row adds up to more than this share of its terms.

    A grid of up to three axes that has cells. A is not formed: a few passes over it.
    """
    from perp.kernels.grid import regions as kernels

    sizes = grid_sizes(A)
    assert sizes is not None
    region, is_open = np.empty(A.n, dtype=np.uint32), np.empty(A.n, dtype=np.bool_)
    arguments = stencil_arguments(A, sizes)
    kernels.find_regions(*(np.uint64(size) for size in sizes), *arguments, A.centre, rounding, region, is_open)
    return region, is_open
