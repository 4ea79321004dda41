"""Free rows where nothing is factored: by products alone, or by least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import lsmr

from perp.linalg.free_systems.base import Mask
from perp.linalg.free_systems.block_rows import BlockDiagonal, BlockSystem
from perp.linalg.krylov import FreeProduct, Product, cg, gmres
from perp.problems.deadline import watched
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator
from perp.problems.problem import Problem

SHARE = 1e-6
"""What a solve may leave of its right-hand side, in the 2-norm."""

LIMIT = 1000

SYMMETRIC = 1e-10
"""u^T A v and v^T A u of two vectors differ by a larger share where A is not symmetric."""


class ProductSystem:
    """A_FF by products: conjugate gradients where A seems to be symmetric and they go through, else GMRES."""

    def __init__(self, problem: Problem, free: Mask, shift: Vector | None) -> None:
        self.complaint = ""
        self._free = free
        self._product = FreeProduct(problem.A)
        self._product.follow(free, shift)
        diagonal = problem.diagonal
        self._scale = None if diagonal is None or not (diagonal > 0.0).all() else 1.0 / diagonal
        self._definite = _seems_symmetric(self._product, free)

    def solve(self, r: Vector) -> Vector:
        right = np.where(self._free, r, 0.0)
        options = {"tolerance": SHARE * float(np.linalg.norm(right)), "max_iterations": LIMIT}
        preconditioner: Product | None = None if self._scale is None else self._precondition
        if self._definite:
            found = cg(self._product, right, preconditioner=preconditioner, **options)  # type: ignore[arg-type]
            if found.success:
                return found.x
            self._definite = False
        found = gmres(self._product, right, preconditioner=preconditioner, **options)  # type: ignore[arg-type]
        return found.x

    def _precondition(self, r: Vector) -> Vector:
        assert self._scale is not None
        return self._scale * r


def _seems_symmetric(product: FreeProduct, free: Mask) -> bool:
    count = np.arange(free.size)
    u, v = (np.where(free, np.cos(speed * count), 0.0) for speed in (1.0, 1.7))
    one, other = float(np.sum(v * product(u))), float(np.sum(u * product(v)))
    size = float(np.sum(np.abs(v * product(u))))
    return abs(one - other) <= SYMMETRIC * size


class LeastSquares:
    """The least correction that leaves the least, by LSMR (Fong & Saunders 2011): for singular A_FF of any kind."""

    def __init__(self, A: Operator, free: Mask) -> None:
        self.complaint = ""
        self._rows: NDArray[np.intp] = np.flatnonzero(free)
        self._inside = A.submatrix(self._rows, self._rows)

    def solve(self, r: Vector) -> Vector:
        dx = np.zeros(r.size)
        found = lsmr(watched(self._inside), r[self._rows], atol=1e-14, btol=SHARE, conlim=0.0, maxiter=LIMIT)
        dx[self._rows] = found[0]
        self.complaint = "" if found[1] in (0, 1, 2) else "least squares did not converge"
        return dx


class BlockProducts(BlockSystem):
    """(E + G A) dx = r by GMRES, with the block-diagonal part of it where A_ii is known."""

    def __init__(self, A: Operator) -> None:
        self._A, self._zero, self._diagonal = A, freeze(np.zeros(A.n)), A.diagonal()

    def factor(self, E: BlockDiagonal, G: BlockDiagonal) -> None:
        self.factorisations += 1
        self._E, self._G = E, G
        self._inverse = E.plus_scaled_columns(G, self._diagonal).inverse()

    def solve(self, r: Vector) -> Vector:
        size = float(np.linalg.norm(r))
        options = {"tolerance": SHARE * size, "max_iterations": LIMIT}
        return gmres(self._product, r, preconditioner=self._inverse.apply, **options).x  # type: ignore[arg-type]

    def _product(self, v: Vector) -> Vector:
        return self._E.apply(v) + self._G.apply(self._A.slack(v, self._zero, np.empty(v.size)))
