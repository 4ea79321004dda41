"""Where a Newton iteration for contact laws stands, with its regularisation and its sweeps of block Gauss-Seidel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems.block_rows import BlockSystem
from perp.problems.deadline import deadline, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.method import State
from perp.solvers.newton.cone.equations import ContactEquations, Equation
from perp.solvers.newton.cone.proximal import ConeProximal
from perp.solvers.newton.globalisation import Armijo, MeritPoint, Reference
from perp.solvers.splitting.block_gauss_seidel import BlockSweeper, make_block_sweeper
from perp.solvers.splitting.sweeps import make_order

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

MOST, LEAST = 1.0 / 32.0, 1e-9
"""Limits of it. Without any, redundant contacts would make the matrix singular."""

HELD_BACK, RELIEF = 0.5, 0.1
"""Where it takes more than this share of a Newton step, and the whole step is good, there is less the next time."""

SHORT, RISE = 0.1, 4.0
"""After steps shorter than this there is more, up to where it began."""

FEW = 4
"""Sweeps in a row under a time limit, at first; then as many as fit into `SECONDS_A_LOOK`."""

SECONDS_A_LOOK = 0.01
"""Between two looks at the clock."""


@dataclass
class Direction:
    dx: Vector
    product: Vector
    """A dx."""
    slope: float
    """Of the merit along dx."""


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


@dataclass
class ConeRegularisation:
    """share ||F||: it vanishes at a solution, quickly enough for quadratic convergence (Yamashita & Fukushima 2001)."""

    first: float
    share: float

    def size(self, norm: float) -> float:
        """For this ||F||."""
        return min(MOST, max(LEAST, self.share * norm))

    def follow(self, step_length: float, whole: float) -> None:
        """Take note of a step: its length, and which share of the slope of a Newton step its direction had."""
        if step_length == 1.0 and whole < HELD_BACK:
            self.share *= RELIEF
        elif step_length < SHORT:
            self.share = min(self.first, self.share * RISE)


class ConeSweeps:
    """Sweeps from any point; made when they are first needed."""

    def __init__(self, problem: ContactProblem, more: int) -> None:
        assert problem.diagonal is not None
        self._problem = problem
        self._order = make_order(problem, "forward")
        self._sweeper: BlockSweeper | None = None
        self.done: int = 0
        self.more = more
        """How many are done where Newton's method stalls."""
        self.possible: bool = bool((problem.diagonal[problem.normal_rows] > 0.0).all()) and not problem.is_wide
        """A contact whose normal row has no diagonal entry cannot be solved for its own impulse."""

    @property
    def can_help(self) -> bool:
        return self.possible and self.more > 0

    def load(self) -> None:
        """Make what is needed, and compile."""
        if self._sweeper is None and self.possible:
            self._sweeper = make_block_sweeper(self._problem, 1.0, np.zeros(self._problem.n))
            self._order.iterate(self._sweeper.sweep, 0)

    def run(self, x: Vector, count: int) -> Vector:
        """`count` sweeps from x, which stays as it is; x again where they run off to infinity.

        Fewer where the time is over: what was swept is an answer, too.
        """
        self.load()
        if self._sweeper is None:
            return x.copy()
        np.copyto(self._sweeper.x, x)
        if self._sweeper.refresh is not None:
            self._sweeper.refresh()
        self._sweep(self._sweeper, count)
        return self._sweeper.x.copy() if np.isfinite(self._sweeper.x).all() else x.copy()

    def _sweep(self, sweeper: BlockSweeper, count: int) -> None:
        held = deadline()
        width, pace = (FEW if held.is_limited else count), 0.0
        while count > 0 and held.allows(pace):
            width = min(width, count)
            begun = now()
            self._order.iterate(sweeper.sweep, width)
            pace = (now() - begun) / width
            count -= width
            self.done += width
            width = max(1, int(min(SECONDS_A_LOOK, held.left) / pace)) if pace > 0.0 else 2 * width
