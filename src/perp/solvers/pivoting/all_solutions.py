"""All solutions of small problems: a walk through all index sets, and families of solutions where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from perp.errors import InvalidProblem, MethodRefused
from perp.kernels.pivoting import principal_pivots, small_problems
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import misfit
from perp.solvers.pivoting import enumeration
from perp.solvers.pivoting.families import Family, RowScaled, belongs_to_family, find_families
from perp.solvers.pivoting.scaled_problem import ScaledProblem, Sides, scale_problem, tight_sides

BUFFER = 1024
"""So many solutions, and as many singular sets, are handed over by the kernel at a time."""

MOST_SINGULAR = 2**15
"""Beyond so many consistent singular index sets the families are no longer complete."""

MERGE = 1e-9
"""Two solutions are one when they differ by less than this share of their largest entry."""


def sides_of_rows(problem: Problem) -> NDArray[np.int64]:
    """How many sides each row has to choose from: 1 (fixed, or without bounds), 2 (one bound) or 3 (two bounds)."""
    lower, upper = problem.bounds(problem.b)
    count: NDArray[np.int64] = np.where(
        lower == upper, 1, 1 + np.isfinite(lower).astype(np.int64) + np.isfinite(upper).astype(np.int64)
    )
    return count


def number_of_sets(problem: Problem) -> int:
    return prod(int(sides) for sides in sides_of_rows(problem))


class IndexSetWalk:
    """Visits every index set once. `found` collects the solutions, `singular` the sets whose A_FF is singular.

    A solution is found in the one set in which its free rows are strictly between their bounds.
    """

    scaled: ScaledProblem

    def __init__(self, problem: Problem) -> None:
        self.scaled = scaled = scale_problem(problem)
        first = np.where(np.isfinite(scaled.x_lower), scaled.x_lower, scaled.x_upper)
        unbounded = np.isinf(first)
        side, rest = tight_sides(scaled, np.where(unbounded, 0.0, first))
        wanted = np.where(unbounded, principal_pivots.FREE, side)
        sides = sides_of_rows(problem)
        rows = np.flatnonzero(sides > 1)
        self.data: principal_pivots.Data = principal_pivots.Data(scaled.A, scaled.b, scaled.lower, scaled.upper)
        self.tableau: principal_pivots.Tableau = principal_pivots.make_tableau(scaled.A, side, rest)
        self.tableau.depth[:] = np.abs(scaled.A[:: problem.n + 1])
        principal_pivots.evaluate(self.data, self.tableau)
        self.progress: NDArray[np.int64] = np.zeros(small_problems.COUNT, dtype=np.int64)
        self.progress[small_problems.TOTAL] = number_of_sets(problem)
        self.walk: small_problems.Walk = small_problems.Walk(
            wanted,
            rows.astype(np.uint32),
            np.zeros(rows.size, dtype=np.int64),
            sides[rows],
            np.ones(rows.size, dtype=np.int64),
            np.arange(rows.size + 1),
            self.progress,
            np.empty((BUFFER, problem.n)),
            np.empty((BUFFER, problem.n), dtype=np.int8),
        )
        self.found: list[Vector] = []
        self.singular: list[Sides] = []
        self.complete: bool = True
        """Whether every consistent singular set could be kept."""

    @property
    def visited(self) -> int:
        return int(self.progress[small_problems.VISITED])

    @property
    def finished(self) -> bool:
        return self.visited == int(self.progress[small_problems.TOTAL])

    def visit(self, count: int) -> int:
        """Look at the next `count` index sets; return how many there were."""
        done = int(small_problems.visit(count, self.data, self.tableau, self.walk))
        self._collect()
        while done < count and not self.finished:
            done += int(small_problems.visit(count - done, self.data, self.tableau, self.walk))
            self._collect()
        return done

    def _collect(self) -> None:
        """Empty the buffers of the kernel."""
        scaled = self.scaled
        found: Any = np.clip(
            self.walk.found[: self.progress[small_problems.FOUND]] * scaled.scales, scaled.x_lower, scaled.x_upper
        )
        self.found += list(found)
        room = max(MOST_SINGULAR - len(self.singular), 0)
        self.complete = self.complete and self.progress[small_problems.OPEN] <= room
        self.singular += list(self.walk.singular[: min(self.progress[small_problems.OPEN], room)].copy())
        self.progress[small_problems.FOUND] = self.progress[small_problems.OPEN] = 0


@dataclass(frozen=True)
class Solutions:
    """What `enumerate_solutions` returns."""

    isolated: tuple[Vector, ...]
    """Solutions that have no others close by, in the order in which they were found."""
    families: tuple[Family, ...]
    """Polyhedra of solutions, none part of another; they may share borders."""
    index_sets: int
    """How many index sets were looked at: all."""
    complete: bool
    """False where there were so many singular index sets that families may be missing."""

    @property
    def count(self) -> float:
        """How many solutions there are; `math.inf` with families."""
        return inf if self.families else len(self.isolated)

    @property
    def by_length(self) -> list[Vector]:
        """The isolated solutions and the shortest of each family, by rising 2-norm."""
        return sorted([*self.isolated, *(family.shortest for family in self.families)], key=_length)

    @property
    def shortest(self) -> Vector | None:
        """The solution of least 2-norm, the first of equals; None where there is no solution."""
        return next(iter(self.by_length), None)


def enumerate_solutions(problem: Problem) -> Solutions:
    """Every solution of an LCP or boxed LCP, by looking at all its index sets (NOTES 5.1; SLIDES, 'Guessing').

    For each set F of free rows, and of the others at which bound they stand, A_FF x_F = -b_F - A_FT x_T is solved and
    the signs are looked at; 2^n sets for an LCP. From one set to the next a single row changes (a Gray code), so each
    costs n^2 operations. Where A_FF is singular, the solutions of the set may form a polyhedron: a `Family`.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP or BoxLCP is needed")
    reason = misfit(enumeration.Enumeration(), problem)
    if reason is not None:
        raise MethodRefused(f"enumeration refuses: {reason}")
    walk = IndexSetWalk(problem)
    while not walk.finished:  # in portions, so that Ctrl-C acts
        walk.visit(100_000)
    return gather(problem, walk)


def gather(problem: Problem, walk: IndexSetWalk, *, with_families: bool = True) -> Solutions:
    """What a finished walk has found: families first, then the solutions that are part of none.

    Families take long where there are thousands of singular index sets; without them, their corners remain.
    """
    families, points = find_families(problem, walk.singular if with_families else [])
    found = list(walk.found)
    for point in points:
        if not any(np.abs(point - x).max() <= MERGE * np.abs(x).max() for x in found):
            found.append(point)
    if families:
        inside = belongs_to_family(problem, families, found)
        found = [x for x, is_inside in zip(found, inside, strict=True) if not is_inside]
    return Solutions(tuple(found), tuple(families), walk.visited, bool(walk.complete))


def guess_by_cone(problem: Problem, free: Sequence[int], upper: Sequence[int] = ()) -> Vector | None:
    """Test one guess by linear programming: a solution with these rows free, those at their upper bounds and the rest
    at their lower ones; None where there is none.

    For an LCP: is b in the positive cone of the complementarity matrix C (NOTES eq. 38-40, where F is our tight set)?

        C s = b,    C = [I_T  -A_F],    s = (y_T, x_F) >= 0

    For bounds, the tight x move to the right-hand side and s has the bounds of x_F and the signs of y_T. A dense linear
    program for each guess: slow, and independent of every pivot.
    """
    data = RowScaled.of(problem)
    is_free, at_upper = np.isin(np.arange(problem.n), free), np.isin(np.arange(problem.n), upper)
    x = np.where(is_free, 0.0, np.where(at_upper, data.upper, data.lower))
    if not np.isfinite(x).all():
        raise InvalidProblem(
            f"row {np.flatnonzero(~np.isfinite(x))[0]} has no bound on the side where it is to be tight"
        )
    C = np.where(is_free, -data.A, np.eye(problem.n))
    fixed = ~is_free & (data.lower == data.upper)
    low = np.where(is_free, data.lower, np.where(at_upper | fixed, -np.inf, 0.0))
    high = np.where(is_free, data.upper, np.where(at_upper & ~fixed, 0.0, np.inf))
    program = scipy.optimize.linprog(
        np.zeros(problem.n), A_eq=C, b_eq=data.A @ x + data.b, bounds=np.c_[low, high], method="highs"
    )
    if program.status != 0:
        return None
    x[is_free] = program.x[is_free]
    return x


def find_certificate(problem: Problem) -> Vector | None:
    """A proof that no x within its bounds has an admissible slack (`perp.problems.certificates`), if there is one.

    The linear program makes the margin as small as it gets for |u_i| <= 1: A^T u = p - q with p, q >= 0, where p_i x_i
    is greatest at the upper bound and -q_i x_i at the lower one, and neither may be used where that bound is infinite.
    """
    data, n = RowScaled.of(problem), problem.n
    has_lower, has_upper = np.isfinite(data.lower), np.isfinite(data.upper)
    cost = np.concatenate([data.b, np.where(has_upper, data.upper, 0.0), np.where(has_lower, -data.lower, 0.0)])
    low = np.concatenate([np.where(has_lower, 0.0, -1.0), np.zeros(2 * n)])
    high = np.concatenate(
        [np.where(has_upper, 0.0, 1.0), np.where(has_upper, np.inf, 0.0), np.where(has_lower, np.inf, 0.0)]
    )
    program = scipy.optimize.linprog(
        cost,
        A_eq=np.hstack([data.A.T, -np.eye(n), np.eye(n)]),
        b_eq=np.zeros(n),
        bounds=np.c_[low, high],
        method="highs",
    )
    if program.status != 0 or program.fun >= 0.0:
        return None
    u: Vector = program.x[:n]
    least = data.exponent[u != 0.0].min()
    unscaled: Vector = np.ldexp(u, least - data.exponent)
    return unscaled


def _length(x: Vector) -> float:
    return float(np.linalg.norm(x))
