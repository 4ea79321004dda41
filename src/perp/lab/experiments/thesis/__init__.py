"""Experiments of THESIS: Ho 2022, Preconditioned conjugate gradients for pivoting-based complementarity solvers."""
