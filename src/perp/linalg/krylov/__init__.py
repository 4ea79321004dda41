"""Krylov methods: conjugate gradients, GMRES. Own loops, matrix-free, with warm start.

from perp.linalg import krylov

found = krylov.cg(A, b, preconditioner=P.apply, tolerance=1e-8 * norm(b), max_iterations=50)
found.x, found.ending, found.iterations, found.residual

A is a matrix, an operator or a function v -> A v; the tolerance is absolute; the preconditioner a function r -> P^-1 r.
`cg` is for symmetric positive (semi-)definite A, `gmres` for any. (For symmetric indefinite A, SciPy has MINRES.)
"""

from perp.linalg.krylov.cg import cg
from perp.linalg.krylov.cycles import Ending, Product, Solution, Workspace
from perp.linalg.krylov.gmres import gmres
from perp.linalg.krylov.inexact_newton import FreeProduct, forcing, next_gamma

__all__ = [
    "cg",
    "gmres",
    "forcing",
    "next_gamma",
    "Ending",
    "FreeProduct",
    "Product",
    "Solution",
    "Workspace",
]
