"""Krylov methods: conjugate gradients, MINRES, GMRES. Own loops, matrix-free, with warm start.

from perp.linalg import krylov

found = krylov.cg(lambda v: A @ v, b, preconditioner=P.apply, tolerance=krylov.forcing(0.1, norm), max_iterations=50)
found.x, found.ending, found.iterations, found.residual
"""

from perp.linalg.krylov.cg import cg
from perp.linalg.krylov.forcing import forcing, next_gamma
from perp.linalg.krylov.gmres import gmres
from perp.linalg.krylov.minres import minres
from perp.linalg.krylov.outcome import Ending, Product, Solution

__all__ = ["cg", "minres", "gmres", "forcing", "next_gamma", "Ending", "Product", "Solution"]
