"""Where block principal pivoting stands, and what is done with its index sets.

Free rows are solved for, also where they depend on one another; rows that want to change sides are chosen among; and
where blocks or their path come to a dead end, vectors are found that may prove that there is no solution (`solve`
checks them: `perp.problems.certificates`).

Friction bounds that follow the normal impulse, for methods that solve with fixed bounds.

Solve, take the bounds friction x_n of the normal impulses found, solve again: a fixed point iteration (the staggering
of normal and friction impulses has the same idea, NOTES section 8). Undamped it wanders for ever on larger stacks; so
the bounds go a share of the way, and a smaller share when they come no nearer. It still need not converge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perp.kernels.measures import index_sets
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import FreeSystem, factor_or_exchange, purify, small_shift
from perp.problems.certificates import PROVABLE, verify_certificate
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.pivoting.parametric import Path, Sets
from perp.solvers.results import Status

SAME_BOUNDS = 1e-12
"""Friction bounds have settled when they miss those of their normal impulses by less than this share of the largest."""

NARROW = 1e-12
"""Friction bounds below this share of the largest impulse are closed: rounding would move x across them."""

FIRST_SHARE, LEAST_SHARE = 0.7, 0.02
"""Which share of the way friction bounds go, at most and at least; the first time they go all of it."""

COURAGE, CAUTION = 1.02, 0.7
"""The factor of that share when the way has become shorter, and when it has not."""

MOST_FRUITLESS = 1000
"""So many updates without coming closer than ever before show that they never will."""

PATIENCE = 2
"""So many updates may bring friction bounds no nearer before the share is made smaller."""

EPSILON = 16.0 * 2.0**-52
"""Rounding errors of a slack, as a share of the largest scaled impulse and bias."""

ROUGH = 1e-11
"""The accuracy of a solve whose index sets will not stay, in the same units; no solve need be better than that."""

REFINEMENTS = 30
"""Steps of iterative refinement at most; each must at least halve what is left, so that two or three are common."""

CONTRADICTION = 1e-9
"""Free rows whose slack stays above this share of the bias contradict each other."""


@dataclass
class FrictionBounds:
    """Friction bounds on their way to friction x_n: a fixed point iteration, damped more where it gets stuck."""

    rows: NDArray[np.intp]
    """The tangents."""
    limit: Vector
    """The bounds that the pivots go by: |x_t| <= limit."""
    share: float = 1.0
    nearest: float = np.inf
    failed: int = 0
    closest: float = np.inf
    fruitless: int = 0
    """Updates since the bounds were closest to those that they follow."""
    seen: set[bytes] = field(default_factory=set)

    @staticmethod
    def of(problem: Problem, x: Vector) -> FrictionBounds | None:
        """The bounds that stand at x; None where there are no contacts."""
        contacts = problem.frictional
        if contacts is None:
            return None
        tangents = np.flatnonzero(np.arange(contacts.contact_rows) % contacts.dimension)
        return FrictionBounds(tangents, problem.bounds(x)[1][tangents])

    def follow(self, wanted: Vector) -> bool:
        """Go a share of the way to the bounds `wanted`; False where that is no way at all."""
        distance = float(np.abs(wanted - self.limit).max(initial=0.0))
        if distance <= SAME_BOUNDS * wanted.max(initial=0.0):
            return False
        self.fruitless = 0 if distance < self.closest else self.fruitless + 1
        self.closest = min(distance, self.closest)
        self.limit = self.limit + self.share * (wanted - self.limit)
        if distance < self.nearest:
            self.nearest, self.failed, self.share = distance, 0, min(COURAGE * self.share, FIRST_SHARE)
        elif self.failed < PATIENCE:
            self.failed += 1
        else:
            self.nearest, self.failed, self.share = distance, 0, max(CAUTION * self.share, LEAST_SHARE)
        return True

    @property
    def has_stalled(self) -> bool:
        """The bounds wander and come no closer to those that they follow."""
        return self.fruitless > MOST_FRUITLESS

    def came_again(self, index_sets: bytes) -> bool:
        """Whether these index sets were found with these very bounds before."""
        here = index_sets + self.limit.tobytes() + np.float64(self.share).tobytes()
        known = here in self.seen
        self.seen.add(here)
        return known


def follow_impulses(problem: Problem, state: PivotState, friction: FrictionBounds, size: float) -> bool:
    """Let the friction bounds of block pivots follow the normal impulses; False where they have settled."""
    tangents = friction.rows
    least = NARROW * size * state.scale[tangents]
    wanted = problem.bounds(state.point)[1][tangents]
    if not friction.follow(np.where(wanted < least, 0.0, wanted)):
        return False
    if friction.has_stalled:
        state.ended = Status.STAGNATED, "friction bounds follow the normal impulses and do not settle"
        return True
    narrow = friction.limit < least
    friction.limit[narrow] = 0.0
    state.upper[tangents], state.lower[tangents] = friction.limit, -friction.limit
    state.sets[tangents[narrow]] = -1
    state.counters["bound_updates"] += 1
    return True


@dataclass
class PivotState(State):
    """Where block pivoting stands: its index sets, x as the free rows want it (not clipped), and the safeguards."""

    point: Vector
    y: Vector
    """A x + b."""
    soft_y: Vector
    """The same with the softening, by which rows are judged."""
    sets: Sets
    lower: Vector
    upper: Vector
    scale: Vector
    anchor: Sets
    """The first index sets for the present bounds."""
    anchor_point: Vector
    best: Sets
    """Those with the fewest violations."""
    best_point: Vector
    system: FreeSystem
    softening: Vector
    """The slack is A x + b + softening (x - centre): THESIS Algorithm 9, or a proximal term for dependent rows."""
    centre: Vector
    limits: NDArray[np.int64]
    """How often each row may pivot before it is softened (again)."""
    pivots: NDArray[np.int64]
    factored: Sets | None = None
    left: float = 0.0
    """The slack that the last solve left in free rows, as a share of the numbers involved."""
    first: int = 0
    """Violations of the first index sets, for the present bounds; 0 while they are not counted."""
    least: int = 0
    """The fewest violations so far."""
    budget: int = 0
    """Block pivots that may still pass without a new least number of violations."""
    singles: int = 0
    """Single pivots still to do; -1: until there are fewer violations than ever before."""
    apart: bool = False
    """Blocks are made of rows that are not coupled."""
    path: Path | None = None
    friction: FrictionBounds | None = None
    seen: set[int] = field(default_factory=set)
    seen_single: set[int] = field(default_factory=set)
    hardened: bool = False
    """The softening of Algorithm 9 was taken back, and is not to come again."""
    has_dependent_rows: bool = False
    """A set of free rows was singular."""
    proximal: bool = False
    """The softening is a proximal term: taken back by moving its centre to where x is."""


def place_rows(problem: Problem, state: PivotState) -> None:
    """Rows at a bound go there, A_FF is factored, and y is that of the point."""
    point = state.point
    free = state.sets == 0
    np.copyto(point, np.where(state.sets < 0, state.lower, state.upper), where=~free)
    factor_free_rows(problem, state, state.sets)
    if state.system.name == "dense" and not state.system.dependent and not point[~free].any():
        point[free] = 0.0  # with x_T = 0 the slack at x_F = 0 is b, which saves a product
        np.copyto(state.y, problem.b)
    else:
        state.system.slack(problem, point, state.y)


def solve_free_rows(problem: Problem, state: PivotState, accuracy: float) -> float:
    """x_F from A_FF, as a correction of what is there; returns the size of the scaled numbers involved.

    Refined until y_F is below `accuracy` times that size.
    """
    point = state.point
    before, rest = np.inf, np.empty(problem.n)
    data = (state.softening, state.centre, problem.b, state.scale, state.soft_y, rest)
    for _ in range(REFINEMENTS):
        size, left, probe = index_sets.measure_free(state.sets, point, state.y, *data)
        if probe != 0.0:
            raise NotFinite("the solution for the free rows is not finite")
        if left <= accuracy * size or left > 0.5 * before:
            break
        before = left
        known = state.system.dependent
        point -= state.system.solve(rest)
        if state.system.dependent > known:  # conjugate gradients find that out only while they solve
            _note_dependence(state)
        state.system.slack(problem, point, state.y)
    state.left = float(left / size) if size > 0.0 else 0.0
    return float(size)


def factor_free_rows(problem: Problem, state: PivotState, sets: Sets) -> None:
    """Factor A_FF for these sets, unless that is what the system holds already."""
    if state.factored is not None and np.array_equal(state.factored, sets):
        return
    free = sets == 0
    state.system = factor_or_exchange(problem, state.system, free, state.softening)
    if state.system.dependent:  # refinement will take the shift back, as far as the rows do not contradict
        shift = state.softening + small_shift(problem)
        state.system = factor_or_exchange(problem, state.system, free, shift)
        _note_dependence(state)
    state.factored = sets.copy()


def _note_dependence(state: PivotState) -> None:
    state.counters["singular"] += 1
    state.has_dependent_rows = True


def keep_apart(state: PivotState, wanted: Sets) -> None:
    """Of all wishes grant those of rows that are not coupled with one that is further off."""
    rows = np.flatnonzero(wanted != state.sets)
    outside = np.maximum(state.lower - state.point, state.point - state.upper) / state.scale
    violation = np.where(state.sets == 0, outside, np.abs(state.soft_y) * state.scale)
    keep = state.system.keep_apart(rows[np.argsort(-violation[rows], kind="stable")])
    wanted[~keep] = state.sets[~keep]


def keep_first(state: PivotState, wanted: Sets, block_pivots: int) -> None:
    """Of all wishes grant the one of least index: finite for every P-matrix (Murty 1974)."""
    first = int(np.flatnonzero(wanted != state.sets)[0])
    wish = wanted[first]
    wanted[:] = state.sets
    wanted[first] = wish
    state.counters["single_pivots"] += 1
    if state.singles > 0:
        state.singles -= 1
        if state.singles == 0:
            state.budget = block_pivots


def soften(state: PivotState, regularisation: float) -> None:
    """THESIS Algorithm 9, for the rows with two finite bounds."""
    friction = np.isfinite(state.lower) & np.isfinite(state.upper)
    often = friction & (state.sets == 0) & (state.pivots > state.limits)
    if often.any():
        typical = 1.0 / state.scale[often] ** 2  # A_ii up to a factor of 2
        state.softening[often] += regularisation * typical
        state.limits[often] *= 2
        state.factored = None


def find_contradiction(problem: Problem, state: PivotState) -> Vector | None:
    """The part of y_F that no x_F can take away: a null vector of A_FF; None where y_F vanishes or it is none."""
    left = np.where(state.sets == 0, state.y, 0.0)
    bias = float(np.abs(problem.b * state.scale).max(initial=0.0))
    if np.abs(left * state.scale).max(initial=0.0) <= CONTRADICTION * bias:
        return None
    vector = purify(state.system, state.sets == 0, state.system.solve(left), state.system.added)
    largest = np.abs(vector / state.scale).max(initial=0.0)
    is_null = largest > 0.0 and np.abs(problem.A.apply(vector) * state.scale).max() <= CONTRADICTION * largest
    return vector if is_null else None


def find_escape(problem: Problem, state: PivotState) -> Vector | None:
    """The direction along which proximal steps go on for ever, if it is a proof; tried after 4, 8, 16, ... steps.

    Steps of the proximal-point method on a problem without a solution converge to a d with A d = 0 (Pazy 1971).
    """
    updates = int(state.counters["proximal_updates"])
    if updates < 4 or updates & (updates - 1) or problem.kind not in PROVABLE:
        return None
    step = np.where(state.sets == 0, state.point - state.centre, 0.0)
    direction = purify(state.system, state.sets == 0, step, state.softening)
    return direction if verify_certificate(problem, direction).valid else None


def list_objections(problem: Problem, path: Path) -> Vector:
    """Slacks of the wrong sign where x is nearest to zero: a proof where no row helps another one."""
    y = problem.slack(np.clip(np.zeros(problem.n), path.lower, path.upper))
    has_lower, has_upper = np.isfinite(path.lower), np.isfinite(path.upper)
    return np.clip(y, np.where(has_upper, 0.0, -np.inf), np.where(has_lower, 0.0, np.inf))
