"""What options mean that several methods have: how linear equations are solved, how friction rows are softened."""

from __future__ import annotations

from perp.linalg.free_systems import SHIFTED_SPACES, SPACES
from perp.linalg.orderings import METHODS as ORDERINGS
from perp.linalg.preconditioners import BY_NAME
from perp.solvers.options.docs import About

PRECONDITIONERS = tuple(BY_NAME)
"""Words for recipes with their default options."""

ELIMINATION_ORDERS = (*ORDERINGS, "best")

SPACE = About(
    "how free rows are solved for: with a dense or a sparse matrix, in the velocities of the bodies where A is factored"
    " (body), with the eliminated unknowns put back (augmented), or the cheapest of these (auto)",
    choices=SPACES,
)

SHIFTED_SPACE = About(
    "how the equations are solved: with a dense or a sparse matrix, in the velocities of the bodies where A is factored"
    " (body), with the eliminated unknowns put back (augmented), by groups of rows that low rank couples (blocks), or"
    " the cheapest of these (auto)",
    choices=SHIFTED_SPACES,
)

ORDERING = About(
    "in which order a sparse factor eliminates rows, so that it stays sparse; best is amd or nested_dissection,"
    " whichever is predicted to cost less",
    choices=ELIMINATION_ORDERS,
)

PRECONDITIONER = About("that of the iterative linear solver, where `linear` names one", choices=PRECONDITIONERS)

INNER_TOLERANCE = About("share of its right-hand side that an iterative linear solve may leave", above=0.0)

INNER_ITERATIONS = About("most iterations of an iterative linear solve", at_least=1)

FORCING = About("share of the residual that an iterative linear solve may leave", above=0.0, below=1.0)

INNER_LIMIT = About("most iterations of an iterative linear solve; None: twice the rows", at_least=1)

GMRES_RESTART = About("iterations after which GMRES begins anew", at_least=1)

SOFTENING = About(
    "share of A_ii that is added to a friction row each time that it pivoted too often, until all is settled",
    at_least=0.0,
)

PIVOT_LIMIT = About("pivots of a friction row before `regularisation` is added to it first", at_least=1)
