"""`method="auto"`: a small rule for now.

* convex contacts, in cones or in fixed discs: `apgd`, which asks for nothing but products with A.
* A gives rows and is symmetric, and there is no friction: `psor`, which must converge if A is PSD (NOTES 5.3).
* A gives rows: `pgs`; over-relaxation is proven for symmetric A and fixed bounds only.
* neither may divide by the diagonal, for it has zeros: `block_gauss_seidel` for contacts, `fischer` for the others.
* A gives a product and its diagonal: `jacobi`.
* A gives a product alone: `apgd`.
"""

from __future__ import annotations

from perp.problems.friction import ContactProblem
from perp.problems.problem import Problem
from perp.solvers.fit import misfit
from perp.solvers.gradient.apgd import APGD
from perp.solvers.method import Method
from perp.solvers.newton.fischer import Fischer
from perp.solvers.splitting.block_gauss_seidel import BlockGaussSeidel
from perp.solvers.splitting.gauss_seidel import PGS, PSOR
from perp.solvers.splitting.jacobi import Jacobi


def choose_method(problem: Problem) -> Method:
    """The method that the rule above picks; whether it fits is checked like any other choice."""
    if problem.kind in ("contact/convex", "contact/disc"):
        return APGD()
    if PGS.needs <= problem.A.ability_set:
        chosen = PSOR() if problem.kind in ("lcp", "box") and problem.is_symmetric else PGS()
        if misfit(chosen, problem) is None:
            return chosen
        other = BlockGaussSeidel() if isinstance(problem, ContactProblem) else Fischer()
        return other if misfit(other, problem) is None else chosen
    return Jacobi() if Jacobi.needs <= problem.A.ability_set else APGD()
