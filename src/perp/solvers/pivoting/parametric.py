"""Parametric principal pivoting: follow the solution from a problem that is solved to the one that was asked.

(Cottle 1972; Cottle, Pang & Stone 1992, section 4.5.) Given any x within its bounds, add to b what makes x a solution,

    b(t) = b + (1 - t) r,     r_F = -y_F,    y_L + r_L > 0,    y_U + r_U < 0        with y = A x + b,

and let t grow from 0 to 1. Between events x_F and y_T are linear in t; at an event one row reaches its limit and
changes its index set. For a P-matrix the solution is unique and continuous in t, so that the path never turns back:
it ends at t = 1 after finitely many events, in practice a small multiple of the number of rows, where block pivots
may go round in circles.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perp.kernels.measures import index_sets
from perp.linalg.free_systems import FreeSystem
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

REFRESH_EVERY = 32
"""Events after which x and y are computed anew from the index sets, so that rounding errors do not add up."""

MARGIN = 0.01
"""Slack that rows at a bound are given at the start, as a share of the largest bias (in scaled units)."""

NUDGE = 1e-3
"""The share of that margin which is added to slacks with the right sign, lest they tie."""

Sets = NDArray[np.int8]


@dataclass
class Path:
    """Where the path stands. The slack along it is A x + b(t) + softening (x - centre)."""

    sets: Sets
    x: Vector
    y: Vector
    lower: Vector
    upper: Vector
    shift: Vector
    """r: the bias is b + (1 - t) r."""
    softening: Vector
    centre: Vector
    t: float = 0.0
    events: int = 0
    last: int = -1
    zero_steps: int = 0
    work: Vector = field(default_factory=lambda: np.empty(3))

    @property
    def is_stuck(self) -> bool:
        """Only steps of length zero: ties that rounding leads round in circles."""
        return self.zero_steps > 2 * self.sets.size

    @staticmethod
    def begin(
        problem: Problem,
        sets: Sets,
        x: Vector,
        bounds: tuple[Vector, Vector],
        softening: Vector,
        centre: Vector,
        scale: Vector,
    ) -> Path:
        """From x with these index sets, free rows clipped to their bounds.

        Rows at a bound keep the slack that they have at x, so that r is small where x is nearly right; wrong signs
        get a margin, drawn at random so that no two rows tie.
        """
        lower, upper = bounds
        wished = problem.slack(x) + softening * (x - centre)
        x = np.clip(x, lower, upper)
        np.copyto(x, np.where(sets < 0, lower, upper), where=sets != 0)
        y = problem.slack(x) + softening * (x - centre)
        size = float(np.abs(problem.b * scale).max(initial=0.0)) or 1.0
        margin = MARGIN * size * np.random.default_rng(0).uniform(1.0, 2.0, x.size) / scale
        at_lower = np.where(wished > 0.0, wished + NUDGE * margin, margin)
        at_upper = np.where(wished < 0.0, wished - NUDGE * margin, -margin)
        shift = np.where(sets == 0, 0.0, np.where(sets < 0, at_lower, at_upper)) - y
        shift[lower == upper] = 0.0
        return Path(sets.copy(), x, y + shift, lower, upper, shift, softening, centre)

    def advance(self, problem: Problem, system: FreeSystem) -> bool:
        """Go to the next event, or to t = 1 (then True). `system` holds the factor of the present free rows."""
        free = self.sets == 0
        if self.events % REFRESH_EVERY == 0:
            self._refresh(problem, system)
        dx = system.solve(np.where(free, self.shift, 0.0))  # d/dt of -A_FF^-1 (b + (1 - t) r)_F
        dy = problem.A.apply(dx) + self.softening * dx - self.shift
        dx -= system.solve(np.where(free, dy, 0.0))  # a step of refinement: events are told apart by small differences
        dy = problem.A.apply(dx) + self.softening * dx - self.shift
        dy[free] = 0.0
        index_sets.first_event(self.sets, self.x, dx, self.y, dy, self.lower, self.upper, self.last, self.work)
        step, row = float(self.work[0]), int(self.work[1])
        done = self.t + step >= 1.0
        step = min(step, 1.0 - self.t)
        self.x += step * dx
        self.y += step * dy
        self.t += step
        if done:
            self._refresh(problem, system)
            return True
        self.zero_steps = self.zero_steps + 1 if step == 0.0 else 0
        to = int(self.work[2])
        if to != 0:
            self.x[row] = self.lower[row] if to < 0 else self.upper[row]
        self.sets[row] = to
        self.last = row
        self.events += 1
        return False

    def _refresh(self, problem: Problem, system: FreeSystem) -> None:
        """x_F as the present index sets want it: two steps of refinement."""
        free = self.sets == 0
        for _ in range(2):
            self.x -= system.solve(np.where(free, self._slack(problem), 0.0))
        np.copyto(self.y, np.where(free, 0.0, self._slack(problem)))

    def _slack(self, problem: Problem) -> Vector:
        return problem.slack(self.x) + self.softening * (self.x - self.centre) + (1.0 - self.t) * self.shift
