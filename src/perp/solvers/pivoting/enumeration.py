"""Enumeration: look at every index set (NOTES 5.1; SLIDES, 'Guessing a solution')."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method, State
from perp.solvers.pivoting.all_solutions import IndexSetWalk, find_certificate, gather, number_of_sets, sides_of_rows
from perp.solvers.results import Status

ACCURATE = 1e-12
"""Of all solutions the shortest is returned whose residual is at most this, so that none is spoilt by rounding."""

FEW_SINGULAR = 256
"""With more singular index sets than this, families are not worked out where a solution is known anyway."""

MOST_ROWS, MOST_SETS = 20, 2**22

MOST_WORK = 2e12
"""Additions: an index set costs n^2 of them, and n^3 where the walk begins anew. This is a quarter of an hour."""


@dataclass
class WalkState(State):
    walk: IndexSetWalk


@dataclass(frozen=True)
class Enumeration(Method[WalkState]):
    """Try all 2^n index sets and return the solution of least 2-norm; no class of matrices is asked for, only small n.

    It finds a solution if there is one (`enumerate_solutions` lists all of them), and where there is none it says so;
    for infeasible problems with a certificate. One iteration is one index set. x stays where it was until all are seen.
    """

    name: ClassVar[str] = "enumeration"
    synonyms: ClassVar[tuple[str, ...]] = ("brute force", "exhaustive search", "SICONOS_LCP_ENUM")
    family: ClassVar[str] = "pivoting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({TO_SPARSE})
    requires: ClassVar[str] = "any matrix, with at most 20 rows that can be tight or free, and not too many equations"
    reference: ClassVar[str] = "NOTES 5.1, eq. 36-40; THESIS 2.5.1, eq. 2.37-2.40"
    check_every: ClassVar[int] = 10_000
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = ("index_sets", "solutions")

    def objection(self, problem: Problem) -> str | None:
        sides = sides_of_rows(problem)
        rows, doublings = np.count_nonzero(sides > 1), float(np.log2(sides).sum())
        if rows > MOST_ROWS or number_of_sets(problem) > MOST_SETS:
            return (
                f"it looks at every index set, and {rows} rows have 2^{doublings:.0f} of them; "
                f"it takes at most {MOST_ROWS} rows and 2^22 sets"
            )
        if number_of_sets(problem) * float(problem.n) ** 2 > MOST_WORK or float(problem.n) ** 3 > MOST_WORK / 100:
            return f"{number_of_sets(problem)} index sets of {problem.n} rows, equations included, would take hours"
        return None

    def default_iterations(self, problem: Problem) -> int:
        return number_of_sets(problem)

    def start(self, problem: Problem, x: Vector) -> WalkState:
        counters = {"index_sets": 0.0, "solutions": 0.0}
        return WalkState(x, IndexSetWalk(problem), ends_itself=True, repeatable=False, counters=counters)

    def step(self, problem: Problem, state: WalkState, count: int) -> None:
        walk = state.walk
        state.unused = count - walk.visit(count)
        state.counters = {"index_sets": float(walk.visited), "solutions": float(len(walk.found))}
        if not walk.finished or state.ended is not None:
            return
        solutions = gather(problem, walk, with_families=not walk.found or len(walk.singular) <= FEW_SINGULAR)
        state.counters["solutions"] = float(len(solutions.isolated) + len(solutions.families))
        if solutions.shortest is None:
            seen = "" if solutions.complete else ", as far as singular ones could be looked at"
            state.ended = Status.BREAKDOWN, f"none of the {walk.visited} index sets gives a solution{seen}"
            state.certificate = find_certificate(problem)
            return
        watch = Watch(problem)
        candidates = solutions.by_length + [corner for family in solutions.families for corner in family.vertices]
        residuals = [float(watch.look(np.array(x))[0]) for x in candidates]
        accurate = next((k for k, residual in enumerate(residuals) if residual <= ACCURATE), int(np.argmin(residuals)))
        state.x[:] = candidates[accurate]
        state.ended = Status.REDUCED_ACCURACY, ""  # the loop says CONVERGED if the residual is small enough
