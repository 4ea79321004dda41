"""The two halves of staggering: the normal problem with the friction impulses known, and the other way round.

Both hold the rows after the contacts (joints, limits) as well, so that a fixed point satisfies every row. A half with
the rows R and a matrix S is posed at the present x as

    S x_R + c,        c = y_R - S x_R,      y = A x + b,

so that what the other half does enters through one product with all of A. With S = A_RR this is NOTES eq. 110. But any
S has the same fixed points: at x itself the slack is y_R. That serves twice. An A that is not quite symmetric has the
symmetric part of A_RR for S, so that convex methods can be named for it. And the normal problem is made definite:
S = A_nn + proximal diag(A_nn) keeps redundant contacts from sharing out the load anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.lcp import LCP
from perp.problems.operators import DenseOperator, Operator, SparseOperator
from perp.problems.problem import Problem

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Half:
    """Some rows of a contact problem, and the matrix that stands for A between them."""

    rows: NDArray[np.intp]
    S: Operator

    def right_hand_side(self, x: Vector, y: Vector) -> Vector:
        """c = y_R - S x_R."""
        part = x[self.rows]
        return y[self.rows] - self.S.apply(part)


@dataclass(frozen=True)
class NormalHalf(Half):
    """0 <= x_n  ⊥  y_n >= 0 with the friction impulses known (NOTES eq. 110a), and the rows after the contacts."""

    lower: Vector
    upper: Vector

    @staticmethod
    def of(problem: ContactProblem, proximal: float) -> NormalHalf:
        rows = np.concatenate([problem.normal_rows, _others(problem)])
        lower, upper = (bound[rows] for bound in problem.bounds(np.zeros(problem.n)))
        added = np.zeros(rows.size)
        if proximal > 0.0:
            added[: problem.contacts] = proximal * np.abs(problem.A.diagonal()[problem.normal_rows])
        return NormalHalf(rows, restrict(problem.A, rows, added), lower, upper)

    def pose(self, problem: ContactProblem, x: Vector, y: Vector) -> tuple[Problem, Vector]:
        """The problem, and the start for it."""
        c = self.right_hand_side(x, y)
        if problem.n == problem.contact_rows:
            return LCP(self.S, c), x[self.rows]
        return BoxLCP(self.S, c, self.lower, self.upper), x[self.rows]


@dataclass(frozen=True)
class BoxHalf(Half):
    """|x_t| <= friction x_n, tangent by tangent, with the normal impulses known (PGS-SM 5.1)."""

    @staticmethod
    def of(problem: ContactProblem) -> BoxHalf:
        tangents = np.flatnonzero(np.arange(problem.contact_rows) % problem.dimension)
        rows = np.concatenate([tangents, _others(problem)])
        return BoxHalf(rows, restrict(problem.A, rows, np.zeros(rows.size)))

    def pose(self, problem: ContactProblem, x: Vector, y: Vector) -> tuple[Problem, Vector]:
        lower, upper = (bound[self.rows] for bound in problem.bounds(x))
        return BoxLCP(self.S, self.right_hand_side(x, y), lower, upper), x[self.rows]


@dataclass(frozen=True)
class DiscHalf(Half):
    """|(x_p, x_q)| <= friction x_n, pair by pair, with the normal impulses known: the model `disc`.

    Its normal rows are there for the form only: they are coupled with nothing, and zero solves them.
    """

    @staticmethod
    def of(problem: ContactProblem) -> DiscHalf:
        return DiscHalf(np.arange(problem.n), detach_normals(problem))

    def pose(self, problem: ContactProblem, x: Vector, y: Vector) -> tuple[Problem, Vector]:
        normals = problem.normal_rows
        start = x.copy()
        start[normals] = 0.0
        c = self.right_hand_side(start, y)
        c[normals] = 0.0
        limits = np.minimum(problem.tangent_limits(x), LARGEST)  # a disc has a finite radius
        discs = ContactProblem(self.S, c, limits, "disc", lower=problem.lower, upper=problem.upper)
        return discs, start


FrictionHalf = BoxHalf | DiscHalf


def friction_half(problem: ContactProblem) -> FrictionHalf:
    return DiscHalf.of(problem) if problem.has_discs else BoxHalf.of(problem)


def restrict(A: Operator, rows: NDArray[np.intp], added: Vector) -> Operator:
    """A between these rows, its symmetric part, plus diag(added); factored where A is, and of body pairs where A is."""
    if A.factored is not None:
        return A.factored.masked(rows, A.factored.compliance[rows] + added)
    part = A.submatrix(rows, rows)
    if sparse.issparse(part):
        return SparseOperator(0.5 * (part + part.T) + sparse.diags_array(added))
    return DenseOperator(0.5 * (part + part.T) + np.diag(added))


def detach_normals(problem: ContactProblem) -> Operator:
    """A without what couples the normals of contacts with any row; their diagonal is that of the tangents' mean."""
    A, normals = problem.A, problem.normal_rows
    diagonal = np.abs(A.diagonal())
    own = np.zeros(problem.n)
    own[normals] = 0.5 * (diagonal[normals + 1] + diagonal[normals + 2])
    own[normals[own[normals] == 0.0]] = 1.0
    stays = np.ones(problem.n)
    stays[normals] = 0.0
    every = np.arange(problem.n)
    if A.factored is not None:
        return A.factored.masked(every, A.factored.compliance * stays + own, stays)
    part = A.submatrix(every, every)
    if sparse.issparse(part):
        keep = sparse.diags_array(stays)
        return SparseOperator(keep @ (0.5 * (part + part.T)) @ keep + sparse.diags_array(own))
    return DenseOperator(0.5 * (part + part.T) * np.outer(stays, stays) + np.diag(own))


def _others(problem: ContactProblem) -> NDArray[np.intp]:
    return np.arange(problem.contact_rows, problem.n)
