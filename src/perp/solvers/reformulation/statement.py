"""Convex programs, stated once for all the solvers that they may be handed to.

A quadratic program (`Statement`) is

    min 1/2 z^T P z + c^T z    subject to    E z = e,    G z <= h,    lower <= z <= upper

Multipliers have the signs of   P z + c + E^T equations + G^T inequalities + bounds = 0,   with inequalities >= 0, and
bounds <= 0 where z is at its lower bound, >= 0 where it is at its upper one. A `ConeStatement` has second-order cones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.box import checked_bounds
from perp.problems.inputs import Vector, as_matrix, as_vector


@dataclass(frozen=True)
class Multipliers:
    """One number a constraint, by kind; the signs are those of the module."""

    equations: Vector
    inequalities: Vector
    bounds: Vector


@dataclass(frozen=True)
class Guess:
    """Where to start from, for solvers that can; interior-point methods cannot."""

    z: Vector
    multipliers: Multipliers


@dataclass(frozen=True)
class Statement:
    """The data of one program. `make_statement` checks what a caller has; P is an array where it is full."""

    P: sparse.csc_matrix | NDArray[np.float64]
    c: Vector
    E: sparse.csc_matrix
    e: Vector
    G: sparse.csc_matrix
    h: Vector
    lower: Vector
    upper: Vector
    guess: Guess | None = None

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.c.size

    @property
    def is_dense(self) -> bool:
        """Whether P is held as a full matrix."""
        return isinstance(self.P, np.ndarray)

    def sparse_P(self) -> sparse.csc_matrix:
        return sparse.csc_matrix(self.P)

    def dense_P(self) -> NDArray[np.float64]:
        return self.P if isinstance(self.P, np.ndarray) else np.asarray(self.P.toarray())

    def bounded(self) -> NDArray[np.intp]:
        """The unknowns that have a bound at all."""
        return np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper))


def make_statement(
    P: Any,
    c: Any,
    *,
    E: Any = None,
    e: Any = None,
    G: Any = None,
    h: Any = None,
    lower: Any = -np.inf,
    upper: Any = np.inf,
    guess: Guess | None = None,
) -> Statement:
    """From arrays or SciPy sparse arrays; what is not given is not there. Raises InvalidProblem on what does not fit.

    P must be symmetric and positive semidefinite, which is not checked: it would cost as much as to solve.
    """
    linear = as_vector(c, "c")
    n = linear.size
    quadratic = sparse.csc_matrix(P) if sparse.issparse(P) else as_matrix(P, "P")
    if quadratic.shape != (n, n):
        raise InvalidProblem(f"P has shape {quadratic.shape}, but c has length {n}")
    low, high = checked_bounds(lower, upper, n)
    equations, right = _checked_rows(E, e, n, "E", "e")
    inequalities, limit = _checked_rows(G, h, n, "G", "h")
    return Statement(quadratic, linear, equations, right, inequalities, limit, low, high, guess)


def _checked_rows(matrix: Any, right: Any, n: int, name: str, right_name: str) -> tuple[sparse.csc_matrix, Vector]:
    if matrix is None and right is None:
        return sparse.csc_matrix((0, n)), np.zeros(0)
    if matrix is None or right is None:
        raise InvalidProblem(f"{name} and {right_name} are given together or not at all")
    rows = sparse.csc_matrix(matrix if sparse.issparse(matrix) else as_matrix(matrix, name))
    if rows.shape[1] != n:
        raise InvalidProblem(f"{name} has {rows.shape[1]} columns, but there are {n} unknowns")
    side = as_vector(right, right_name)
    if side.size != rows.shape[0]:
        raise InvalidProblem(f"{right_name} has length {side.size}, but {name} has {rows.shape[0]} rows")
    return rows, side


@dataclass(frozen=True)
class ConeStatement:
    """A quadratic program over second-order cones, in arrays alone:

        min 1/2 z^T P z + c^T z   subject to   rows z + s = right,   s in {0}^equations x R+^inequalities x L x ... x L,

    where L = {(t, w): |w| <= t} has `width` entries. Multipliers d of the rows are in the dual cones (any, >= 0, L),
    with P z + c + rows^T d = 0.
    """

    P: sparse.csc_matrix
    """Its upper triangle."""
    c: Vector
    rows: sparse.csc_matrix
    right: Vector
    equations: int
    inequalities: int
    cones: int
    width: int

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.c.size
