"""What the proximal-point loop around Newton's method for contact laws keeps from subproblem to subproblem.

A subproblem is tried with the law that was asked for. Where Newton's method fails on it, the law is frozen: contacts
keep the slip speeds, or boxes the limits, of where they stand. What is left is monotone, and for symmetric positive
semidefinite A its solution is the minimum of a convex function (below), which Newton's method with a line search finds
from anywhere. A few times frozen and solved, the subproblem is tried with the asked law again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.newton.cone.equations import ContactEquations, Equation, Law

ENOUGH = 0.1
"""A subproblem is solved when its residual is this share of what the asked problem has at the centre."""

FIRST_WEIGHT = 1.0 / 32.0
"""As a share of the stiffness of the contacts."""

FALL, RISE = 0.25, 4.0

EASY, HARD = 4, 8
"""Newton iterations for a subproblem up to which the weight falls, and after which the law is frozen, or thawed."""

FROZEN_HARD = 50
"""Newton iterations with a frozen law, at most."""

MOST_IDLE = 3
"""Of them without progress."""

FROZEN_ROUNDS = 2
"""How often the law of a subproblem is frozen."""

FROZEN_ACCURACY = 0.2
"""What a frozen law may leave, as a share of what the subproblem may leave."""

MOST_FAILURES = 20
"""Centres in a row that were not better than the best one, before it gives up."""

WORSE = 4.0
"""An unsolved subproblem's best point becomes the centre if its merit is not larger than the last centre's by more."""

PROGRESS = 0.9
"""The merit of a better centre is at most this share of the best one's."""

AGAIN = 1e-3
"""Newton's method on the asked problem is tried again whenever the loop has brought the merit down to this share."""

FLAT = 0.1
"""A line search for a frozen law is done where the slope has fallen to this share."""

MOST_EVALUATIONS = 40


@dataclass(frozen=True)
class Candidate:
    """A point within its bounds, and what it is worth."""

    x: Vector
    y: Vector
    theta: float
    """The merit of the asked equation."""
    residual: float
    """The size of the asked equation."""

    @staticmethod
    def make(problem: ContactProblem, equations: ContactEquations, x: Vector) -> Candidate:
        y, F = np.empty(problem.n), np.empty(problem.n)
        problem.A.slack(x, problem.b, y)
        theta = equations.measure(equations.asked, x, y, F)
        return Candidate(x, y, theta, equations.size(F))


@dataclass
class ConeProximal:
    """y + s (x - centre) in the place of y, s = weight times the stiffness of each contact. No weight: no loop."""

    weight: float = 0.0
    centre: Vector = field(default_factory=lambda: np.empty(0))
    residual: float = np.inf
    """The size of the asked equation at the centre."""
    theta: float = np.inf
    """Its merit there."""
    stage: int = 0
    """0: the asked law; 1 to FROZEN_ROUNDS: frozen; beyond: the asked law once more."""
    taken: int = 0
    """Newton iterations in this stage."""
    failures: int = 0
    best: float = np.inf
    tried: float = np.inf
    """The merit from which Newton's method on the asked problem was tried last."""
    paused: bool = False
    """While it is being tried."""
    left: float = np.inf
    """The least that Newton's method with this frozen law has left so far."""
    idle: int = 0
    """Steps since then that left more than half of it: rounding errors, which the weight divides."""
    spare: Candidate | None = None
    """The best solution of this subproblem with a frozen law."""

    @property
    def has_begun(self) -> bool:
        return self.weight > 0.0

    @property
    def is_on(self) -> bool:
        return self.has_begun and not self.paused

    @property
    def is_frozen(self) -> bool:
        return 1 <= self.stage <= FROZEN_ROUNDS

    def move(self, centre: Candidate) -> None:
        """To the next subproblem."""
        self.centre, self.residual, self.theta = centre.x, centre.residual, centre.theta
        self.enter_stage(0)
        self.spare = None
        self.failures = 0 if self.theta < PROGRESS * self.best else self.failures + 1
        self.best = min(self.best, self.theta)

    def enter_stage(self, stage: int) -> None:
        self.stage = stage
        self.taken = self.idle = 0
        self.left = np.inf

    def is_frozen_done(self, left: float) -> bool:
        """Take note of what a step with a frozen law has left; whether more steps are worth while."""
        self.idle = 0 if left <= 0.5 * self.left else self.idle + 1
        self.left = min(self.left, left)
        enough = FROZEN_ACCURACY * ENOUGH * self.residual
        return left <= enough or self.idle >= MOST_IDLE or self.taken >= FROZEN_HARD

    def keep(self, candidate: Candidate) -> None:
        if self.spare is None or candidate.theta < self.spare.theta:
            self.spare = candidate

    def slack(self, equations: ContactEquations, x: Vector, y: Vector) -> Vector:
        """y + s (x - centre)."""
        return y + self.weight * equations.stiffness * (x - self.centre)

    def equation(self, equations: ContactEquations, law: Law) -> Equation:
        return equations.near(law, self.centre, self.weight)


def search_convex(
    equations: ContactEquations, equation: Equation, point: Vector, y: Vector, dx: Vector, product: Vector
) -> float | None:
    """The step length to where the convex function of a frozen law is least along dx, up to `FLAT`; None: no descent.

    With x(z) = P(centre - rho (A z + b)), F = z - x(z), it is 1/2 z^T A z + 1/2 sum x(z)^2 / rho, up to what P leaves
    out, and its gradient A F.
    """
    F = np.empty(point.size)

    def slope(length: float) -> float:
        equations.measure(equation, point + length * dx, y + length * product, F)
        return float(np.sum(product * F))

    first = slope(0.0)
    if not -np.inf < first < 0.0:
        return None
    low, low_slope, high, high_slope, length = 0.0, first, np.inf, np.inf, 1.0
    for _ in range(MOST_EVALUATIONS):
        here = slope(length)
        if abs(here) <= -FLAT * first:
            break
        if here < 0.0:
            low, low_slope = length, here
        else:
            high, high_slope = length, here
        share = 1.0 if high == np.inf else min(max(-low_slope / (high_slope - low_slope), 0.1), 0.9)
        length = 2.0 * length if high == np.inf else low + share * (high - low)
    return length
