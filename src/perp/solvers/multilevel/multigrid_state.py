"""Where projected multigrid stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.multilevel.level_space import LevelSpace, Mask


@dataclass
class MultigridState(State):
    space: LevelSpace
    y: Vector
    free: Mask
    """All rows but those at a bound whose slack keeps them there."""
    d: Vector
    """The correction from the coarse levels, projected; later what is added to the whole way of a cycle."""
    way: Vector
    """x before a cycle, and after it the way from there; only where cycles are accelerated."""
    last: Vector
    """The way of the cycle before, 0 where rows are no longer free; the other direction of the search."""
    lower: Vector
    upper: Vector
    is_new: bool
    """Whether the nested start is still to come."""
    length: float
    """What is proposed of a correction, beside what the coarse levels say."""
    gain: float = np.inf
    """-y^T d of the last correction d: twice what it may lower f by."""
    is_slow: bool = False
    done: int = 0
    next_look: int = 1
    """The cycle in which closed regions are looked at again."""

    @staticmethod
    def begin(
        problem: Problem, x: Vector, space: LevelSpace, length: float, counted: tuple[str, ...]
    ) -> MultigridState:
        n = problem.n
        lower, upper = problem.bounds(x)
        return MultigridState(
            x,
            space=space,
            y=np.empty(n),
            free=np.zeros(n, dtype=np.bool_),
            d=np.empty(n),
            way=np.empty(n),
            last=np.zeros(n),
            lower=lower,
            upper=upper,
            is_new=False,
            length=length,
            repeatable=False,
            counters=dict.fromkeys(counted, 0.0),
        )
