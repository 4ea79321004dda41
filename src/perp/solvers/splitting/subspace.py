"""Projected Gauss-Seidel with subspace minimisation (PGS-SM section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems import SPACES, FreeSystem, KrylovSystem, choose_system
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options.checks import require_choices, space_objection
from perp.solvers.options.docs import About, option
from perp.solvers.options.shared import INNER_ITERATIONS, INNER_TOLERANCE, PRECONDITIONER, SPACE
from perp.solvers.results.status import Status
from perp.solvers.splitting.diagonal import diagonal_objection
from perp.solvers.splitting.orders import Order, make_order
from perp.solvers.splitting.subspace_equation import ReducedEquation
from perp.solvers.splitting.subspace_phase import FIRST_WEIGHT, Phase, measure
from perp.solvers.splitting.sweeps import Sweeper, make_sweeper
from perp.solvers.symmetry import asymmetry_objection

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
