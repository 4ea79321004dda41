"""Where policies begin on a grid: at the answer of coarser grids, on which policies are taken, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.nested_start import nested_start
from perp.solvers.newton.policy_iteration_state import PolicyState

if TYPE_CHECKING:
    from perp.solvers.newton.policy_iteration import PolicyIteration

MOST_POLICIES = 40
"""On a coarser grid; each costs little there, and a start that is not settled costs more policies on the finest."""


def begin_nested(problem: Problem, state: PolicyState, method: PolicyIteration) -> None:
    """Move the point to what coarser grids say, unless the x that was given is better."""
    state.is_new = False
    inner = replace(method, initial="given")

    def answer(coarse: Problem, x: Vector) -> Vector:
        """Policies until one stays."""
        at = inner.start(coarse, x)
        for _ in range(MOST_POLICIES):
            inner.step(coarse, at, 1)
            if at.ended is not None or at.is_settled:
                break
        state.counters["coarse_inner_iterations"] += at.counters["inner_iterations"]
        return at.x

    found = nested_start(problem, state.x, answer)
    if found is not state.x:
        state.begin_at(problem, found)
