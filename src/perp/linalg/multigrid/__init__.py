"""Levels of matrices on regular grids, and cycles on them."""

from __future__ import annotations

from perp.linalg.multigrid.hierarchy import GridHierarchy, find_grid_regions, grid_sizes

__all__ = ["GridHierarchy", "find_grid_regions", "grid_sizes"]
