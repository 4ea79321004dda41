"""Experiments of NOTES: Erleben 2013, Numerical methods for LCPs in physics-based animation."""
