"""Where a policy iteration stands: the solution of the last policy's equations, and what its rows want now."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perp.kernels.measures import index_sets
from perp.kernels.newton import minimum_map
from perp.linalg.krylov import Solution
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.policy_iteration.equation import FreeEquation, Mask
from perp.solvers.results.status import Status

Sets = NDArray[np.int8]
"""-1 at the lower bound, 0 free, 1 at the upper bound (`perp.kernels.measures.index_sets`)."""

EPSILON = 16.0 * 2.0**-52
"""Rounding errors of x and of y / A_ii, as a share of the largest of these numbers."""


@dataclass
class PolicyState(State):
    point: Vector
    """What solves the equations of the policy; x is the nearest point within the bounds."""
    y: Vector
    sets: Sets
    wanted: Sets
    free: Mask
    weight: Vector
    """1 / A_ii."""
    lower: Vector
    upper: Vector
    equation: FreeEquation
    is_new: bool
    """Whether the nested start is still to come."""
    bias: float = 0.0
    """max |b_i / A_ii|."""
    largest: float = 0.0
    """max |x|, for the size of rounding errors."""
    residual: float = 0.0
    """What the equations of the policy had left before they were last solved."""
    known: bool = False
    """Whether y is that of the point."""
    least: int = -1
    """The fewest rows that ever wanted to change; -1: nobody was asked yet."""
    is_exact: bool = False
    is_single: bool = False
    stuck: int = 0
    seen: dict[int, float] = field(default_factory=dict)
    """Policies by their fingerprint, and the residual that they had."""
    seen_single: set[int] = field(default_factory=set)

    def load_kernels(self, problem: Problem) -> None:
        """Call what a step calls, on copies."""
        problem.A.slack(self.point, problem.b, self.y)
        minimum_map.choose(self.point, self.y, self.lower, self.upper, self.weight, 0.0, self.sets, self.wanted)
        minimum_map.place(self.sets.copy(), self.lower, self.upper, self.point.copy(), self.free)
        index_sets.fingerprint(self.sets)

    def begin_at(self, problem: Problem, x: Vector) -> None:
        """Begin at this x within the bounds."""
        self.x[:] = self.point[:] = x
        placed = (self.point, self.lower, self.upper, self.weight, problem.b, self.sets)
        self.bias = minimum_map.sort(*placed)
        self.known = False

    @property
    def is_settled(self) -> bool:
        """Whether the last policy was that before it."""
        return self.least == 0 and self.counters["changed_rows"] == 0.0

    def choose(self, problem: Problem) -> bool:
        """The next policy, from the point and its slack; whether it is the last one again."""
        if not self.known:
            problem.A.slack(self.point, problem.b, self.y)
        noise = EPSILON * (self.largest + self.bias)
        compared = (self.point, self.y, self.lower, self.upper, self.weight, noise)
        changed, self.largest = minimum_map.choose(*compared, self.sets, self.wanted)
        is_first = self.least < 0
        self.counters["policies"] += 1
        self.counters["changed_rows"] = float(changed)
        if changed and not is_first:
            self._guard(changed)
        self.least = changed if is_first else min(self.least, changed)
        self.sets, self.wanted = self.wanted, self.sets
        return changed == 0 and not is_first

    def _guard(self, changed: int) -> None:
        """Has this policy been here before? Then solve exactly; if that is no help, change one row at a time."""
        if self.is_single and changed < self.least:
            self.is_single = False
            self.seen.clear()
        code = int(index_sets.fingerprint(self.wanted))
        before = self.seen.get(code)
        if before is not None and not self.residual < 0.5 * before and not self.is_single:
            self.is_single, self.is_exact = self.is_exact, True
            self.seen.clear()
            self.seen_single.clear()
        self.seen[code] = self.residual
        if self.is_single:
            self._keep_first()

    def _keep_first(self) -> None:
        first = int(np.argmax(self.wanted != self.sets))
        wish = self.wanted[first]
        self.wanted[:] = self.sets
        self.wanted[first] = wish
        self.counters["single_changes"] += 1
        code = int(index_sets.fingerprint(self.wanted))
        if code in self.seen_single:
            self.ended: tuple[Status, str] | None = Status.CYCLING, "a policy came again among changes of single rows"
        self.seen_single.add(code)

    def settle(self, problem: Problem, is_same: bool) -> float:
        """Put rows at their bounds and measure what the equations of the others have left."""
        if not is_same:
            if minimum_map.place(self.sets, self.lower, self.upper, self.point, self.free):
                problem.A.slack(self.point, problem.b, self.y)
            self.equation.follow(self.free)
            self.stuck = 0
        return self.equation.measure(self.y)

    def advance(self, problem: Problem, found: Solution) -> bool:
        """To the solution of the equations; whether it is finite."""
        is_finite = self.equation.advance(found, self.lower, self.upper, self.point, self.x)
        problem.A.slack(self.point, problem.b, self.y)
        self.known = True
        return is_finite
