"""The last digits: an approximate answer made exact on the index set that it points at.

Where x is near a solution, it tells which rows lie between their bounds and which at one of them; what is left is one
linear system,

    x_T = bound_T,      A_FF x_F = -(b_F + A_FT x_T),      F the free rows, T those at a bound (THESIS eq. 2.40),

whose answer is as good as rounding errors allow. It is solved for a correction of the x that was given, so that of the
many solutions of a singular A_FF (redundant contacts) one nearby is found, and refined (Skeel 1980). Contact laws have
Newton's equation in the place of the linear system. `rows` and `contacts` say how.

What can be reached: y = A x + b has rounding errors of about 2^-53 (|A| |x| + |b|), and the residual is no smaller.
Sums of more digits would not change that, as x itself is rounded to 53 binary digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from perp.errors import OperatorFault
from perp.problems.deadline import OutOfTime, hold, now
from perp.problems.inputs import Vector, as_vector, freeze
from perp.problems.problem import Problem
from perp.problems.written_out import write_out
from perp.solvers.polishing.best import BestPoint
from perp.solvers.polishing.contacts import polish_contacts
from perp.solvers.polishing.rows import polish_rows

MOST_PRODUCTS = 200
"""Rows up to which an A that is only a product is written out; beyond, Krylov methods need fewer products."""


@dataclass(frozen=True, eq=False)
class Polished:
    """A better answer, and how it was found."""

    x: Vector
    """Within its bounds, read-only."""
    residual: float
    """As `perp.verify` measures it; smaller than that of the x that was given."""
    rounds: int
    """Linear systems that were set up: index sets, or Newton steps."""
    how: str
    """A sentence."""


def polish(problem: Problem, x: Vector, *, max_seconds: float = inf) -> Polished | None:
    """A better answer near x, or None where there is none to be found: x solves the problem as well as can be, is too
    far from a solution, or the linear system would take longer than `max_seconds`.

    x is projected on its bounds first. Nothing is ever made worse, and numbers that break down are no error.
    """
    begun = now()
    given = np.array(as_vector(x, "x", problem.n))
    if isnan(max_seconds):
        raise ValueError("max_seconds is nan; a number of seconds is needed")
    if problem.n == 0 or not max_seconds > 0.0:
        return None
    best = None
    how = "the time was over before all was tried"
    with np.errstate(all="ignore"), hold(begun + max_seconds) as deadline:
        try:
            best = BestPoint(problem, given, deadline)
            if best.is_perfect:
                return None
            known = write_out(problem, MOST_PRODUCTS)
            contacts = known.frictional
            how = polish_rows(known, best) if contacts is None else polish_contacts(contacts, best)
        except OperatorFault:
            return None
        except OutOfTime:
            pass
    if best is None or not best.is_better:
        return None
    return Polished(freeze(best.x), best.residual, best.rounds, how)
