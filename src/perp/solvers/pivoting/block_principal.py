"""Block principal pivoting (THESIS 2.5.3, Algorithm 1; Júdice & Pires 1994), with its safeguards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from perp.kernels.measures import index_sets
from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems import LEAST_COMPLIANCE, SPACES, FreeSystem, KrylovSystem, choose_system, small_shift
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method
from perp.solvers.options import (
    ELIMINATION_ORDERS,
    INNER_ITERATIONS,
    INNER_TOLERANCE,
    ORDERING,
    PIVOT_LIMIT,
    PRECONDITIONER,
    SOFTENING,
    SPACE,
    About,
    option,
    require_choices,
    space_objection,
)
from perp.solvers.pivoting.parametric import Path, Sets
from perp.solvers.pivoting.pivot_state import (
    EPSILON,
    ROUGH,
    FrictionBounds,
    PivotState,
    factor_free_rows,
    find_contradiction,
    find_escape,
    follow_impulses,
    keep_apart,
    keep_first,
    list_objections,
    place_rows,
    soften,
    solve_free_rows,
)
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection, symmetric_scales

COUNTED = ("violations", "single_pivots", "fallbacks", "bound_updates", "singular", "proximal_updates")
FALLBACKS = ("parametric", "progress", "count")
LINEAR = ("direct", "pcg")

PROXIMAL = 1e-7
"""The softening of a path, as a share of A_ii, where rows depend on one another; updates of its centre take it back."""

CLOSE = 0.25
"""Index sets with so few of the first violations left are where a path had better begin."""

BLOW_UP = 4.0
"""A block that makes so many times as many violations as there were at best has made everything worse."""

APART_PATIENCE = 60
"""Blocks of uncoupled rows that may pass without a new least number of violations: they are slow, but get there."""

GREATEST_TOLERANCE = 0.1
"""Inner solves that leave more than this share of the free rows' slack say nothing of which rows belong to a bound."""

POOR = 1e-9
"""Where free rows keep a slack above this share of the numbers involved, it is not rounding that is to blame."""

OBJECTION = 1e-6
"""What a row at the end of a path may object by, as a share of the largest number, and rounding still be the reason."""


@dataclass(frozen=True)
class BlockPrincipal(Method[PivotState]):
    """Guess which rows are at a bound, solve for the free ones, and move every row that objects, all at once.

        x_T = bound,    A_FF x_F = -(b_F + A_FT x_T),    y = A x + b                                (THESIS eq. 2.40)

    A free row whose x is out of bounds goes to that bound; a row at a bound whose y has the wrong sign becomes free
    (eq. 2.41-2.44). One iteration is one such change of the index sets with the solve that goes before it. Exact when
    it ends, which takes a handful of iterations where A is not too ill-conditioned. But blocks can go round in
    circles; so index sets are remembered, and when one comes again, or when `block_pivots` changes in a row brought
    no new least number of violations, smaller steps take over. `fallback` says which:

    * "parametric": where A is sparse, first blocks of rows that are not coupled (A_ij = 0), the worst rows first, from
      the best index sets so far; then a path (`perp.solvers.pivoting.parametric`), an event an iteration;
    * "progress": by least index, which is finite for P-matrices, until there are fewer violations than ever before;
    * "count": by least index, `single_pivots` times, and then blocks again.

    Friction bounds that follow the normal impulse stay fixed until the index sets are right for them, are then computed
    anew, and so on until they stay: an outer fixed point (`bound_updates` in the history).

    x0 gives the first index sets by position: what is strictly between its bounds is free. `space` says how free rows
    are solved for (`perp.linalg.free_systems`: auto, dense, sparse, body), `ordering` how a sparse factor is ordered.
    With `linear="pcg"` they are solved for by conjugate gradients with a `preconditioner`, for symmetric A (THESIS
    Algorithm 10), each solve to the share `inner_tolerance` of its right-hand side in at most `inner_iterations`; a
    solve on the last index sets is refined to rounding. With the Jacobi preconditioner A is only ever applied.
    `regularisation` > 0 adds that share of A_ii to the diagonal of a friction row (two finite bounds) each time that it
    pivoted `pivot_limit` times, twice, four times as many, ... (THESIS Algorithm 9); once the index sets are right for
    the softened problem, the asked one is solved from there.
    """

    name: ClassVar[str] = "block_principal"
    family: ClassVar[str] = "pivoting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL})  # for `linear="pcg"`; see `objection`
    requires: ClassVar[str] = "a P-matrix, for instance positive definite; semi-definite A often works"
    reference: ClassVar[str] = "THESIS 2.5.3, Algorithms 1, 9 and 10; Júdice & Pires 1994"
    scales_itself: ClassVar[bool] = True
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = (*COUNTED, "factorisations")

    block_pivots: int = option(5, About("blocks in a row that may bring no new least number of violations", at_least=0))
    fallback: str = option(
        "parametric",
        About(
            "what takes over from blocks without progress: a path, single rows until there is some, or a number of them"
            " (count)",
            FALLBACKS,
        ),
    )
    single_pivots: int = option(10, About("fallback count: single rows before blocks again", at_least=1))
    space: str = option("auto", SPACE)
    ordering: str = option("amd", ORDERING)
    regularisation: float = option(0.0, SOFTENING)
    pivot_limit: int = option(5, PIVOT_LIMIT)
    linear: str = option(
        "direct", About("free rows are solved for by factors, or by preconditioned conjugate gradients (pcg)", LINEAR)
    )
    preconditioner: str | Recipe = option("imaginary_ic0", PRECONDITIONER)
    inner_tolerance: float = option(1e-10, replace(INNER_TOLERANCE, at_most=GREATEST_TOLERANCE))
    inner_iterations: int = option(5000, INNER_ITERATIONS)

    def __post_init__(self) -> None:
        require_count(self.block_pivots, "block_pivots")
        require_count(self.single_pivots, "single_pivots", least=1)
        require_count(self.pivot_limit, "pivot_limit", least=1)
        require_number(self.regularisation, "regularisation")
        require_number(self.inner_tolerance, "inner_tolerance", positive=True)
        if self.inner_tolerance > GREATEST_TOLERANCE:
            raise ValueError(f"inner_tolerance is {self.inner_tolerance}; at most {GREATEST_TOLERANCE} is allowed")
        require_count(self.inner_iterations, "inner_iterations", least=1)
        make_recipe(self.preconditioner)
        require_choices(self, fallback=FALLBACKS, space=SPACES, ordering=ELIMINATION_ORDERS, linear=LINEAR)

    def objection(self, problem: Problem) -> str | None:
        if self.linear == "pcg":
            return asymmetry_objection(problem) or make_recipe(self.preconditioner).objection(problem)
        if TO_SPARSE not in problem.A.ability_set:
            return f"linear='direct' needs '{TO_SPARSE}' of A, and it is {problem.A.form}; linear='pcg' does without"
        return space_objection(problem, "space", self.space)

    def default_iterations(self, problem: Problem) -> int:
        return max(1000, 20 * problem.n)

    def start(self, problem: Problem, x: Vector) -> PivotState:
        n = problem.n
        lower, upper = (bound.copy() for bound in problem.bounds(x))
        system = self._make_system(problem)
        sets = np.zeros(n, dtype=np.int8)
        sets[x >= upper] = 1
        sets[x <= lower] = -1
        return PivotState(
            x,
            point=x.copy(),
            y=np.empty(n),
            soft_y=np.empty(n),
            sets=sets,
            lower=lower,
            upper=upper,
            scale=symmetric_scales(problem),
            anchor=sets.copy(),
            anchor_point=x.copy(),
            best=sets.copy(),
            best_point=x.copy(),
            system=system,
            softening=np.zeros(n),
            centre=np.zeros(n),
            limits=np.full(n, self.pivot_limit, dtype=np.int64),
            pivots=np.zeros(n, dtype=np.int64),
            least=n + 1,
            budget=self.block_pivots,
            friction=FrictionBounds.of(problem, x),
            repeatable=False,
            ends_itself=True,
            counters=dict.fromkeys(COUNTED, 0.0) | system.counters(),
        )

    def _make_system(self, problem: Problem) -> FreeSystem:
        if self.linear == "direct":
            return choose_system(problem, self.space, self.ordering)
        recipe = make_recipe(self.preconditioner)
        return KrylovSystem(problem, recipe, self.inner_tolerance, self.inner_iterations)

    def step(self, problem: Problem, state: PivotState, count: int) -> None:
        done = 0
        while done < count and state.ended is None:
            try:
                if state.path is None:
                    self._pivot(problem, state)
                else:
                    self._walk(problem, state, state.path)
            except (NotFinite, NotPositive) as fault:
                state.ended = Status.BREAKDOWN, str(fault)
            done += 1
        state.unused = count - done
        state.counters.update(state.system.counters())

    def _pivot(self, problem: Problem, state: PivotState) -> None:
        """Solve on the present index sets, then change them."""
        wanted = np.empty_like(state.sets)
        place_rows(problem, state)
        rough = ROUGH if self.linear == "direct" else max(ROUGH, self.inner_tolerance)
        for accuracy in (rough, EPSILON):  # all digits are only worth having where they are the last ones
            size = solve_free_rows(problem, state, accuracy)
            measured = (state.sets, state.point, state.soft_y, state.lower, state.upper, state.scale)
            violations = int(index_sets.classify(*measured, 4.0 * EPSILON * size, wanted))
            if violations > 0:
                break
        state.counters["violations"] = violations
        state.x = problem.project(state.point)
        if violations == 0:
            self._settle(problem, state, size)
        else:
            self._change_sets(problem, state, wanted, violations)

    def _settle(self, problem: Problem, state: PivotState, size: float) -> None:
        """The index sets are right for these bounds and this softening: on to the asked problem, or the end."""
        if state.proximal:
            left = state.softening * (state.point - state.centre) * state.scale
            if np.abs(left).max(initial=0.0) > EPSILON * size:
                state.certificate = find_escape(problem, state)
                if state.certificate is not None:
                    state.ended = Status.RAY, "x runs off along a direction in which no slack changes"
                    return
                state.centre = state.point.copy()
                state.counters["proximal_updates"] += 1
                self._begin_stage(state)
                return
        elif state.softening.any():
            state.softening[:] = 0.0
            state.factored, state.hardened = None, True
            self._begin_stage(state)
            return
        if state.friction is not None and follow_impulses(problem, state, state.friction, size):
            self._begin_stage(state)
            return
        state.ended = Status.REDUCED_ACCURACY, "the index sets are right"
        if state.left > POOR:
            reason = state.system.complaint or "their matrix is too ill-conditioned"
            state.ended = Status.BREAKDOWN, f"the free rows could not be solved for: {reason}"
        vector = find_contradiction(problem, state)
        if vector is not None:
            state.certificate = -vector
            state.ended = Status.BREAKDOWN, "free rows depend on one another and contradict each other"

    def _begin_stage(self, state: PivotState) -> None:
        """Another problem from here on: what was seen and counted belongs to the old one."""
        state.seen.clear()
        state.seen_single.clear()
        state.anchor, state.anchor_point = state.sets.copy(), state.point.copy()
        state.first, state.least, state.budget, state.singles = 0, state.sets.size + 1, self.block_pivots, 0
        state.apart = False

    def _change_sets(self, problem: Problem, state: PivotState, wanted: Sets, violations: int) -> None:
        """Grant the wishes of all rows, of rows that are not coupled, or of one; or begin a path."""
        state.first = state.first or violations
        if violations < state.least:
            state.best, state.best_point = state.sets.copy(), state.point.copy()
            state.least, state.budget = violations, APART_PATIENCE if state.apart else self.block_pivots
            state.singles = max(state.singles, 0)
        elif state.singles == 0:
            state.budget -= 1
        code = int(index_sets.fingerprint(state.sets))
        worse = violations > BLOW_UP * state.least and self.fallback == "parametric"
        if state.singles == 0 and (state.budget < 0 or code in state.seen or (worse and not state.apart)):
            self._fall_back(problem, state)
            if state.singles == 0:
                return
        state.seen.add(code)
        if state.singles != 0:
            if code in state.seen_single:
                state.ended = Status.CYCLING, "an index set came again among single pivots"
                return
            state.seen_single.add(code)
            keep_first(state, wanted, self.block_pivots)
        elif state.apart:
            keep_apart(state, wanted)
        state.pivots += wanted != state.sets
        state.sets = wanted
        if self.regularisation > 0.0 and not state.hardened:
            soften(state, self.regularisation)

    def _fall_back(self, problem: Problem, state: PivotState) -> None:
        """Blocks go round in circles, or made everything worse."""
        state.counters["fallbacks"] += 1
        if self.fallback != "parametric":
            state.singles = -1 if self.fallback == "progress" else self.single_pivots
            state.seen_single.clear()
        elif not state.apart and state.system.can_keep_apart and state.friction is None:
            # go back to the best index sets, and change only rows that are not coupled from there
            state.sets, state.point = state.best.copy(), state.best_point.copy()
            state.apart, state.budget = True, APART_PATIENCE
            state.seen.clear()
        else:
            self._begin_path(problem, state)

    def _begin_path(self, problem: Problem, state: PivotState) -> None:
        if state.has_dependent_rows or state.system.name == "body":
            # dependent rows would stop the path; in body space every row has a compliance already, perhaps a lifted one
            least = small_shift(problem)
            is_rigid = getattr(problem.A, "compliance", 0.0) < least
            state.softening = np.where(is_rigid, PROXIMAL / LEAST_COMPLIANCE * least, 0.0)
            state.proximal = bool(state.softening.any())
            state.centre = state.anchor_point.copy()
        near = state.least <= CLOSE * state.first
        begin = (state.best, state.best_point) if near else (state.anchor, state.anchor_point)
        bounds = (state.lower, state.upper)
        soft = (state.softening.copy(), state.centre)
        state.system.tolerance = min(state.system.tolerance, ROUGH)  # events are told apart by small differences
        state.path = Path.begin(problem, *begin, bounds, *soft, state.scale)
        state.factored = None

    def _walk(self, problem: Problem, state: PivotState, path: Path) -> None:
        """One event of the path."""
        factor_free_rows(problem, state, path.sets)
        at_end = path.advance(problem, state.system)
        state.counters["single_pivots"] += 1
        if not np.isfinite(path.x).all():
            raise NotFinite("the path left the range of numbers")
        state.x = problem.project(path.x)
        if at_end:
            size = float(np.abs(path.x / state.scale).max(initial=0.0) + np.abs(problem.b * state.scale).max())
            measured = (path.sets, path.x, path.y, path.lower, path.upper, state.scale)
            if index_sets.classify(*measured, OBJECTION * size, np.empty_like(path.sets)):
                state.ended = Status.BREAKDOWN, "the path ended where rows still object, so A is no P-matrix"
                state.certificate = -list_objections(problem, path)
                return
            state.sets, state.point, state.path = path.sets, path.x, None
            problem.A.slack(state.point, problem.b, state.y)
            self._settle(problem, state, size)
        elif path.is_stuck:
            state.ended = Status.CYCLING, "the path meets ties that rounding leads round in circles"
