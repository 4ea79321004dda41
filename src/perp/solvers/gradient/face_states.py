"""Where conjugate gradients on a face of the box stand: PGCG with its index sets, MPRGP with its split gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.kernels.gradient import conjugate_gradients
from perp.kernels.gradient import conjugate_gradients as kernels
from perp.linalg.preconditioners import Preconditioner
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.gradient.projection import diagonal_weights
from perp.solvers.method import State
from perp.solvers.pivoting.pivot_state import FrictionBounds

Sets = NDArray[np.int8]
"""-1 at the lower bound, 0 free, 1 at the upper bound (`perp.kernels.measures.index_sets`)."""

EPSILON = 16.0 * 2.0**-52
"""Rounding errors of a slack, as a share of the largest scaled impulse and bias."""


@dataclass(kw_only=True)
class FaceSearch(State):
    """What both methods carry along: directions q, and residuals r, belong to the face and are zero elsewhere."""

    y: Vector
    """A x + b, and in PGCG softening x, kept up to date along with the iterate."""
    lower: Vector
    upper: Vector
    weight: Vector
    q: Vector
    product: Vector
    """A q."""
    r: Vector
    """Minus the gradient on the free rows."""
    trial: Vector
    trial_y: Vector
    zero: Vector
    stiffness: float = 0.0
    """The largest curvature met, in units of the metric."""
    steps_since_refresh: int = 0
    is_new_face: bool = True


@dataclass(kw_only=True)
class FaceState(FaceSearch):
    """Where PGCG stands. The face is the set of free rows."""

    point: Vector
    """x within the bounds that stand now; `x` itself is this, within the bounds that its normal impulses allow."""
    sets: Sets
    preconditioner: Preconditioner
    softening: Vector
    """THESIS Algorithm 9."""
    pivots: NDArray[np.int64]
    """How often each row became tight or free."""
    limits: NDArray[np.int64]
    """How often it may, before it is softened (again)."""
    friction: FrictionBounds | None
    rho: float = 0.0
    """r^T z: the residual of the face in the norm of the preconditioner, squared."""
    goal: float = 0.0
    """The pass is over when rho is down here."""
    inner: int = 0
    """Steps of this pass."""
    longest: float = 0.0
    """The step to the nearest bound along q (THESIS eq. 5.1)."""
    left: float = np.inf
    """What was left of the residual on the free rows when rounding last stopped a pass."""
    is_new_pass: bool = True
    is_soft: bool = False
    hardened: bool = False
    """The softening was taken back, and is not to come again."""

    @staticmethod
    def begin(problem: Problem, x: Vector, preconditioner: Preconditioner, pivot_limit: int) -> FaceState:
        """Index sets by position: a row at a bound is tight (THESIS 5.3)."""
        n = problem.n
        lower, upper = (bound.copy() for bound in problem.bounds(x))
        sets = np.zeros(n, dtype=np.int8)
        sets[x >= upper] = 1
        sets[x <= lower] = -1
        return FaceState(
            x,
            point=x,
            y=np.empty(n),
            sets=sets,
            lower=lower,
            upper=upper,
            weight=diagonal_weights(problem),
            preconditioner=preconditioner,
            softening=np.zeros(n),
            pivots=np.zeros(n, dtype=np.int64),
            limits=np.full(n, pivot_limit, dtype=np.int64),
            friction=FrictionBounds.of(problem, x),
            q=np.zeros(n),
            product=np.empty(n),
            r=np.zeros(n),
            trial=np.empty(n),
            trial_y=np.empty(n),
            zero=freeze(np.zeros(n)),
            repeatable=False,
        )

    def begin_pass(self) -> None:
        """The free rows are others than before: a new preconditioner, a new direction, a new goal."""
        self.is_new_pass = self.is_new_face = True
        self.counters["passes"] += 1

    def refresh(self, problem: Problem) -> None:
        """The slack, computed from the point, and directions that start afresh from it."""
        self.renew_slack(problem)
        self.is_new_face = True

    def renew_slack(self, problem: Problem) -> None:
        self.evaluate(problem, self.point, self.y)
        self.steps_since_refresh = 0

    def evaluate(self, problem: Problem, x: Vector, out: Vector) -> None:
        """out = A x + b, with the softening."""
        problem.A.slack(x, problem.b, out)
        self.counters["products"] += 1
        if self.is_soft:
            out += self.softening * x

    def measure(self, problem: Problem) -> tuple[float, float, float]:
        """The size of the numbers, what is left on free rows, and the worst wrong slack of a tight one."""
        bounds = (self.lower, self.upper)
        size, left, wrong = conjugate_gradients.measure_face(
            self.sets, self.point, self.y, problem.b, *bounds, self.weight
        )
        return float(size), float(left), float(wrong)

    def soften(self, regularisation: float) -> None:
        """THESIS Algorithm 9, for free rows with two finite bounds that pivoted often."""
        friction = np.isfinite(self.lower) & np.isfinite(self.upper)
        often = friction & (self.sets == 0) & (self.pivots > self.limits)
        if often.any():
            more = np.where(often, regularisation / self.weight, 0.0)
            self.softening += more
            self.y += more * self.point
            self.limits[often] *= 2
            self.is_soft = True

    def harden(self, problem: Problem) -> None:
        """Back to the asked problem."""
        self.softening[:] = 0.0
        self.is_soft, self.hardened, self.left = False, True, np.inf
        self.refresh(problem)
        self.begin_pass()

    def set_friction(self, problem: Problem, limit: Vector) -> None:
        """New bounds for the tangents; x stays at the bounds where it was, and within them everywhere."""
        assert self.friction is not None
        tangents = self.friction.rows
        self.upper[tangents], self.lower[tangents] = limit, -limit
        closed = tangents[limit == 0.0]
        self.sets[closed] = -1
        np.copyto(self.point, self.lower, where=self.sets < 0)
        np.copyto(self.point, self.upper, where=self.sets > 0)
        np.clip(self.point, self.lower, self.upper, out=self.point)
        self.left = np.inf
        self.counters["bound_updates"] += 1
        self.refresh(problem)
        self.begin_pass()


@dataclass(kw_only=True)
class SplitState(FaceSearch):
    """Where MPRGP stands: the gradient is split into its free part and the chopped one, of rows that want to leave."""

    preconditioner: Preconditioner | None
    no_shift: Vector
    length: float
    """Of an expansion step; Dostál's alpha-bar."""
    shortest: float
    reduced: float = 0.0
    """(Reduced free gradient)^T (free gradient)."""
    chopped: float = 0.0
    """The squared length of the chopped gradient."""
    noise: float = 0.0
    """Rounding errors of the slack, in units of the metric."""
    is_new: bool = False
    """Whether a nested start is still to come."""

    def split(self) -> None:
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


def load_kernels() -> None:
    """Call every kernel of `perp.kernels.gradient.conjugate_gradients` on nothing, before the clock of a step runs."""
    v, data = np.empty(0), freeze(np.empty(0))
    sets, pivots = np.empty(0, dtype=np.int8), np.empty(0, dtype=np.int64)
    kernels.dot(v, v)
    kernels.measure_direction(v, v, v, v)
    kernels.step_to_bound(v, v, v, v)
    kernels.take_step(v, v, v, v, 0.0, v, v)
    kernels.project_step(v, v, 0.0, v, v, v)
    kernels.change_of_objective(v, v, v, v)
    kernels.turn(v, v, 0.0)
    kernels.face_residual(sets, v, v)
    kernels.keep_in_face(sets, v, v)
    kernels.tighten(sets, v, v, v, v, pivots)
    kernels.release(sets, v, v, v, v, 0.0, pivots)
    kernels.measure_face(sets, v, v, data, v, v, v)
    kernels.split_gradient(v, v, v, v, v, 0.0, v)
    kernels.chopped_direction(v, v, v, v, v, v, v)
    kernels.project_gradient(v, v, v, v, v, 0.0, True, v)
