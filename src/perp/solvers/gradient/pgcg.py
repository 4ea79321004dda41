"""The preconditioned generalised conjugate gradient method (THESIS 5.2, Algorithm 11; O'Leary 1980)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.gradient import conjugate_gradients as kernels
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY
from perp.problems.problem import Problem
from perp.solvers.gradient.face_states import EPSILON, FaceState, load_kernels
from perp.solvers.gradient.rays import end_on_ray, optimal_step
from perp.solvers.method import Method
from perp.solvers.options import PIVOT_LIMIT, PRECONDITIONERS, SOFTENING, About, option, require_choices
from perp.solvers.pivoting.pivot_state import FrictionBounds
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection

REFRESH_EVERY = 64
"""Steps after which a pass that ends computes the slack anew."""

HALVED = 0.5
"""A slack computed anew that is not smaller than this share of the last time will not get smaller any more."""

READY = 0.03
"""Friction bounds move on when the residual is this share of what they still miss."""

NARROW = 1e-12
"""Friction bounds below this share of the largest impulse are closed: rounding would move x across them."""

AT_BOUNDS = ("stop", "project")
REBUILD = ("always", "pass")
FREE_START = ("x0", "zero")


@dataclass(frozen=True)
class PGCG(Method[FaceState]):
    """Conjugate gradients on the free rows that stop at every bound they meet, and never leave the box.

        r_F = -(A x + b)_F,   P z = r_F,   q = z + beta q,   x_F += min(alpha_CG, alpha_max) q

    with alpha_CG of eq. 4.4, beta of eq. 4.5 and alpha_max, the step to the nearest bound, of eq. 5.1. A row that gets
    to a bound becomes tight, and the directions start afresh. A pass is over when r_F is `inner_tolerance` times as
    long as at its beginning (in the norm of P^-1), or after `inner_iterations` steps: then all tight rows whose slack
    has the wrong sign become free (eq. 2.43-2.44). The objective 1/2 x^T A x + b^T x falls with every step, so no face
    is solved twice. One iteration is one step. (Algorithm 11 as printed uses z and r before they are known and goes on
    while r is small; here stands the usual order of PCG.)

    Without bounds this is preconditioned conjugate gradients. Directions go on from pass to pass where no row was
    freed, and the slack is updated with the product A q that a step needs anyway.

    `preconditioner` is a name or a recipe of `perp.linalg.preconditioners`; it is made anew at every change of the free
    rows (`rebuild="always"`, as in the listing) or only at the beginning of a pass ("pass"): rows that became tight
    since are then left out of r and z, and what is left of P^-1 is still symmetric positive definite.
    `at_bounds="stop"` is the listing's: rows meet their bounds one by one. "project" first tries the whole step
    alpha_CG and clips it, which moves many rows at once, and takes it if the objective falls at least as much; that
    costs a second product.

    x0 gives the first index sets by position (THESIS 5.3); its free entries are taken as they are or, with
    `free_start="zero"`, set to zero. `regularisation` > 0 adds that share of A_ii to the diagonal of a friction row
    (two finite bounds) each time that it pivoted `pivot_limit` times, twice, four times as many, ... (Algorithm 9);
    once no row wants to change, the asked problem is solved from there. Friction bounds that follow the normal impulse
    stay fixed until the problem with these bounds is nearly solved, and then go a share of the way
    (`perp.solvers.pivoting.pivot_state`); that need not converge.
    """

    name: ClassVar[str] = "pgcg"
    family: ClassVar[str] = "gradient"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY})
    requires: ClassVar[str] = "symmetric positive semi-definite A"
    reference: ClassVar[str] = "THESIS 5.2-5.4, Algorithms 9 and 11; O'Leary 1980"
    scales_itself: ClassVar[bool] = True
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("passes", "products", "pivots", "preconditioners", "bound_updates")

    preconditioner: str | Recipe = option("jacobi", About("that of the conjugate gradients", PRECONDITIONERS))
    inner_iterations: int = option(1000, About("most steps of a pass", at_least=1))
    inner_tolerance: float = option(
        0.1, About("share of r_F, as it was at its beginning, that a pass may leave", at_least=0.0, below=1.0)
    )
    rebuild: str = option(
        "always", About("make the preconditioner anew always when free rows change, or only as a pass begins", REBUILD)
    )
    at_bounds: str = option("project", About("stop at a bound, or clip the whole step if that is better", AT_BOUNDS))
    free_start: str = option("x0", About("free rows begin at x0, or at zero", FREE_START))
    regularisation: float = option(0.0, SOFTENING)
    pivot_limit: int = option(5, PIVOT_LIMIT)

    def __post_init__(self) -> None:
        make_recipe(self.preconditioner)
        require_count(self.inner_iterations, "inner_iterations", least=1)
        require_count(self.pivot_limit, "pivot_limit", least=1)
        require_number(self.regularisation, "regularisation")
        require_number(self.inner_tolerance, "inner_tolerance")
        if self.inner_tolerance >= 1.0:
            raise ValueError(f"inner_tolerance is {self.inner_tolerance}; a pass must make r_F shorter: below 1")
        require_choices(self, rebuild=REBUILD, at_bounds=AT_BOUNDS, free_start=FREE_START)

    def objection(self, problem: Problem) -> str | None:
        return make_recipe(self.preconditioner).objection(problem) or asymmetry_objection(problem)

    def default_iterations(self, problem: Problem) -> int:
        return max(1000, 50 * problem.n)

    def start(self, problem: Problem, x: Vector) -> FaceState:
        preconditioner = make_recipe(self.preconditioner).prepare(problem)
        state = FaceState.begin(problem, x, preconditioner, self.pivot_limit)
        state.counters = dict.fromkeys(self.counted, 0.0)
        if self.free_start == "zero":
            state.point = np.where(state.sets == 0, np.clip(0.0, state.lower, state.upper), x)
            state.x = problem.project(state.point)
        state.refresh(problem)
        return state

    def refresh(self, problem: Problem, state: FaceState) -> None:
        state.refresh(problem)

    def step(self, problem: Problem, state: FaceState, count: int) -> None:
        if count == 0:
            load_kernels()
        done = 0
        while done < count and self._find_direction(problem, state):
            self._advance(problem, state)
            done += 1
        state.unused = count - done
        state.x = state.point if state.friction is None else problem.project(state.point)

    def _find_direction(self, problem: Problem, state: FaceState) -> bool:
        """Close passes and drop rows that stand in the way, until q leads somewhere; False at the end."""
        while state.ended is None:
            if state.is_new_face:
                self._restart(state)
            if not 0.0 <= state.rho < np.inf:
                state.ended = Status.BREAKDOWN, "r^T P^-1 r is negative or not finite: the preconditioner is not usable"
            elif state.rho <= state.goal or state.inner >= self.inner_iterations:
                self._close_pass(problem, state)
            else:
                state.longest = kernels.step_to_bound(state.point, state.q, state.lower, state.upper)
                if state.longest > 0.0:
                    return True
                self._tighten(state)  # x rests: a released row that P leads back to its bound
        return False

    def _restart(self, state: FaceState) -> None:
        """q = z = P^-1 r (lines 4-8 and 16-19)."""
        if state.is_new_pass or self.rebuild == "always":
            state.preconditioner.follow(state.sets == 0, state.softening)
            state.counters["preconditioners"] += 1
        state.q, state.rho = self._precondition(state)
        if state.is_new_pass:
            state.inner = 0
        if state.inner == 0:  # also where P led released rows back to their bounds: every pass takes a step
            state.goal = self.inner_tolerance**2 * state.rho
        state.is_new_pass = state.is_new_face = False

    @staticmethod
    def _precondition(state: FaceState) -> tuple[Vector, float]:
        """z = P^-1 r and r^T z."""
        kernels.face_residual(state.sets, state.y, state.r)
        z = state.preconditioner.apply(state.r)
        return z, kernels.keep_in_face(state.sets, state.r, z)

    def _tighten(self, state: FaceState) -> None:
        hit = kernels.tighten(state.sets, state.point, state.q, state.lower, state.upper, state.pivots)
        state.counters["pivots"] += hit
        state.is_new_face = True

    def _advance(self, problem: Problem, state: FaceState) -> None:
        """One step along q (lines 10-23)."""
        q, product = state.q, state.product
        problem.A.slack(q, state.zero, product)
        state.counters["products"] += 1
        if state.is_soft:
            product += state.softening * q
        slope, curvature, length = kernels.measure_direction(state.r, q, product, state.weight)
        if not (np.isfinite(slope + curvature + length) and length > 0.0):
            state.ended = Status.BREAKDOWN, "a direction is out of the range of numbers"
            return
        if slope <= 0.0:  # rounding has turned q away from descent
            state.is_new_face = True
            return
        state.stiffness = max(state.stiffness, abs(curvature) / length)
        step = optimal_step(slope, curvature, length, state.stiffness)
        if step == np.inf == state.longest:
            end_on_ray(problem, state, q, curvature, length, state.stiffness)
            return
        state.inner += 1
        state.steps_since_refresh += 1
        if step < np.inf and step > state.longest and self.at_bounds == "project":
            first = state.longest * (0.5 * state.longest * curvature - slope)  # the change up to the nearest bound
            if self._project(problem, state, step, first):
                self._tighten(state)
                return
        bounds = (state.lower, state.upper)
        if kernels.take_step(state.point, state.y, q, product, min(step, state.longest), *bounds):
            self._tighten(state)
        else:
            before = state.rho
            z, state.rho = self._precondition(state)
            kernels.turn(q, z, state.rho / before)  # eq. 4.5

    @staticmethod
    def _project(problem: Problem, state: FaceState, step: float, change: float) -> bool:
        """Go the whole step and clip it, if that changes the objective by `change` or lowers it more."""
        kernels.project_step(state.point, state.q, step, state.lower, state.upper, state.trial)
        state.evaluate(problem, state.trial, state.trial_y)
        if kernels.change_of_objective(state.point, state.y, state.trial, state.trial_y)[0] > change:
            return False
        state.point, state.trial = state.trial, state.point
        state.y, state.trial_y = state.trial_y, state.y
        state.steps_since_refresh = 0
        return True

    def _close_pass(self, problem: Problem, state: FaceState) -> None:
        """Free the rows that object (lines 26-32); where none does, go on, or on to the asked problem, or end."""
        if state.steps_since_refresh >= REFRESH_EVERY:  # only rounding errors change, and the directions may go on
            state.renew_slack(problem)
            _, state.rho = self._precondition(state)
        size, left, wrong = state.measure(problem)
        if state.friction is not None and self._follow_friction(problem, state, state.friction, size, max(left, wrong)):
            return
        tight = (state.sets, state.y, state.lower, state.upper, state.weight)
        released = kernels.release(*tight, 4.0 * EPSILON * size, state.pivots)
        if released:
            state.counters["pivots"] += released
            state.left = np.inf
            if self.regularisation > 0.0 and not state.hardened:
                state.soften(self.regularisation)
            state.begin_pass()
        elif state.is_soft:
            state.harden(problem)
        elif left > EPSILON * size and state.rho > 0.0:
            state.goal, state.inner = self.inner_tolerance**2 * state.rho, 0
        elif left > EPSILON * size:
            state.ended = Status.BREAKDOWN, "r^T P^-1 r is zero, and r is not: it is too small for the range of numbers"
        elif state.steps_since_refresh == 0 or not self._sharpen(problem, state):
            state.ended = Status.REDUCED_ACCURACY, "the index sets are right"

    @staticmethod
    def _sharpen(problem: Problem, state: FaceState) -> bool:
        """Compute the slack anew and go on from there; whether less is left of it than the last time."""
        before = state.left
        state.refresh(problem)
        state.left = state.measure(problem)[1]
        return state.left < HALVED * before

    @staticmethod
    def _follow_friction(
        problem: Problem, state: FaceState, friction: FrictionBounds, size: float, residual: float
    ) -> bool:
        """Let friction bounds follow the normal impulses, once the residual is small beside what they miss."""
        root = np.sqrt(state.weight[friction.rows])
        wanted = problem.bounds(state.point)[1][friction.rows]
        missing = float((np.abs(wanted - friction.limit) / root).max(initial=0.0))
        least = NARROW * size * root
        if residual > READY * missing or not friction.follow(np.where(wanted < least, 0.0, wanted)):
            return False
        if friction.has_stalled:
            state.ended = Status.STAGNATED, "friction bounds follow the normal impulses and do not settle"
        friction.limit[friction.limit < least] = 0.0
        state.set_friction(problem, friction.limit)
        return True
