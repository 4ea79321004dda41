"""`prove`: a solution exists, and lies in this box; and the `Proof` that says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from perp.problems.inputs import PointLike, Vector, as_vector, freeze, require_count
from perp.problems.problem import Problem
from perp.problems.proofs.enclosure import enclose, refine
from perp.problems.proofs.error_bounds import definite_bounds, p_matrix_bounds
from perp.problems.proofs.exact_solution import outward, solve_on_index_sets
from perp.problems.proofs.laws import Rows, equilibrated, rows_of
from perp.problems.proofs.matrix_tests import (
    Orientation,
    balanced,
    find_orientation,
    is_exactly_definite,
    positive_witness,
    smallest_eigenvalue,
)
from perp.problems.rounding import add_down, add_up

SHOWN = 6
"""Rows of the box that are printed."""

MOST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Proof:
    """The outcome of `prove`; where `exists` is False nothing is claimed, neither that there is no solution."""

    exists: bool
    """Whether it is proved that a solution lies in the box."""
    lower: Vector | None
    """lower_i <= x*_i <= upper_i for a solution x*; None without a proof."""
    upper: Vector | None
    radius: float
    """max |x_i - x*_i| is at most this, for the x that was given; inf without a proof."""
    exact: tuple[Fraction, ...] | None
    """The solution itself, where exact arithmetic was used."""
    unique: bool | None
    """True: proved to be the only solution of the problem. False: proved to be one of many. None: not known."""
    unique_in_box: bool | None
    """True: proved to be the only one in the box. None: not known."""
    how: str
    """What the proof rests on, in a sentence; empty without one."""
    reason: str
    """Why there is no proof; empty where there is one."""

    @property
    def width(self) -> float:
        """The largest width of the box; inf without a proof."""
        if self.lower is None or self.upper is None:
            return np.inf
        return float(np.max(self.upper - self.lower, initial=0.0))

    @property
    def relative_width(self) -> float:
        """The largest width of an entry as a share of its magnitude; 0 for entries known exactly."""
        if self.lower is None or self.upper is None:
            return np.inf
        width = self.upper - self.lower
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return float(np.max(np.divide(width, size, out=np.zeros_like(width), where=size > 0.0), initial=0.0))

    def __str__(self) -> str:
        if not self.exists or self.lower is None or self.upper is None:
            return f"no proof: {self.reason}"
        only = {True: "it is the only solution", False: "there are others beside it", None: ""}[self.unique]
        if not only:
            only = "there is no other in the box" if self.unique_in_box else "whether there are others is not known"
        lines = [
            f"proved: a solution lies within {self.radius:.3g} of x, in a box of width {self.width:.3g}; {only}",
            f"   how: {self.how}",
        ]
        for i in range(min(self.lower.size, SHOWN)):
            value = f"  = {self.exact[i]}" if self.exact is not None and len(str(self.exact[i])) <= 40 else ""
            lines.append(f"  x[{i}] in [{float(self.lower[i])!r}, {float(self.upper[i])!r}]{value}")
        if self.lower.size > SHOWN:
            lines.append(f"  ... and {self.lower.size - SHOWN} more")
        return "\n".join(lines)


def no_proof(reason: str) -> Proof:
    """A proof that failed."""
    return Proof(False, None, None, np.inf, None, None, None, "", reason)


def prove(problem: Problem, x: PointLike, *, max_rows: int = MOST_ROWS, exact: bool = False) -> Proof:
    """Prove that a solution exists near x (a vector or a `Result`), and enclose it in a box.

    Three ways are tried in turn: Krawczyk's test on the pieces that x identifies (`enclosure`); where float64 cannot
    decide, exact rational arithmetic on the index set of x, or on those near it (`exact_solution`, up to 60 unknowns);
    and where A is proved to be positive definite, an H+- or a P-matrix, so that a solution exists, its error bound.
    `exact=True` asks for the exact solution first.

    For LCPs and boxed LCPs, and contacts whose law is piecewise linear (box friction; any cone in two dimensions, but
    not the convex model). A and b are the rational numbers that their float64 entries are; of a factored operator or a
    stencil, the float64 matrix that `problem.A.to_dense()` gives is meant.

    Where nothing is proved `reason` says why; it never means that there is no solution.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    require_count(max_rows, "max_rows")
    point = np.array(as_vector(getattr(x, "x", x), "x", problem.n))
    if problem.n > max_rows:
        return no_proof(f"the problem has {problem.n} rows, more than max_rows = {max_rows}")
    given = rows_of(problem)
    if isinstance(given, str):
        return no_proof(given)
    with np.errstate(all="ignore"):  # overflow shows in the numbers, and proves nothing
        return _prove(given, point, exact)


def _prove(given: Rows, x: Vector, exact: bool) -> Proof:
    rows = equilibrated(given)
    unique, because = _uniqueness(given, rows)
    refined = refine(rows, x)
    ways = (_by_exact_arithmetic, _by_enclosure) if exact else (_by_enclosure, _by_exact_arithmetic)
    reasons = []
    for way in ways:
        proof = way(rows, x, refined)
        if proof.exists:
            if unique:
                proof = replace(proof, unique=True, unique_in_box=True, how=f"{proof.how}; {because}")
            return proof
        reasons.append(proof.reason)
    if unique:
        proof = _by_error_bound(given, x, because)
        if proof.exists:
            return proof
        reasons.append(proof.reason)
    return no_proof("; ".join(reasons))


def _by_enclosure(rows: Rows, x: Vector, refined: tuple[Vector, Vector] | None) -> Proof:
    if refined is None:
        return no_proof("the equations of the index set of x are singular")
    found = enclose(rows, refined)
    if isinstance(found, str):
        return no_proof(found)
    how = "Krawczyk's test holds on the index set of x"
    if found.degenerate:
        how += f", with {found.degenerate} degenerate rows taken both ways"
    return _proof(x, found.lower, found.upper, how, unique_in_box=found.is_alone or None)


def _by_exact_arithmetic(rows: Rows, x: Vector, refined: tuple[Vector, Vector] | None) -> Proof:
    start = x if refined is None else refined[0]
    found = solve_on_index_sets(rows, start)
    if isinstance(found, str):
        return no_proof(found)
    box = np.array([outward(value) for value in found.x]).reshape(-1, 2)
    proof = _proof(x, box[:, 0].copy(), box[:, 1].copy(), "the exact rational solution on the index set of x")
    unique = False if found.has_neighbours else True if found.is_alone else None
    return replace(proof, exact=found.x, unique=unique, unique_in_box=unique or None)


def _by_error_bound(given: Rows, x: Vector, because: str) -> Proof:
    bounds = [f for f in (*definite_bounds(given, x), *p_matrix_bounds(given, x)) if f.proved and np.isfinite(f.bound)]
    if not bounds:
        return no_proof(f"a solution exists ({because}), but no bound of its distance could be computed")
    radius = np.full(x.size, min(f.bound for f in bounds))
    for f in bounds:
        radius = radius if f.entries is None else np.minimum(radius, f.entries)
    lower = np.maximum(add_down(x, -radius), given.lower)
    upper = np.minimum(add_up(x, radius), given.upper)
    proof = _proof(x, lower, upper, f"{because}, and the error bound of such matrices", unique_in_box=True)
    return replace(proof, unique=True)


def _proof(x: Vector, lower: Vector, upper: Vector, how: str, unique_in_box: bool | None = None) -> Proof:
    radius = float(np.maximum(add_up(x, -lower), add_up(upper, -x)).max(initial=0.0)) + 0.0  # no -0.0
    return Proof(True, freeze(lower), freeze(upper), radius, None, None, unique_in_box, how, "")


def _uniqueness(given: Rows, rows: Rows) -> tuple[bool, str]:
    """Whether A is proved to be of a class for which every problem with these bounds has exactly one solution."""
    if given.follows.any():
        return False, ""
    moving = ~given.fixed  # a fixed x only shifts b for the others
    inner = np.ix_(moving, moving)
    if positive_witness(rows.A[inner]) is not None:
        return True, "A is an H+-matrix, so there is exactly one solution"
    A = given.A[inner]
    if smallest_eigenvalue(balanced(A)) > 0.0:
        return True, "A is positive definite, so there is exactly one solution"
    free = np.isinf(given.lower) & np.isinf(given.upper)
    if isinstance(find_orientation(rows.A, free, given.fixed), Orientation):
        return True, "all pieces of the natural map have one orientation (P-matrix), so there is exactly one solution"
    if (A.diagonal() > 0.0).all() and is_exactly_definite(A):
        return True, "A is positive definite in exact arithmetic, so there is exactly one solution"
    return False, ""
