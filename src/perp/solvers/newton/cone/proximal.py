"""The steps of the proximal-point loop around Newton's method for contact laws (`proximal.py` says what it does)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.newton.cone.equations import ContactEquations, Equation, Law
from perp.solvers.newton.cone.state import ConeState
from perp.solvers.results import Status

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


RESTARTS, MORE = 2, 10
"""How often all begins anew where the loop has ended, each time with so many times the sweeps of the last."""


def begin(problem: ContactProblem, state: ConeState) -> None:
    """From the best point so far."""
    state.proximal.weight, state.proximal.tried = FIRST_WEIGHT, state.best_theta
    resume(problem, state)


def resume(problem: ContactProblem, state: ConeState) -> None:
    """From the best point so far, with the weight as it is."""
    _move_centre(problem, state, Candidate.make(problem, state.equations, state.best))


def step(problem: ContactProblem, state: ConeState) -> None:
    """One Newton step on a subproblem, and what follows from where it leads."""
    proximal, equations = state.proximal, state.equations
    proximal.taken += 1
    moved = _step_subproblem(problem, state)
    candidate = Candidate.make(problem, equations, problem.project(state.here.point))
    state.x = candidate.x
    state.take_note(candidate.x, candidate.theta)
    if _is_solved(state, candidate):
        if proximal.stage == 0 and proximal.taken <= EASY:
            proximal.weight *= FALL
        _move_centre(problem, state, candidate)
        return
    if proximal.is_frozen:
        if moved and not proximal.is_frozen_done(equations.size(state.here.F)):
            return
        proximal.keep(candidate)
    elif moved and proximal.taken < HARD:
        return
    _next_stage(problem, state, candidate)


def _step_subproblem(problem: ContactProblem, state: ConeState) -> bool:
    """A Newton step on the subproblem as it is stated now; whether there was one."""
    direction = state.direction(problem, 0.0)
    if direction is None:
        return False
    if not state.proximal.is_frozen:
        moved = state.search(problem, direction) > 0.0
        state.note_progress()
        return moved
    here = state.here
    length = search_convex(state.equations, state.equation, here.point, here.y, direction.dx, direction.product)
    if length is None:
        return False
    state.try_point(problem, here.point + length * direction.dx)
    state.accept()
    state.counters["frozen_steps"] += 1
    return True


def _is_solved(state: ConeState, candidate: Candidate) -> bool:
    """Whether it solves the subproblem with the asked law well enough."""
    proximal, equations = state.proximal, state.equations
    F = np.empty(candidate.x.size)
    equations.measure(equations.asked, candidate.x, proximal.slack(equations, candidate.x, candidate.y), F)
    return equations.size(F) <= ENOUGH * proximal.residual


def _next_stage(problem: ContactProblem, state: ConeState, candidate: Candidate) -> None:
    """Another way to solve the subproblem; after the last one, more weight."""
    proximal, equations = state.proximal, state.equations
    proximal.enter_stage(proximal.stage + 1)
    if proximal.stage > FROZEN_ROUNDS + 1:
        proximal.weight *= RISE
        spare = proximal.spare
        if spare is None or not spare.theta <= WORSE * proximal.theta:
            spare = Candidate.make(problem, equations, proximal.centre)
        _move_centre(problem, state, spare)
        return
    law, start = equations.law, candidate.x
    if proximal.is_frozen:
        if proximal.stage == 1:
            start = proximal.centre
        law = equations.frozen(start, proximal.slack(equations, start, problem.slack(start)))
    state.turn_to(problem, proximal.equation(equations, law), start)


def _move_centre(problem: ContactProblem, state: ConeState, centre: Candidate) -> None:
    """To the next subproblem; or, where much is gained, to the asked problem itself; or the end."""
    proximal, equations = state.proximal, state.equations
    proximal.move(centre)
    state.counters["proximal_steps"] += 1
    proximal.paused = centre.theta <= AGAIN * proximal.tried
    if proximal.paused:
        proximal.tried = centre.theta
        state.turn_to(problem, equations.asked, centre.x)
    else:
        state.turn_to(problem, proximal.equation(equations, equations.law), centre.x)
    if centre.residual <= equations.rounding(centre.x):
        state.ended = Status.REDUCED_ACCURACY, "rounding errors are all that is left"
    elif proximal.failures > MOST_FAILURES and not _start_over(state):
        state.ended = Status.STAGNATED, "the proximal-point loop brings no better centre"


def _start_over(state: ConeState) -> bool:
    """With more sweeps from the best point so far; False where there were enough, or cannot be any."""
    if state.restarts >= RESTARTS or not state.sweeps.can_help:
        return False
    state.restarts += 1
    state.pending = state.sweeps.more * MORE**state.restarts
    state.has_swept = False
    state.proximal = ConeProximal()
    return True
