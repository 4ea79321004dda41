"""Where an interior-point method stands: distances to the bounds and multipliers, all positive, and their Newton step.

With s = x - lower, t = upper - x and y = A x + b = z - w the problem is s z = 0, t w = 0, all four non-negative. The
Kojima map (SLIDES) asks for s z = t w = gamma instead; its Newton equation, with dz and dw eliminated, is

    (A + D) dx = -(y - z + w) + (gamma - s z)/s - (gamma - t w)/t,       D = z/s + w/t.

Rows with one bound lack the other pair; rows without bounds have D = 0; rows with lower = upper rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.newton import interior_point as kernels
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem

WORK = ("diagonal", "dual", "dx", "dz", "dw", "cross_s", "cross_t", "right")

LEAST_SHARE = 0.1
"""A start leaves at least this share of a box to each side."""


@dataclass(frozen=True, eq=False)
class CentralPath:
    lower: Vector
    upper: Vector
    moves: NDArray[np.bool_]
    scale: Vector
    """x / scale and y * scale are of one size for all rows."""
    x: Vector
    s: Vector
    t: Vector
    z: Vector
    w: Vector
    y: Vector
    pairs: int
    """How many products s z and t w there are."""
    diagonal: Vector
    """D."""
    dual: Vector
    """y - z + w: not zero at an infeasible start."""
    dx: Vector
    dz: Vector
    dw: Vector
    cross_s: Vector
    """Second-order terms of the products s z, and of t w below."""
    cross_t: Vector
    right: Vector

    @staticmethod
    def begin(problem: Problem, x: Vector, scale: Vector) -> CentralPath:
        """Positive distances and multipliers near x, as large as what is to be changed there.

        That size is the mean of the scaled natural map at x; so a good x gives a start near the bounds. Where numbers
        are extreme the start may not be finite (see `measure`).
        """
        n = problem.n
        lower, upper = problem.bounds(x)
        y = problem.slack(x)
        moves = lower < upper
        has_lower, has_upper = np.isfinite(lower) & moves, np.isfinite(upper) & moves
        wrong = np.abs(np.clip(y * scale, (x - upper) / scale, (x - lower) / scale))
        size = float(wrong[moves].mean()) if moves.any() else 0.0
        size = size if size > 0.0 else 1.0
        room = np.maximum(size, wrong) * scale
        width = np.where(has_lower & has_upper, upper - lower, np.inf)
        room = np.minimum(room, 0.5 * width)
        inside = np.where(has_lower, np.maximum(x, lower + room), x)
        inside = np.where(has_upper, np.minimum(inside, upper - np.minimum(room, LEAST_SHARE * width)), inside)
        inside = np.where(moves, inside, x)
        y = problem.A.slack(inside, problem.b, np.empty(n))
        base = size / scale
        return CentralPath(
            lower=freeze(lower.copy()),
            upper=freeze(upper.copy()),
            moves=freeze(moves.copy()),
            scale=freeze(scale.copy()),
            x=inside,
            s=np.where(has_lower, inside - lower, np.inf),
            t=np.where(has_upper, upper - inside, np.inf),
            z=np.where(has_lower, np.maximum(y, 0.0) + base, 0.0),
            w=np.where(has_upper, np.maximum(-y, 0.0) + base, 0.0),
            y=y,
            pairs=int(has_lower.sum() + has_upper.sum()),
            **{name: np.zeros(n) for name in WORK},
        )

    def assemble(self) -> float:
        """D and the dual residual here; returns mu, the mean of the products (SLIDES: x^T y / n)."""
        total = kernels.assemble(self.moves, self.s, self.t, self.z, self.w, self.y, self.diagonal, self.dual)
        return float(total) / max(self.pairs, 1)

    def set_right_side(self, target: float) -> None:
        kernels.right_side(*self._pairs(), self.dual, target, self.cross_s, self.cross_t, self.right)

    def recover(self, target: float) -> float:
        """dz and dw of dx; returns the longest step, at most 1."""
        crosses = (self.cross_s, self.cross_t)
        return min(1.0, float(kernels.recover(*self._pairs(), self.dx, target, *crosses, self.dz, self.dw)))

    def look_ahead(self, step: float) -> float:
        """mu after that step; keeps the second-order terms."""
        total = kernels.look_ahead(*self._pairs(), self.dx, self.dz, self.dw, step, self.cross_s, self.cross_t)
        return float(total) / max(self.pairs, 1)

    def advance(self, problem: Problem, step: float) -> None:
        moved = (self.dx, self.dz, self.dw, self.s, self.t, self.z, self.w, self.x)
        kernels.advance(self.moves, self.lower, self.upper, step, *moved)
        problem.A.slack(self.x, problem.b, self.y)

    def measure(self) -> float:
        """The largest entry of x, scaled; NaN where x or y are not finite."""
        return float(kernels.survey(self.x, self.y, self.scale))

    def _pairs(self) -> tuple[Any, ...]:
        return self.moves, self.s, self.t, self.z, self.w
