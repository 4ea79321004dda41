"""Stencils on grids."""
