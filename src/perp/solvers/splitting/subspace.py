"""Projected Gauss-Seidel with subspace minimisation (PGS-SM section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems import (
    SPACES,
    FreeSystem,
    KrylovSystem,
    choose_system,
    factor_or_exchange,
    purify,
    small_shift,
)
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import (
    INNER_ITERATIONS,
    INNER_TOLERANCE,
    PRECONDITIONER,
    SPACE,
    About,
    option,
    require_choices,
    space_objection,
)
from perp.solvers.results import Status
from perp.solvers.splitting.sweeps import Order, Sweeper, diagonal_objection, make_order, make_sweeper
from perp.solvers.symmetry import asymmetry_objection, symmetric_scales

Mask = NDArray[np.bool_]

ROUNDING = 16.0 * 2.0**-52
"""Rounding errors of a slack, as a share of the largest scaled impulse and bias."""

REFINEMENTS = 10
"""Steps of iterative refinement at most; each must at least halve what is left."""

CONTRADICTION, NOISE = 1e-8, 1e-11
"""A solve that leaves more than these shares, of the slack and of the numbers involved, has met a contradiction."""

Sets = NDArray[np.int8]

LOWER, ACTIVE, UPPER, FIXED = -1, 0, 1, 2

SAME_BOUNDS = 1e-14
"""Bounds that moved by no more than this share of the largest have stayed."""

FIRST_WEIGHT = 0.01
"""Of the proximal term, a share of A_ii, when it is needed.

Where rows contradict each other, a sweep adds some of a null vector to x, and a step of weight w what 1 / w sweeps do.
"""

COUNTED = ("sweeps", "subspace_steps", "factorisations", "cg_iterations", "fallbacks")

LINEAR = ("direct", "cg", "pcg")

BOUNDS = ("inside", "lazy")

REGULARISE = ("all", "friction")

FALLBACKS = ("proximal", "best", "none")

MUCH_WORSE = 2.0
"""A residual so many times that of the best iterate shows at once that the subspace steps led astray."""

PATIENCE = 3
"""Iterations that may pass without a better residual before the proximal weight is found too large."""

CAUTION, COURAGE, GREATEST_WEIGHT, LEAST_WEIGHT = 4.0, 0.25, 1.0, 1e-6
"""Factors of the proximal weight after a fallback and after a better residual; below the least it is zero."""

SWEEPS_A_CALL = 100
"""So that Ctrl-C acts also within an iteration of very many sweeps."""


class ReducedEquation:
    """(A_FF + S_F + W_F) x_F = W_F c_F - (b_F + A_FT x_T) for a changing set F of active rows, T all others.

    S = diag(regularisation) belongs to the method (PGS-SM 5.1). W = weight diag(A) draws the solution towards the
    point c where the solve begins.

    It is solved for a correction of the present x_F. So where A_FF is singular and the equation has many solutions, one
    near x is found: what null vectors of A_FF add to x_F is not touched.
    """

    def __init__(self, problem: Problem, system: FreeSystem, regularisation: Vector) -> None:
        assert problem.diagonal is not None
        self.system: FreeSystem = system
        self._problem, self._regularisation = problem, regularisation
        self._stiffness = np.maximum(problem.diagonal, 0.0)
        self._scale = symmetric_scales(problem)
        self._bias = float(np.abs(problem.b * self._scale).max(initial=0.0))
        self._factored: tuple[Mask, float] | None = None
        self.contradicts: bool = False
        """Whether the last solve left the equation unsolved, because no x solves it."""

    def slack(self, x: Vector) -> Vector:
        """(A + S) x + b."""
        return self._problem.A.slack(x, self._problem.b, np.empty(x.size)) + self._regularisation * x

    def solve(self, x: Vector, free: Mask, weight: float = 0.0) -> Vector:
        """x with x_F changed so that the equation holds as far as it can; the other rows stay as they are."""
        self._factor(free, weight)
        point, first, before = x, np.inf, np.inf
        for k in range(REFINEMENTS):
            rest = np.where(free, self.slack(point) + weight * self._stiffness * (point - x), 0.0)
            left = float(np.abs(rest * self._scale).max(initial=0.0))
            size = float(np.abs(point / self._scale).max(initial=0.0)) + self._bias
            if not np.isfinite(left + size):
                raise NotFinite("the solution of the reduced equation is not finite")
            first = left if k == 0 else first
            enough = max(ROUNDING * size, 2.0 * self.system.tolerance * first)
            if left <= enough or left > 0.5 * before:
                break
            before = left
            point = point - self.system.solve(rest)
        self.contradicts = left > max(CONTRADICTION * first, NOISE * size, enough)
        return point

    def solve_least_squares(self, x: Vector, free: Mask) -> Vector:
        """For rows that contradict each other: the x_F near x that leaves the least of the slack.

        The factor has a small shift P, and what contradicts in a right-hand side r is P z for a null vector z of A_FF;
        it makes (A_FF + P)^-1 r huge along z. So z is found there, and its part taken out of r. Twice, as rounding
        errors of what is huge look like other null vectors.
        """
        self._factor(free, 0.0)
        point = x
        for _ in range(2):  # the second time repairs what the shift changes
            rest = np.where(free, self.slack(point), 0.0)
            shift = np.where(free, self.system.added, 0.0)
            for _ in range(2):
                null = purify(self.system, free, self.system.solve(rest), shift)
                length = float(np.sum(shift * null * null))
                if length > 0.0:
                    rest = rest - shift * null * (float(np.sum(null * rest)) / length)
            point = point - self.system.solve(rest)
        if not np.isfinite(point).all():
            raise NotFinite("the solution of the reduced equation is not finite")
        return point

    def _factor(self, free: Mask, weight: float) -> None:
        """Factor A_FF, unless that is what the system holds already."""
        if self._factored is not None and self._factored[1] == weight and np.array_equal(self._factored[0], free):
            return
        self._factored = None  # a factor that fails leaves nothing to solve with
        shift = self._regularisation + weight * self._stiffness
        self.system = factor_or_exchange(self._problem, self.system, free, shift)
        if self.system.dependent:  # refinement will take the small shift back, as far as the rows do not contradict
            self.system = factor_or_exchange(self._problem, self.system, free, shift + small_shift(self._problem))
        self._factored = free.copy(), weight


@dataclass
class Phase:
    """What the phases of one solve share, and what they did."""

    equation: ReducedEquation
    most_steps: int
    moves_bounds: bool
    """Whether the bounds follow the impulses from step to step (PGS-SM line 13), or stay till the phase is over."""
    is_proximal: bool
    relative: float
    """Stop where the residual changes by less than this share (eq. 27); 0 never does."""
    weight: float = 0.0
    """Of the proximal term: none until something goes wrong."""
    steps: int = 0

    def run(self, problem: Problem, x: Vector, residual: float) -> tuple[Vector, float]:
        """Up to `most_steps` subspace steps from x; the point they reach, within its bounds, and its residual."""
        equation, point, answer = self.equation, x, x
        lower, upper = problem.bounds(point)
        for _ in range(self.most_steps):
            sets = find_sets(point, lower, upper)  # lines 7-9, eq. 19
            active = sets == ACTIVE
            if not active.any():
                break
            solved = equation.solve(point, active, self.weight)  # line 10, eq. 22
            self.steps += 1
            if equation.contradicts and self.weight == 0.0:
                if self.is_proximal:
                    self.weight = FIRST_WEIGHT
                    continue
                solved = equation.solve_least_squares(point, active)
            last_upper, last_residual = upper, residual
            if self.moves_bounds:
                lower, upper = problem.bounds(solved)  # line 13
            point = np.clip(solved, lower, upper)  # line 14, eq. 24
            point = np.where(sets == LOWER, lower, np.where(sets == UPPER, upper, point))  # line 15
            answer = problem.project(point)
            residual = measure(problem, equation, answer)
            if _have_stayed(last_upper, upper) and np.array_equal(find_sets(point, lower, upper), sets):
                break  # line 16, eq. 26
            if abs(residual - last_residual) < self.relative * last_residual:  # line 16, eq. 27
                break
        return answer, residual


def find_sets(x: Vector, lower: Vector, upper: Vector) -> Sets:
    """At the lower bound, active, or at the upper bound (eq. 19).

    A row with lower = upper, such as a tangent of a contact without normal impulse, is in none of them: fixed.
    """
    sets = np.zeros(x.size, dtype=np.int8)
    sets[x >= upper] = UPPER
    sets[x <= lower] = LOWER
    sets[lower == upper] = FIXED
    return sets


def measure(problem: Problem, equation: ReducedEquation, x: Vector) -> float:
    """The residual as the loop takes it, of the problem that the reduced equation belongs to (regularised or not)."""
    lower, upper = problem.bounds(x)
    y = problem.row_scales * equation.slack(x)
    return float(np.abs(np.clip(y, x - upper, x - lower)).max(initial=0.0))


def _have_stayed(before: Vector, now: Vector) -> bool:
    """Friction bounds come in pairs, so the upper ones tell."""
    finite = np.isfinite(now)
    change = np.abs(now[finite] - before[finite]).max(initial=0.0)
    return bool(change <= SAME_BOUNDS * np.abs(now[finite]).max(initial=0.0))


@dataclass
class SubspaceState(State):
    """x is the better of the two points that an iteration ends its phases with (with `fallback="none"` the last)."""

    point: Vector
    """Where the next iteration begins."""
    sweeper: Sweeper
    order: Order
    phase: Phase
    refuge: Vector
    """The last swept iterate that was not found much worse than the best one: where a fallback leads to."""
    least: float = np.inf
    """The least residual of a swept iterate (since the last fallback)."""
    waited: int = 0
    """Iterations since then."""


@dataclass(frozen=True)
class PGSSM(Method[SubspaceState]):
    """Sweeps of projected Gauss-Seidel find out which rows are active, a linear system solves for those rows exactly.

    One iteration is `k_pgs` sweeps and then up to `k_sm` subspace steps, each of which takes the index sets from x (eq.
    19; a row whose bounds coincide is fixed), solves

        A_AA x_A = -(b_A + A_AL lower_L + A_AU upper_U)                                                       (eq. 22)

    brings friction bounds up to date and clips x_A to them (eq. 24). Steps end early when neither index sets nor bounds
    change any more (eq. 26), or the residual hardly does (eq. 27: by less than `relative`; printed without the absolute
    value, which would stop at any decrease). Exact once the sets are right and the bounds are fixed; friction bounds
    that follow the impulses are a fixed point iteration. `bounds="lazy"` leaves them alone during these steps (5.1).

    Wrong sets lead far astray. `fallback="best"` judges subspace steps after the sweeps that follow them: where the
    residual is no better then, the best iterate is taken up again and swept instead, so that an iteration brings a
    better residual or is one of PGS from the best iterate. Redundant contacts whose biases contradict each other make
    fallbacks the rule. So the default, `fallback="proximal"`, also adds weight A_ii (x_i - c_i) to the rows of eq. 22,
    c being where the step begins: it changes the way, not the answer. The weight grows with each fallback and falls
    with success; a residual up to twice the least does not count as a failure, as it may rest for long while null
    vectors grow. `fallback="none"` is the method as printed, with least squares where rows contradict each other.

    `regularisation` adds gamma to the diagonal of A_AA, on all rows or (`regularise="friction"`) on the tangents of
    contacts, for boxes on rows with two finite bounds (5.1). That does change the answer, so the residual stays large.

    `linear` solves eq. 22 by factors (`space` as in block_principal), by cg (the paper's way) or by pcg with a
    `preconditioner`, to the share `inner_tolerance` in at most `inner_iterations`. Dependent rows are no obstacle.
    """

    name: ClassVar[str] = "pgs_sm"
    synonyms: ClassVar[tuple[str, ...]] = ("PGS with subspace minimization", "subspace minimization")
    family: ClassVar[str] = "splitting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS})
    requires: ClassVar[str] = "a positive diagonal; converges where PGS does, for instance symmetric semidefinite A"
    reference: ClassVar[str] = "PGS-SM section 4, eq. 19-27, and 5.1"
    counted: ClassVar[tuple[str, ...]] = COUNTED
    scales_itself: ClassVar[bool] = True

    k_pgs: int = option(25, About("sweeps of projected Gauss-Seidel in an iteration", at_least=1))
    k_sm: int = option(5, About("most subspace steps in an iteration", at_least=0))
    bounds: str = option(
        "inside", About("friction bounds follow the impulses in subspace steps, or rest in them (lazy)", BOUNDS)
    )
    fallback: str = option(
        "proximal",
        About(
            "where steps led astray: sweep from the best iterate (best), and weigh later steps by a proximal term"
            " (proximal); or go on (none)",
            FALLBACKS,
        ),
    )
    relative: float = option(
        0.0, About("subspace steps end early when the residual changes by less than this share", at_least=0.0)
    )
    regularisation: float = option(
        0.0, About("added to the diagonal of the subspace equation [unit of A]; it changes the answer", at_least=0.0)
    )
    regularise: str = option("all", About("the rows that `regularisation` is added to", REGULARISE))
    linear: str = option(
        "direct",
        About("subspace equations are solved by factors, by cg (the paper's way), or by preconditioned cg", LINEAR),
    )
    space: str = option("auto", SPACE)
    preconditioner: str | Recipe = option("jacobi", PRECONDITIONER)
    inner_tolerance: float = option(1e-8, INNER_TOLERANCE)
    inner_iterations: int = option(5000, INNER_ITERATIONS)

    def __post_init__(self) -> None:
        require_count(self.k_pgs, "k_pgs", least=1)
        require_count(self.k_sm, "k_sm")
        require_number(self.relative, "relative")
        require_number(self.regularisation, "regularisation")
        require_number(self.inner_tolerance, "inner_tolerance", positive=True)
        require_count(self.inner_iterations, "inner_iterations", least=1)
        make_recipe(self.preconditioner)
        require_choices(self, bounds=BOUNDS, fallback=FALLBACKS, regularise=REGULARISE, linear=LINEAR, space=SPACES)

    def objection(self, problem: Problem) -> str | None:
        objection = diagonal_objection(problem)
        if self.linear == "direct":
            return objection or space_objection(problem, "space", self.space)
        return objection or asymmetry_objection(problem) or self._recipe.objection(problem)

    def default_iterations(self, problem: Problem) -> int:
        return 200

    def start(self, problem: Problem, x: Vector) -> SubspaceState:
        equation = ReducedEquation(problem, self._make_system(problem), self._find_regularisation(problem))
        is_proximal = self.fallback == "proximal"
        point = x.copy()
        return SubspaceState(
            x,
            point,
            make_sweeper(problem, 1.0, point),
            make_order(problem, "forward"),
            Phase(equation, self.k_sm, self.bounds == "inside", is_proximal, self.relative),
            refuge=x.copy(),
            repeatable=self.fallback == "none",
            counters=dict.fromkeys(COUNTED, 0.0),
        )

    @property
    def _recipe(self) -> Recipe:
        return make_recipe(self.preconditioner if self.linear == "pcg" else "none")

    def _make_system(self, problem: Problem) -> FreeSystem:
        if self.linear == "direct":
            return choose_system(problem, self.space)
        return KrylovSystem(problem, self._recipe, self.inner_tolerance, self.inner_iterations)

    def _find_regularisation(self, problem: Problem) -> Vector:
        """gamma on all rows, or on those of friction."""
        gamma = np.full(problem.n, float(self.regularisation))
        if self.regularise == "friction":
            lower, upper = problem.bounds(np.ones(problem.n))
            gamma[~np.isfinite(upper - lower)] = 0.0
            if problem.contacts:
                gamma[problem.contact_rows :] = 0.0
        return gamma

    def step(self, problem: Problem, state: SubspaceState, count: int) -> None:
        state.order.iterate(state.sweeper.sweep, 0)
        done = 0
        while done < count and state.ended is None:
            try:
                self._iterate(problem, state)
            except NotPositive as fault:
                state.ended = Status.BREAKDOWN, str(fault)
            done += 1
        state.unused = count - done
        made = state.phase.equation.system.counters()
        state.counters["subspace_steps"] = float(state.phase.steps)
        state.counters["factorisations"] = made["factorisations"]
        state.counters["cg_iterations"] = made.get("inner_iterations", 0.0)

    def _iterate(self, problem: Problem, state: SubspaceState) -> None:
        self._sweep(state)
        if not np.isfinite(state.point).all():
            np.copyto(state.x, state.point)  # the loop sees it, and stops
            return
        residual = measure(problem, state.phase.equation, state.point)
        if self.fallback != "none":
            residual = self._judge(problem, state, residual)
        np.copyto(state.x, state.point)
        try:
            point, reached = state.phase.run(problem, state.x, residual)
        except NotFinite:
            state.counters["fallbacks"] += 1
            return  # with the point as the sweeps left it
        np.copyto(state.point, point)
        if self.fallback == "none" or reached <= residual:
            np.copyto(state.x, point)

    def _sweep(self, state: SubspaceState) -> None:
        if state.sweeper.refresh is not None:
            state.sweeper.refresh()  # the subspace steps did not move the velocity
        for done in range(0, self.k_pgs, SWEEPS_A_CALL):
            state.order.iterate(state.sweeper.sweep, min(SWEEPS_A_CALL, self.k_pgs - done))
        state.counters["sweeps"] += self.k_pgs

    def _judge(self, problem: Problem, state: SubspaceState, residual: float) -> float:
        """Whether the last subspace steps were worth it; if not, back to the refuge. Returns the point's residual."""
        phase = state.phase
        bolder = COURAGE * phase.weight if COURAGE * phase.weight >= LEAST_WEIGHT else 0.0
        if residual < state.least:
            phase.weight, state.least, state.waited = bolder, residual, 0
        elif self.fallback == "proximal" and residual <= MUCH_WORSE * state.least and state.waited < PATIENCE:
            state.waited += 1
        elif self.fallback == "proximal" and residual <= MUCH_WORSE * state.least and phase.weight > 0.0:
            phase.weight, state.waited = bolder, 0
        else:
            np.copyto(state.point, state.refuge)
            self._sweep(state)
            residual = measure(problem, phase.equation, state.point)
            state.counters["fallbacks"] += 1
            if self.fallback == "proximal":
                phase.weight = min(max(CAUTION * phase.weight, FIRST_WEIGHT), GREATEST_WEIGHT)
            state.least, state.waited = residual, 0
        np.copyto(state.refuge, state.point)
        return residual
