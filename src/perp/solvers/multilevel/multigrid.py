"""Projected multigrid (Brandt & Cryer 1983; Kornhuber 1994; Gräser & Kornhuber 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import ClassVar

import numpy as np

from perp.errors import MissingExtra
from perp.kernels.multigrid import finest as kernels
from perp.problems.inputs import Vector, require_count
from perp.problems.lcp import LCP
from perp.problems.operators import StencilOperator
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.multilevel.level_space import (
    CYCLES,
    AlgebraicSpace,
    GridSpace,
    LevelSpace,
    Mask,
    find_overfull_regions,
)
from perp.solvers.nested_start import INITIAL, START, is_nearest_to_zero, nested_start, objective
from perp.solvers.options import About, option, require_choices
from perp.solvers.results import Status
from perp.solvers.splitting.sweeps import diagonal_objection
from perp.solvers.symmetry import asymmetry_objection

NO_GRID = "rows"
COARSE = ("truncated", "monotone")
ACCELERATE = ("auto", "always", "never")
COUNTED = ("changed_rows", "hierarchies", "clipped", "shortened", "accelerated")

SLOW = 0.1
"""A cycle is slow when its coarse correction promises more than this share of what the one before promised: then the
error in the norm of A fell to a third at best."""

RELAXATION = 1.15
"""Of the sweeps on the finest grid. Over-relaxation lowers f as well as none does, and a little of it smooths better
where a cell has many neighbours: the errors that sweeps damp least there are damped too little (Yavneh 1996)."""

LENGTH, LONGER, LONGEST = 1.5, 1.2, 4.0
"""Of what coarse levels say, so much is proposed in the first cycle; later so many times what was best in the last one,
up to a limit. Best is 1 to 1.5, mostly, and where the proposal is longer than that, one pass finds the best length:
it must be met closely, as an error of e leaves the share e^2 of the correction's gain, and a cycle all but 1/400."""

CYCLES_A_LEVEL, COARSEST_CYCLES = 1, 10
"""Of a nested start. One is enough to come within the difference of two grids' answers (Brandt & Cryer 1983); the
problem on the coarsest grid is to be solved."""

NEGATIVE = 1e-10
"""A curvature d^T A d below minus this share of d^T D d, D the diagonal, is no rounding error of a semi-definite A."""

LATE = 16
"""The cycle from which on closed regions are looked for even where the coarse levels show none: several that share a
coarse cell look like one that is open."""


@dataclass
class MultigridState(State):
    space: LevelSpace
    y: Vector
    free: Mask
    """All rows but those at a bound whose slack keeps them there."""
    d: Vector
    """The correction from the coarse levels, projected; later what is added to the whole way of a cycle."""
    way: Vector
    """x before a cycle, and after it the way from there; only where cycles are accelerated."""
    last: Vector
    """The way of the cycle before, 0 where rows are no longer free; the other direction of the search."""
    lower: Vector
    upper: Vector
    is_new: bool
    """Whether the nested start is still to come."""
    length: float
    """What is proposed of a correction, beside what the coarse levels say."""
    gain: float = np.inf
    """-y^T d of the last correction d: twice what it may lower f by."""
    is_slow: bool = False
    done: int = 0
    next_look: int = 1
    """The cycle in which closed regions are looked at again."""

    @staticmethod
    def begin(
        problem: Problem, x: Vector, space: LevelSpace, length: float, counted: tuple[str, ...]
    ) -> MultigridState:
        n = problem.n
        lower, upper = problem.bounds(x)
        return MultigridState(
            x,
            space=space,
            y=np.empty(n),
            free=np.zeros(n, dtype=np.bool_),
            d=np.empty(n),
            way=np.empty(n),
            last=np.zeros(n),
            lower=lower,
            upper=upper,
            is_new=False,
            length=length,
            repeatable=False,
            counters=dict.fromkeys(counted, 0.0),
        )


@dataclass(frozen=True)
class Multigrid(Method[MultigridState]):
    """Sweeps on the given grid, corrections from grids of half as many cells along each axis, and so on; with bounds.

    A cycle, which is one iteration, lowers f(x) = 1/2 x^T A x + b^T x (NOTES eq. 21) in four steps, each within the
    bounds:

    1. `pre` sweeps of projected Gauss-Seidel (red-black on a grid): they find out who is at a bound, and leave an error
       that is smooth;
    2. a correction d from the coarse levels, for the free rows only: rows at a bound whose slack keeps them there are
       left out of the coarse basis (truncation: Kornhuber 1994). x + d is projected, and the way there is as long as
       makes f least;
    3. `post` sweeps, in the other order;
    4. the least f in the plane of the way that the cycle went and the way of the one before. While the free rows rest,
       that makes conjugate gradients of the cycles, with the cycle as the preconditioner. It costs a third of a cycle
       more; `accelerate="auto"` does it only where cycles are slow (thin walls, couplings that jump), "always" and
       "never" say so.

    Since no step raises f, and the sweeps alone converge for a positive definite A, so does the method, whatever the
    coarse levels say; while the free rows rest, it converges as fast as multigrid for a linear equation.

    `coarse` says what coarse corrections know of the bounds. "truncated": nothing but the truncation (TNNMG, Gräser &
    Kornhuber 2009). "monotone": each coarse value has bounds that keep x + d within its own (monotone restriction,
    Kornhuber 1994), and the sweeps on coarse levels are projected, too. On grids only. In
    the full approximation scheme (Brandt & Cryer 1983) coarse levels hold u = R x + v and have the right-hand side
    A_c R x - R y: since A_c is linear, that is A_c v = -R y, the correction v that is computed here.

    `cycle` is V, F (on the way up each coarse level is corrected once more) or W. `initial="nested"` begins, on a grid,
    with the answer of the same problem on coarser grids, of which each gets one cycle (full multigrid,
    `perp.linalg.grid_nesting`), unless x0 has a lower f than the point nearest to zero: in the steps of a world the
    last answer is worth about as much, and costs nothing. "given" begins at x0 always.

    Sweeps on the finest grid are over-relaxed, steps and slacks are computed in the same pass over the memory
    (`perp.kernels.multigrid.finest`).

    For a stencil of up to three axes the levels are grids (`perp.linalg.multigrid`); for any other A they are PyAMG's.
    A closed region that more flows into than out (A singular, no solution) ends with the proof.
    """

    name: ClassVar[str] = "multigrid"
    synonyms: ClassVar[tuple[str, ...]] = ("monotone multigrid", "truncated monotone multigrid", "TNNMG")
    family: ClassVar[str] = "multilevel"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS, TO_SPARSE})
    requires: ClassVar[str] = (
        "symmetric positive (semi-)definite A with a positive diagonal; made for pressure equations"
    )
    reference: ClassVar[str] = "Brandt & Cryer 1983; Kornhuber 1994; Gräser & Kornhuber 2009"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = COUNTED

    cycle: str = option("V", About("how often coarse levels are visited: V, F or W", CYCLES, synonyms=("cycle_type",)))
    pre: int = option(
        3,
        About(
            "sweeps before the coarse correction; pre + post > 0",
            at_least=0,
            synonyms=("presmooth", "pre_smoothing", "nu1"),
        ),
    )
    post: int = option(
        3, About("sweeps after the coarse correction", at_least=0, synonyms=("postsmooth", "post_smoothing", "nu2"))
    )
    initial: str = option("nested", START)
    coarse: str = option(
        "truncated",
        About("corrections know that rows at a bound rest (truncated), or all bounds (monotone, on grids)", COARSE),
    )
    accelerate: str = option(
        "auto", About("make conjugate gradients of the cycles; auto: where they are slow", ACCELERATE)
    )

    def __post_init__(self) -> None:
        require_choices(self, cycle=CYCLES, initial=INITIAL, coarse=COARSE, accelerate=ACCELERATE)
        require_count(self.pre, "pre")
        require_count(self.post, "post")
        if self.pre + self.post == 0:
            raise ValueError("pre and post are 0; without a sweep nothing gets to a bound")

    def objection(self, problem: Problem) -> str | None:
        reason = asymmetry_objection(problem) or diagonal_objection(problem)
        if reason is None and _storage(problem) == NO_GRID and self.coarse == "monotone":
            return f"coarse='monotone' needs a stencil of up to three axes, and A is {problem.A.form}; take 'truncated'"
        if reason is None and _storage(problem) == NO_GRID and find_spec("pyamg") is None:
            return str(MissingExtra("pyamg", "method 'multigrid' for an A that is no stencil", "multigrid"))
        return reason

    def start(self, problem: Problem, x: Vector) -> MultigridState:
        state = self.begin(problem, x)
        state.is_new = self.initial == "nested" and _storage(problem) != NO_GRID
        return state

    def begin(self, problem: Problem, x: Vector) -> MultigridState:
        """Where a cycle may begin at x, whatever the nested start would say."""
        options = (self.cycle, max(self.pre, 1), max(self.post, 1))
        space: LevelSpace
        if _storage(problem) != NO_GRID:
            space = GridSpace(problem, x, *options, self.coarse == "monotone", RELAXATION)
        else:
            space = AlgebraicSpace(problem, x, *options)
        return MultigridState.begin(problem, x, space, LENGTH, COUNTED)

    def step(self, problem: Problem, state: MultigridState, count: int) -> None:
        if count == 0:
            _load_kernels(_storage(problem))
        done = 0
        while done < count and state.ended is None:
            if state.is_new:
                self._begin_nested(problem, state)
            self._cycle(problem, state)
            done += 1
        state.unused = count - done

    def _cycle(self, problem: Problem, state: MultigridState) -> None:
        is_accelerated = self.accelerate == "always" or (self.accelerate == "auto" and state.is_slow)
        if is_accelerated:
            np.copyto(state.way, state.x)
        changed = state.space.sweep_and_look(self.pre, state.y, state.free)
        if changed:
            state.space.follow(state.free)
            state.counters["hierarchies"] += 1
            state.counters["changed_rows"] += changed
        state.done += 1
        if state.done >= (state.next_look if state.space.closed else max(state.next_look, LATE)):
            _look_at_closed_regions(problem, state)
        self._correct(problem, state)
        if is_accelerated:
            self._search_plane(problem, state)

    def _correct(self, problem: Problem, state: MultigridState) -> None:
        """x + d, projected, with the length that makes f least; then the sweeps after it."""
        space = state.space
        space.solve_below(state.y)
        slope, curvature, clipped = space.propose(state.length, state.y, state.d)
        _end_if_indefinite(problem, state, state.d, curvature)
        best = _best_length(slope, curvature)
        length = min(best, 1.0)
        state.is_slow = -slope > SLOW * state.gain
        state.gain = -slope
        state.length = min(LONGER * best * state.length, LONGEST) if best > 0.0 else LENGTH
        state.counters["clipped"] += clipped
        state.counters["shortened"] += length < 1.0
        space.step_and_sweep(length, state.d, self.post)

    @staticmethod
    def _search_plane(problem: Problem, state: MultigridState) -> None:
        """The least f in the plane of the ways of this cycle and the last, projected, and of a length that is safe."""
        bounds = (state.lower, state.upper)
        state.counters["accelerated"] += 1
        kernels.subtract_from(state.x, state.way)
        kernels.keep_free(state.free, state.last)
        plane = state.space.measure_plane(state.way, state.last)
        _end_if_indefinite(problem, state, state.way, plane.curvature_d)
        along_way, along_last = plane.least()
        clipped = kernels.project_combination(along_way, state.way, along_last, state.last, *bounds, state.x, state.d)
        length = 1.0
        if clipped:
            found = state.space.measure_plane(state.d, state.d)
            length = min(_best_length(found.slope_d, found.curvature_d), 1.0)
        kernels.lengthen(length, state.d, state.way, *bounds, state.x, state.last)

    def _begin_nested(self, problem: Problem, state: MultigridState) -> None:
        """Take what coarser grids say, unless the given x is better than none: then a cycle is worth more than they."""
        state.is_new = False
        zero = problem.project(np.zeros(problem.n))
        if not is_nearest_to_zero(problem, state.x) and objective(problem, state.x) < objective(problem, zero):
            return
        cycles = COARSEST_CYCLES

        def answer(coarse: Problem, x: Vector) -> Vector:
            nonlocal cycles
            at = self.begin(coarse, x)
            self.step(coarse, at, cycles)
            cycles = CYCLES_A_LEVEL
            return at.x

        found = nested_start(problem, state.x, answer, smoothing=0)  # a cycle begins with sweeps
        if found is not state.x:
            np.copyto(state.x, found)


def _best_length(slope: float, curvature: float) -> float:
    """Of the step that makes f least along a direction; 0 where the direction does not lead down."""
    return max(-slope / curvature, 0.0) if curvature > 0.0 else 0.0


def _end_if_indefinite(problem: Problem, state: MultigridState, direction: Vector, curvature: float) -> None:
    """A direction of negative curvature shows that A is not what this method is for."""
    if not curvature < 0.0:
        return
    assert problem.diagonal is not None
    with np.errstate(all="ignore"):
        size = float(np.sum(problem.diagonal * direction * direction))
    if curvature < -NEGATIVE * size:
        state.ended = Status.BREAKDOWN, "A is not positive semi-definite: f falls for ever along some direction"


def _look_at_closed_regions(problem: Problem, state: MultigridState) -> None:
    state.next_look = 2 * state.done
    regions = find_overfull_regions(problem)
    if regions is not None:
        state.ended = Status.RAY, "what flows into a closed region cannot leave it, and x runs off there for ever"
        state.certificate = regions


@cache
def _load_kernels(storage: str) -> None:
    """Do on a small problem what will be done on a large one: kernels come from the disk, or are compiled."""
    faces = [-np.ones((4, 5, 5)), -np.ones((5, 4, 5)), -np.ones((5, 5, 4))]
    problem = LCP(StencilOperator((5, 5, 5), 6.0, faces if storage == "faces" else -1.0), np.cos(np.arange(125.0)))
    method = Multigrid()
    method.step(problem, method.start(problem, np.zeros(problem.n)), 2)
    find_overfull_regions(problem)


def _storage(problem: Problem) -> str:
    """What the couplings of A are to the kernels: `constant`, `faces`, or `rows` of a matrix that is no stencil."""
    A = problem.A.stencil
    if A is None or not A.has_kernels:
        return NO_GRID
    return "constant" if A.faces is None else "faces"
