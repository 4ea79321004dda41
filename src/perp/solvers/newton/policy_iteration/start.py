"""Where policies begin on a grid: at the answer of coarser grids, on which policies are taken, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.nested_start import nested_start
from perp.solvers.newton.policy_iteration.state import PolicyState

if TYPE_CHECKING:
    from perp.solvers.newton.policy_iteration.policy_iteration import PolicyIteration

MOST_POLICIES = 40
"""On a coarser grid; each costs little there, and a start that is not settled costs more policies on the finest."""

SHARE = 16
"""What a coarser grid may cost, in iterations of conjugate gradients on the finest one. Nobody can interrupt a start,
so it must be quick beside a policy or two, even where equations are hard to solve."""


FAR = 1e-12
"""Bias and bounds that are a smaller share of x than this: x has run off, as it may where there is no solution."""


def begin_nested(problem: Problem, state: PolicyState, method: PolicyIteration) -> None:
    """Move the point to what coarser grids say, unless the x that was given is better."""
    state.is_new = False

    def answer(coarse: Problem, x: Vector) -> Vector:
        """Policies until one stays, or enough was done."""
        most = SHARE * problem.n // coarse.n
        inner = replace(method, initial="given", inner_limit=min(method.inner_limit or most, most))
        at = inner.start(coarse, x)
        for _ in range(MOST_POLICIES):
            inner.step(coarse, at, 1)
            if at.ended is not None or at.is_settled or at.counters["inner_iterations"] >= most:
                break
        state.counters["coarse_inner_iterations"] += at.counters["inner_iterations"]
        return at.x

    found = nested_start(problem, state.x, answer)
    if found is not state.x and not _runs_off(found, state):
        state.begin_at(problem, found)


def _runs_off(x: Vector, state: PolicyState) -> bool:
    """Whether x is beyond all that the problem is made of: there its slack would be made of rounding errors."""
    largest = FAR * float(np.abs(x).max(initial=0.0))
    if largest <= state.bias:
        return False
    return all(largest > np.abs(bound[np.isfinite(bound)]).max(initial=0.0) for bound in (state.lower, state.upper))
