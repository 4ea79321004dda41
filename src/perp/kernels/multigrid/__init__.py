"""Multigrid on grids."""
