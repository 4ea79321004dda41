"""Block Gauss-Seidel over contacts: each contact in turn is solved exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.options.docs import About, option
from perp.solvers.splitting.block_sweeps import BlockSweeper, make_block_sweeper
from perp.solvers.splitting.diagonal import refuse_rows
from perp.solvers.splitting.sweep_method import ORDER, ORDER_SEED, SweepMethod, require_order, require_relaxation


@dataclass(frozen=True)
class BlockGaussSeidel(SweepMethod):
    """Each contact in turn gets the impulse that obeys its law exactly while the others rest.

        x_c <- the solution of   x_c and y_c + W_c (x_c - x_c^old) obey the law,    W_c the 3 x 3 block of A

    It separates, sticks (x_c = x_c^old - W_c^-1 y_c) or slides. Sliding in Coulomb's disc is one equation for alpha in
    y_t = -alpha x_t, solved by Newton steps inside a bracket; convex cones and discs of given radii likewise; of boxes
    the nine cases are tried. Rows after the contacts are swept as in `psor`.

    `relaxation` in (0, 2) divides the blocks W_c, which for a single row is over-relaxation. `order` is forward,
    backward, symmetric, random (from `seed`) or coloured.
    """

    name: ClassVar[str] = "block_gauss_seidel"
    accepts: ClassVar[frozenset[str]] = frozenset({"contact/box", "contact/cone", "contact/convex", "contact/disc"})
    requires: ClassVar[str] = "positive diagonal entries in the normal rows and in the rows after the contacts"
    reference: ClassVar[str] = (
        "Jourdan, Alart & Jean 1998; sliding: Bonnefon & Daviet 2011; NOTES 5.3 for the other rows"
    )

    relaxation: float = option(
        1.0, About("divides the blocks of contacts, multiplies the changes of other rows", above=0.0, below=2.0)
    )
    order: str = option("forward", ORDER)
    seed: int = option(0, ORDER_SEED)

    def __post_init__(self) -> None:
        require_relaxation(self.relaxation)
        require_order(self.order, self.seed)

    @property
    def settings(self) -> tuple[float, str, int]:
        return float(self.relaxation), self.order, self.seed

    def objection(self, problem: Problem) -> str | None:
        problem = problem.as_contacts()
        assert problem.diagonal is not None
        if (problem.diagonal > 0.0).all():  # nobody needs to ask which rows are fixed
            return None
        fixed = np.zeros(problem.n, dtype=bool)
        fixed[problem.contact_rows :] = problem.lower == problem.upper
        for tangent in range(1, problem.dimension):
            fixed[problem.normal_rows + tangent] = problem.diagonal[problem.normal_rows + tangent] >= 0.0
        return refuse_rows(problem, fixed)

    def make_sweeper(self, problem: Problem, x: Vector) -> BlockSweeper:
        return make_block_sweeper(problem.as_contacts(), float(self.relaxation), x)
