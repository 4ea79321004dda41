"""LCPs and boxed problems: index sets that an approximate answer points at, and what is tried where they are wrong.

Rows with a wrong sign change sides a few times. Where rows are degenerate (x_i at a bound, y_i = 0) and depend on one
another, sets that rounding errors decide on follow each other without end; then the proximal problem is solved,

    y + S (x - c) in the place of y,      c the best point so far, S = share |A_ii| (Rockafellar 1976),

whose index set is well determined and whose solution leaves S |x - c|: less for each smaller share.
"""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.polishing.best import BestPoint
from perp.solvers.polishing.index_set import IndexSets, Proximity
from perp.solvers.polishing.sets import Sides, guess_sides, repair

ROUNDS, PROXIMAL_ROUNDS = 5, 8
"""Index sets that are tried from one guess."""

MOST_ROUNDS = 60
"""Index sets in all."""

SHARES = (1e-4, 1e-7, 1e-10)
"""Of A_ii in a proximal problem.

Chosen on 162 degenerate piles, stacks and random matrices, of which 103 end below 1e-12 without, and all with them;
of 162 others (new seeds) 161 do.
"""

CENTRES = 10
"""Proximal problems with one share at most; each must halve the residual."""

LEAST_ENTRY = 1e-3
"""Diagonal entries below this share of the largest count as that, so that rows without one have a proximity, too."""


def polish_rows(problem: Problem, best: BestPoint) -> str:
    """Improves on the best point where it can; says in a sentence what was done."""
    lower, upper = problem.bounds(best.x)
    sets = IndexSets(problem, best, lower, upper)
    tried: set[bytes] = set()
    for sides in guess_sides(problem, lower, upper, best.x, best.y, best.residual):
        if _follow(sets, best, sides, tried) or best.is_enough:
            return sets.tell()
    if problem.diagonal is not None:
        for share in SHARES:
            _approach(sets, best, problem, share)
    return sets.tell()


def _approach(sets: IndexSets, best: BestPoint, problem: Problem, share: float) -> None:
    """Proximal problems around the best point, as long as that halves the residual."""
    assert problem.diagonal is not None
    size = np.abs(problem.diagonal)
    shift = share * np.maximum(size, LEAST_ENTRY * (size.max() or 1.0))
    for _ in range(CENTRES):
        if not best.is_promising or best.is_late or best.rounds >= MOST_ROUNDS:
            return
        before, near = best.residual, Proximity(best.x, shift)
        y = problem.A.slack(best.x, problem.b, np.empty(problem.n))
        sides = next(guess_sides(problem, sets.lower, sets.upper, best.x, y, before))
        _follow(sets, best, sides, set(), near)
        if not best.residual <= 0.5 * before:
            return


def _follow(sets: IndexSets, best: BestPoint, sides: Sides, tried: set[bytes], near: Proximity | None = None) -> bool:
    """From set to set, until all signs are right (True), or nothing new comes."""
    for _ in range(ROUNDS if near is None else PROXIMAL_ROUNDS):
        key = sides.tobytes()
        if key in tried or best.is_late or best.rounds >= MOST_ROUNDS:
            return False
        tried.add(key)
        best.rounds += 1
        found: tuple[Vector, Vector] | None = sets.solve(sides, near)
        if found is None or best.is_enough:
            return False
        wanted = repair(sides, sets.lower, sets.upper, *found)
        if np.array_equal(wanted, sides):
            return True
        sides = wanted
    return False
