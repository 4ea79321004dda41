"""Where a Newton iteration for contact laws stands."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems.block_rows import BlockSystem
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.method import State
from perp.solvers.newton.cone.equations import ContactEquations, Equation
from perp.solvers.newton.cone.proximal import ConeProximal
from perp.solvers.newton.cone.regularisation import ConeRegularisation
from perp.solvers.newton.cone.sweeps import ConeSweeps
from perp.solvers.newton.line_search import Armijo, Reference

ACCURATE, ROUGH = 1e-8, 0.5
"""What is to be left of a Newton equation, as a share of F, and what may be left."""

PROGRESS = 0.5
"""A new least merit counts if it is at most this share of the last one that did."""

IMPATIENCE = 10
"""After so many iterations without progress the search is monotone: steps to and fro may otherwise go on for ever."""

LEAST_DESCENT = 1e-10
"""A slope above minus this share of 2 theta (which is Newton's own) is no descent."""

REFINEMENTS = 5
"""Steps of iterative refinement at most; each must at least halve what is left."""


@dataclass
class Direction:
    dx: Vector
    product: Vector
    """A dx."""
    slope: float
    """Of the merit along dx."""


@dataclass
class MeritPoint:
    """A point, which may lie outside of what its law allows, its slack, F, and the merit."""

    point: Vector
    y: Vector
    F: Vector
    theta: float = np.inf

    @staticmethod
    def empty(n: int) -> MeritPoint:
        return MeritPoint(np.empty(n), np.empty(n), np.empty(n))


@dataclass
class ConeState(State):
    equations: ContactEquations
    equation: Equation
    """The one that is being solved."""
    here: MeritPoint
    trial: MeritPoint
    system: BlockSystem
    sweeps: ConeSweeps
    armijo: Armijo
    reference: Reference
    regularisation: ConeRegularisation
    proximal: ConeProximal
    least: float = np.inf
    """The least merit of this equation that counts as progress."""
    since: int = 0
    """Iterations since then."""
    best: Vector = field(default_factory=lambda: np.empty(0))
    """Where the merit of the asked equation is least."""
    best_theta: float = np.inf
    pending: int = 0
    """Sweeps to be done before anything else."""
    has_swept: bool = False
    """Whether sweeps have helped out since the last start."""
    restarts: int = 0

    def try_point(self, problem: ContactProblem, point: Vector) -> float:
        """The merit of a point, which becomes `trial`."""
        trial = self.trial
        np.copyto(trial.point, point)
        problem.A.slack(trial.point, problem.b, trial.y)
        trial.theta = self.equations.measure(self.equation, trial.point, trial.y, trial.F)
        return trial.theta

    def accept(self) -> None:
        self.here, self.trial = self.trial, self.here
        self.reference.remember(self.here.theta)

    def search(self, problem: ContactProblem, direction: Direction) -> float:
        """Back-tracking, where the merit falls at all, and the step; its length, 0 where there was none."""
        here = self.here
        if not -np.inf < direction.slope <= -LEAST_DESCENT * 2.0 * here.theta:
            return 0.0
        step = self.armijo.search(
            lambda point: self.try_point(problem, point),
            np.asarray,
            here.point,
            direction.dx,
            here.theta if self.since >= IMPATIENCE else self.reference.value,
            direction.slope,
        )
        if step is None:
            return 0.0
        self.counters["rejected_steps"] += step.evaluations - 1
        self.accept()
        return step.step_length

    def note_progress(self) -> None:
        self.since += 1
        if self.here.theta < PROGRESS * self.least:
            self.least, self.since = self.here.theta, 0

    def turn_to(self, problem: ContactProblem, equation: Equation, point: Vector) -> None:
        """Another equation, or another point: what was remembered is of no use."""
        self.equation = equation
        self.try_point(problem, point)
        self.here, self.trial = self.trial, self.here
        self.reference = Reference(self.reference.memory)
        self.reference.remember(self.here.theta)
        self.least, self.since = self.here.theta, 0

    def take_note(self, point: Vector, theta: float) -> None:
        """Keep a point within its bounds, with the merit of the asked equation, if it is the best so far."""
        if theta < self.best_theta or not self.best.size:
            self.best, self.best_theta = point.copy(), theta

    def direction(self, problem: ContactProblem, added: float) -> Direction | None:
        """Newton's (E + G (A + added S)) dx = -F, S the stiffness of the contacts; None where nothing solves it."""
        here, equations = self.here, self.equations
        E, G = equations.linearise(self.equation, here.point, here.y)
        shifted = E.plus_scaled_columns(G, added * equations.stiffness)
        try:
            self.system.factor(shifted, G)
        except NotFinite:
            return None
        size, before, left = equations.size(here.F), np.inf, -here.F
        dx, product = np.zeros(here.F.size), np.zeros(here.F.size)
        for _ in range(REFINEMENTS):
            dx = dx + self.system.solve(left)
            if not np.isfinite(dx).all():
                return None
            product = problem.A.apply(dx)
            left = -here.F - shifted.apply(dx) - G.apply(product)
            largest = equations.size(left)
            if largest <= ACCURATE * size or not largest <= 0.5 * before:
                break
            before = largest
        if not largest <= ROUGH * size:
            return None
        along = E.apply(dx) + G.apply(product)
        slope = float(np.sum((here.F / equations.unit) * (along / equations.unit)))
        return Direction(dx, product, slope)
