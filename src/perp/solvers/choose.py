"""`method="auto"`: a small rule for now.

* convex contacts, in cones or in fixed discs: `apgd`, which asks for nothing but products with A.
* A is a stencil on a grid, with a positive diagonal and no positive coupling: `multigrid`, whose cycles do not grow in
  number with the grid, and which tells a closed region that more flows into than out. Measured: up to about 1000 cells
  in a plane, or 10,000 in space, `psor` is quicker by a millisecond or three; but in 1000 iterations it is done with no
  line of 200 cells and no square of 64 x 64.
* A gives rows and is symmetric, and there is no friction: `psor`, which must converge if A is PSD (NOTES 5.3).
* A gives rows: `pgs`; over-relaxation is proven for symmetric A and fixed bounds only.
* neither may divide by the diagonal, for it has zeros: `block_gauss_seidel` for contacts, `fischer` for the others.
* A gives a product and its diagonal: `jacobi`.
* A gives a product alone: `apgd`.
"""

from __future__ import annotations

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.operators import StencilOperator
from perp.problems.problem import Problem
from perp.solvers.fit import misfit
from perp.solvers.gradient.apgd import APGD
from perp.solvers.method import Method
from perp.solvers.multilevel.multigrid import Multigrid
from perp.solvers.newton.fischer import Fischer
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PGS, PSOR
from perp.solvers.splitting.jacobi import Jacobi


def choose_method(problem: Problem) -> Method:
    """The method that the rule above picks; whether it fits is checked like any other choice."""
    if problem.kind in ("contact/convex", "contact/disc"):
        return APGD()
    if _is_pressure_like(problem) and misfit(Multigrid(), problem) is None:
        return Multigrid()
    if PGS.needs <= problem.A.ability_set:
        chosen = PSOR() if problem.kind in ("lcp", "box") and problem.is_symmetric else PGS()
        if misfit(chosen, problem) is None:
            return chosen
        other = BlockGaussSeidel() if isinstance(problem, ContactProblem) else Fischer()
        return other if misfit(other, problem) is None else chosen
    return Jacobi() if Jacobi.needs <= problem.A.ability_set else APGD()


def _is_pressure_like(problem: Problem) -> bool:
    """Whether A is a stencil that grids of half as many cells can stand for: up to three axes, no positive coupling."""
    A = problem.A
    if not isinstance(A, StencilOperator) or not A.has_kernels or A.n == 0:
        return False
    return all(np.max(A.between(axis), initial=0.0) <= 0.0 for axis in range(len(A.grid)))
