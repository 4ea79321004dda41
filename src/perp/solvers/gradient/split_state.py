"""Where MPRGP stands: x, its gradient split into parts, and the conjugate gradients on the face that x lies in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.linalg.preconditioners import Preconditioner
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import State

EPSILON = 16.0 * 2.0**-52
"""Rounding errors of a slack, as a share of the largest scaled impulse and bias."""


@dataclass
class SplitState(State):
    """x, the gradient y = A x + b, and the conjugate gradients on the face that x lies in."""

    y: Vector
    lower: Vector
    upper: Vector
    weight: Vector
    preconditioner: Preconditioner | None
    q: Vector
    product: Vector
    r: Vector
    """Minus the free gradient."""
    trial: Vector
    trial_y: Vector
    zero: Vector
    no_shift: Vector
    length: float
    """Of an expansion step; Dostál's alpha-bar."""
    shortest: float
    reduced: float = 0.0
    """(Reduced free gradient)^T (free gradient)."""
    chopped: float = 0.0
    """The squared length of the chopped gradient."""
    stiffness: float = 0.0
    noise: float = 0.0
    """Rounding errors of the slack, in units of the metric."""
    steps_since_refresh: int = 0
    is_new_face: bool = True
    is_new: bool = False
    """Whether a nested start is still to come."""

    def split(self) -> None:
        from perp.kernels.gradient import conjugate_gradients as kernels

        bounds = (self.lower, self.upper)
        self.reduced, self.chopped = kernels.split_gradient(self.x, self.y, *bounds, self.weight, self.length, self.r)

    def move_to_trial(self) -> None:
        """To the clipped point, whose slack is known; that is another face."""
        self.x: Vector
        self.x, self.trial = self.trial, self.x
        self.y, self.trial_y = self.trial_y, self.y
        self.steps_since_refresh, self.is_new_face = 0, True
        self.split()

    def renew_slack(self, problem: Problem) -> None:
        problem.A.slack(self.x, problem.b, self.y)
        self.counters["products"] += 1
        self.steps_since_refresh = 0
        scale, numbers = np.sqrt(self.weight, out=self.trial_y), self.trial  # neither is in use between two steps
        impulse = np.divide(np.abs(self.x, out=numbers), scale, out=numbers).max(initial=0.0)
        bias = np.abs(np.multiply(problem.b, scale, out=numbers), out=numbers).max(initial=0.0)
        self.noise = EPSILON * float(impulse + bias)
        self.split()

    @property
    def is_small(self) -> bool:
        """Whether the projected gradient, in the 2-norm, may be made of rounding errors alone."""
        return max(self.reduced, self.chopped) <= self.x.size * self.noise * self.noise

    @property
    def has_only_noise(self) -> bool:
        """Whether each entry of the projected gradient is as small as the rounding errors of the slack."""
        left = float(np.abs(self.r * np.sqrt(self.weight)).max(initial=0.0))
        return bool(max(left, self.chopped**0.5) <= self.noise)
