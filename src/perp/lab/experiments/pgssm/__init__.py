"""Experiments of PGS-SM: Silcowitz, Niebe & Erleben 2010, Projected Gauss-Seidel subspace minimization."""
