"""A complementarity problem with symmetric A, stated as a quadratic program, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.linalg.free_systems.body import movable_parts
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator
from perp.problems.operators.masses import DiagonalMass
from perp.problems.problem import Problem
from perp.solvers.reformulation.statement import Guess, Multipliers, Statement
from perp.solvers.scaling import symmetric_scales

SPACES = ("auto", "assembled", "body")

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Encoding:
    """The statement, and what its unknowns mean: x = fixed + scale z in `rows`, which are the last entries of z."""

    statement: Statement
    fixed: Vector
    """The values of x in rows with lower == upper, and zeros."""
    rows: Rows
    """The other rows."""
    scale: Vector

    def recover(self, z: Vector) -> Vector:
        """The x that z stands for."""
        return self.fixed + self.recover_direction(z)

    def recover_direction(self, z: Vector) -> Vector:
        """How x changes along z."""
        x = np.zeros(self.fixed.size)
        x[self.rows] = self.scale * z[z.size - self.rows.size :]
        return x


def encode(problem: Problem, space: str, x: Vector | None, *, full: bool = False) -> Encoding:
    """State the problem in the space asked for ("auto": in body space where A is factored and has fewer velocities).

        assembled:   z = x        min 1/2 x^T A x + b^T x                                        (NOTES eq. 21, 53)
        body:        z = (v, x)   min 1/2 v^T M v + 1/2 x^T C x + b^T x   subject to   M v = J^T x

    both with lower <= x <= upper. They have the same solutions, as v^T M v = x^T J M^-1 J^T x; the second has no A.

    Rows with lower == upper are known and left out. Where rows have an extreme diagonal entry (`Problem.row_scales`),
    those rows are scaled symmetrically by powers of two, and the whole program so that its linear part is near 1.
    `x` is where to start, for solvers that can; `full` asks for a full matrix whatever the form of A.
    """
    lower, upper = problem.bounds(problem.b)
    is_fixed = lower == upper
    fixed = np.where(is_fixed, lower, 0.0)
    rows = np.flatnonzero(~is_fixed)
    bias = problem.A.slack(fixed, problem.b, np.empty(problem.n))[rows]
    scale, size = _find_scales(problem, rows, bias)
    limits = lower[rows] / (scale * size), upper[rows] / (scale * size)
    z, at_bounds = np.zeros(0), np.zeros(0)
    if x is not None:
        z, at_bounds = x[rows] / (scale * size), _bound_multipliers(problem, x)[rows] * scale / size
    A = problem.A.factored
    if A is not None and chooses_body_space(problem, space, full):
        J, M, moves = moving_parts(A)
        anywhere, nothing = np.full(moves.size, np.inf), np.zeros(moves.size)
        guess = None
        if x is not None:
            v = A.velocity(x)[moves] / size
            guess = Guess(np.concatenate([v, z]), Multipliers(-v, np.zeros(0), np.concatenate([nothing, at_bounds])))
        statement = Statement(
            P=sparse.csc_matrix(sparse.block_diag([M, sparse.diags_array(A.compliance[rows] * scale**2)])),
            c=np.concatenate([nothing, problem.b[rows] * scale / size]),
            E=sparse.csc_matrix(sparse.hstack([M, -(J[rows].T @ sparse.diags_array(scale))])),
            e=J.T @ fixed / size,
            G=sparse.csc_matrix((0, moves.size + rows.size)),
            h=np.zeros(0),
            lower=np.concatenate([-anywhere, limits[0]]),
            upper=np.concatenate([anywhere, limits[1]]),
            guess=guess,
        )
    else:
        none, nothing = sparse.csc_matrix((0, rows.size)), np.zeros(0)
        guess = None if x is None else Guess(z, Multipliers(nothing, nothing, at_bounds))
        P = _scaled_matrix(problem, rows, scale, full)
        statement = Statement(P, bias * scale / size, none, nothing, none, nothing, *limits, guess)
    return Encoding(statement, fixed, rows, scale * size)


def chooses_body_space(problem: Problem, space: str, full: bool) -> bool:
    """What "auto" means: body space has as many unknowns more as there are velocities, but no product J M^-1 J^T."""
    A = problem.A.factored
    if space != "auto" or A is None:
        return space == "body"
    return not full and A.mass.dofs < problem.n


def moving_parts(A: FactoredOperator) -> tuple[sparse.csr_array, sparse.csr_array, Rows]:
    """J and M of the velocities that can change, and which these are; for bodies that cannot move see there."""
    if isinstance(A.mass, DiagonalMass):
        moves = np.flatnonzero(np.isfinite(A.mass.m))
        return A.J[:, moves], sparse.diags_array(A.mass.m[moves]), moves
    J, M = movable_parts(A)
    return J, M, np.arange(M.shape[0])


def _find_scales(problem: Problem, rows: Rows, bias: Vector) -> tuple[Vector, float]:
    """Powers of two for the rows, and one for the whole; ones where no row is extreme."""
    extreme = problem.row_scales != 1.0
    if not extreme.any():
        return np.ones(rows.size), 1.0
    scale = np.where(extreme, symmetric_scales(problem), 1.0)[rows]
    largest = np.abs(bias * scale).max(initial=0.0)
    usable = 0.0 < largest < np.inf
    return scale, float(np.exp2(np.rint(np.log2(largest)))) if usable else 1.0


def _scaled_matrix(problem: Problem, rows: Rows, scale: Vector, full: bool) -> Any:
    """The rows and columns of A that are left, scaled from both sides."""
    A, everything = problem.A, rows.size == problem.n
    if full or A.is_dense:
        dense = A.array()
        dense = dense if everything else dense[np.ix_(rows, rows)]
        return dense if (scale == 1.0).all() else (dense * scale[:, None]) * scale
    matrix = A.to_sparse()
    matrix = matrix if everything else matrix[rows][:, rows]
    return sparse.csc_matrix(sparse.diags_array(scale) @ matrix @ sparse.diags_array(scale))


def _bound_multipliers(problem: Problem, x: Vector) -> Vector:
    lower, upper = problem.bounds(x)
    return np.where((x > lower) & (x < upper), 0.0, -problem.slack(x))
