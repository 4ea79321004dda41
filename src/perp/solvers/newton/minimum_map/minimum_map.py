"""The minimum map Newton method (NOTES 5.4), for LCPs and boxes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np

from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import SPACES
from perp.linalg.krylov import Workspace, cg, gmres
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method
from perp.solvers.nested_start import INITIAL, START, nested_start
from perp.solvers.newton.globalisation import (
    LEAST_STEP,
    MEMORY,
    REDUCTION,
    SUFFICIENT,
    Armijo,
    Reference,
    require_reduction,
)
from perp.solvers.newton.minimum_map.equation import (
    DirectEquation,
    Direction,
    Equation,
    Krylov,
    KrylovEquation,
    MapPoint,
    MinimumMapState,
    find_proof,
    gradient,
    gradient_direction,
    held_direction,
    newton_direction,
    power_of_two,
)
from perp.solvers.options import (
    FORCING,
    GMRES_RESTART,
    INNER_LIMIT,
    PRECONDITIONER,
    SPACE,
    About,
    metadata,
    option,
    require_choices,
    space_objection,
)
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection

LINEAR = ("direct", "pcg", "gmres")
FALLBACKS = ("held", "gradient", "none")
SINGULAR = ("refine", "stop")
MOST_ITERATIONS = 40
"""On a coarser grid, for a start on the next finer one."""
SHARE = 16
"""What that may cost, in inner iterations on the finest grid: nobody can interrupt a start."""

LEAST_DESCENT = 1e-10
"""A slope above minus this share of ||H||^2 (Newton's own is -||H||^2, NOTES eq. 69) is no descent."""


@dataclass(frozen=True)
class MinimumMap(Method[MinimumMapState]):
    """Newton's method on H(x) = 0, H_i = x_i - clip(x_i - y_i, lower_i, upper_i), which is min(x_i, y_i) for an LCP.

    Where H_i = y_i the row is active, elsewhere H_i = x_i - bound (NOTES eq. 74-77); so the Newton equation is

        dx_F = -H_F,    A_AA dx_A = A_AF H_F - H_A                                                 (eq. 79-80)

    and a step goes to x + tau dx, projected on the box, with the first tau = 1, 1/2, 1/4, ... whose merit
    theta = 1/2 H^T H obeys the Armijo condition (eq. 83); the listing of NOTES forgets the projection in its update.
    Exact once the active set is right, so the last iterations are quadratic and the end is finite. A row with an
    extreme diagonal entry enters H as scale_i y_i, as in the residual.

    `linear` says how the equation is solved: "direct" (in `space`, see `perp.linalg.free_systems`), "pcg" (symmetric A)
    or "gmres" (`restart`), both with a `preconditioner`, until ||H + BH(dx)|| <= `forcing` ||H|| (eq. 71). With
    preconditioner "jacobi" the last two never form A. `inner_limit` bounds their iterations (None: twice the rows).

    A singular A_AA (redundant contacts) is shifted a little, and the solution refined, unless `singular` is "stop".
    Where dx does not descend, or no tau is small enough, `fallback` decides:

    * "held": rows at a bound that dx pushes outwards, which the projection keeps there, are held, and the equation is
      solved again for the others; then, if need be, as "gradient";
    * "gradient": a step down the gradient J^T H, as long as there is one (NOTES 6);
    * "none": the end.

    NOTES' own method is `MinimumMap(singular="stop", fallback="none")`. With `memory` > 1 the merit need only be below
    the largest of that many last ones (Grippo, Lampariello & Lucidi 1986).

    On a stencil, `linear="pcg"` with preconditioner "ic0", "mic0" or "multigrid" forms no matrix. With
    `initial="nested"` it begins at the answer of coarser grids (`perp.solvers.nested_start`) where A is a stencil:
    then the number of iterations does not grow with the grid.
    """

    name: ClassVar[str] = "minimum_map"
    family: ClassVar[str] = "newton"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "any A; globally convergent in practice where it is positive definite"
    reference: ClassVar[str] = "NOTES 5.4 and 6, eq. 60-83; Pang 1990"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = ("line_search_evaluations", "held_steps", "gradient_steps", "singular")

    initial: str = field(default="given", kw_only=True, metadata=metadata(START))
    linear: str = option(
        "direct", About("Newton's equation is solved by factors, by pcg (symmetric A) or by GMRES", LINEAR)
    )
    space: str = option("auto", SPACE)
    preconditioner: str | Recipe = option("jacobi", PRECONDITIONER)
    restart: int = option(30, GMRES_RESTART)
    forcing: float = option(1e-2, FORCING)
    inner_limit: int | None = option(None, INNER_LIMIT)
    singular: str = option(
        "refine", About("where A_AA is singular: shift it a little and refine the solution, or stop", SINGULAR)
    )
    fallback: str = option(
        "held",
        About(
            "where a step does not descend: hold rows that it pushes outwards, go down the gradient, or end (none)",
            FALLBACKS,
        ),
    )
    memory: int = option(1, MEMORY)
    sufficient: float = option(1e-4, SUFFICIENT)
    reduction: float = option(0.5, REDUCTION)
    least_step: float = option(1e-10, LEAST_STEP)

    def __post_init__(self) -> None:
        require_choices(self, linear=LINEAR, space=SPACES, singular=SINGULAR, fallback=FALLBACKS, initial=INITIAL)
        recipe = make_recipe(self.preconditioner)
        require_count(self.restart, "restart", least=1)
        require_count(self.memory, "memory", least=1)
        if self.inner_limit is not None:
            require_count(self.inner_limit, "inner_limit", least=1)
        for name in ("forcing", "sufficient", "reduction", "least_step"):
            require_number(getattr(self, name), name, positive=True)
        if self.forcing >= 1.0:
            raise ValueError(f"forcing is {self.forcing}; it must be below 1 (NOTES eq. 71)")
        require_reduction(self.sufficient, self.reduction)
        if self.linear != "direct":  # what the class says is for its default options
            object.__setattr__(self, "needs", frozenset({APPLY}) | recipe.needs)

    def objection(self, problem: Problem) -> str | None:
        if self.linear == "direct":
            return space_objection(problem, "space", self.space)
        asymmetry = asymmetry_objection(problem) if self.linear == "pcg" else None
        if asymmetry is not None:
            return f"with linear='pcg' {asymmetry}"
        return make_recipe(self.preconditioner).objection(problem)

    def start(self, problem: Problem, x: Vector) -> MinimumMapState:
        here = MapPoint.empty(problem.n, 1.0)
        here.measure(problem, x)
        here.unit = power_of_two(here.largest)
        theta = here.measure(problem, x)
        state = MinimumMapState(
            x,
            here=here,
            trial=MapPoint.empty(problem.n, here.unit),
            theta=theta,
            reference=Reference(self.memory),
            equation=self._make_equation(problem),
            is_new=self.initial == "nested",
            repeatable=self.memory == 1,
            counters=dict.fromkeys(self.counted, 0.0),
        )
        state.reference.remember(theta)
        return state

    def _make_equation(self, problem: Problem) -> Equation:
        if self.linear == "direct":
            return DirectEquation(problem, self.space)

        if self.linear == "pcg":
            krylov: Krylov = partial(cg, work=Workspace.for_rows(problem.n))
        else:
            krylov = partial(gmres, restart=self.restart)
        recipe, symmetric = make_recipe(self.preconditioner), self._counts_as_symmetric(problem)
        return KrylovEquation(problem, krylov, recipe, self.forcing, self.inner_limit, symmetric)

    def step(self, problem: Problem, state: MinimumMapState, count: int) -> None:
        if count == 0:
            state.here.derive(problem, state.x, state.here.y)  # loads the kernel
        done = 0
        while done < count and state.ended is None:
            if state.is_new:
                self._begin_nested(problem, state)
            try:
                self._iterate(problem, state)
            except NotFinite as fault:
                state.ended = Status.BREAKDOWN, str(fault)
            done += 1
        state.unused = count - done
        state.counters.update(state.equation.counters)

    def _begin_nested(self, problem: Problem, state: MinimumMapState) -> None:
        state.is_new = False

        def answer(coarse: Problem, x: Vector) -> Vector:
            """Iterations until the active set stays, or enough was done."""
            most = SHARE * problem.n // coarse.n
            inner = replace(self, initial="given", inner_limit=min(self.inner_limit or most, most))
            at = inner.start(coarse, x)
            for _ in range(MOST_ITERATIONS):
                active = at.here.active.copy()
                inner.step(coarse, at, 1)
                is_settled = np.array_equal(active, at.here.active)
                if at.ended is not None or is_settled or at.counters.get("inner_iterations", 0.0) >= most:
                    break
            return at.x

        state.x = nested_start(problem, state.x, answer)
        state.theta = state.here.measure(problem, state.x)
        state.reference = Reference(self.memory)
        state.reference.remember(state.theta)

    def _iterate(self, problem: Problem, state: MinimumMapState) -> None:
        if state.theta == 0.0:
            return
        singular = state.counters["singular"]
        direction = newton_direction(problem, state, state.here.active)
        if state.counters["singular"] > singular:
            if self.singular == "stop":
                state.ended = Status.BREAKDOWN, state.equation.complaint
                return
            if self._is_contradictory(problem, state, direction, int(state.counters["singular"])):
                return  # steps along a null vector may be accepted for ever
        if self._descends(state, direction) and self._search(problem, state, direction):
            return
        if state.here.is_rounding(problem, state.x):
            state.ended = Status.STAGNATED, "only rounding errors are left"
            return
        state.failures += 1
        if self._is_contradictory(problem, state, direction, state.failures):
            return
        failure = _describe(state, direction)
        if self.fallback == "none":
            state.ended = Status.NON_DESCENT, failure
            return
        if self.fallback == "held":
            held = held_direction(problem, state, direction.dx)
            if held is not None and self._descends(state, held) and self._search(problem, state, held):
                state.counters["held_steps"] += 1
                return
        self._fall_down_gradient(problem, state, direction, failure)

    def _fall_down_gradient(self, problem: Problem, state: MinimumMapState, newton: Direction, failure: str) -> None:
        slope = gradient(problem, state, self._counts_as_symmetric(problem))
        if slope is None:
            state.ended = (
                Status.NON_DESCENT,
                f"{failure}; the gradient needs A^T, which a {problem.A.form} A cannot give",
            )
            return
        direction = gradient_direction(problem, state, slope)
        if direction is None:
            if np.isfinite(newton.left) and self._search(problem, state, replace(newton, slope=-2.0 * state.theta)):
                return  # H does not change along a row of zeros; beyond, at the bound where it ends, it is zero
            state.ended = Status.LOCAL_MINIMUM, failure
        elif self._search(problem, state, direction):
            state.counters["gradient_steps"] += 1
            return
        else:
            state.ended = Status.NON_DESCENT, f"{failure}, nor one down the gradient"
        state.certificate = find_proof(problem, state)
        if state.certificate is not None:
            state.ended = Status.BREAKDOWN, "no x gives all slacks the right signs"

    @staticmethod
    def _is_contradictory(problem: Problem, state: MinimumMapState, direction: Direction, time: int) -> bool:
        """Whether active rows depend on one another and contradict each other; asked at times 1, 2, 4, 8, ..."""
        if time & (time - 1):
            return False
        state.certificate = find_proof(problem, state, state.here.y + direction.product)
        if state.certificate is not None:
            state.ended = Status.BREAKDOWN, "active rows depend on one another and contradict each other"
        return state.certificate is not None

    def _counts_as_symmetric(self, problem: Problem) -> bool:
        """Whoever asks for conjugate gradients where nobody can tell says that A is symmetric."""
        return self.linear == "pcg" if problem.is_symmetric is None else problem.is_symmetric

    @staticmethod
    def _descends(state: MinimumMapState, direction: Direction) -> bool:
        """False also where dx is not finite, as the slope is not a number then."""
        return -np.inf < direction.slope <= -LEAST_DESCENT * 2.0 * state.theta

    def _search(self, problem: Problem, state: MinimumMapState, direction: Direction) -> bool:
        """Projected back-tracking; whether there was a step."""

        def merit(x: Vector) -> float:
            state.counters["line_search_evaluations"] += 1
            return state.trial.measure(problem, x)

        armijo = Armijo(self.sufficient, self.reduction, self.least_step)
        against = state.reference.value
        step = armijo.search(merit, problem.project, state.x, direction.dx, against, direction.slope)
        if step is None:
            return False
        state.x, state.theta = step.x, step.merit
        state.here, state.trial = state.trial, state.here
        state.reference.remember(step.merit)
        return True


def _describe(state: MinimumMapState, direction: Direction) -> str:
    if not np.isfinite(direction.left):
        return "the Newton direction is not finite"
    share = np.sqrt(direction.left / (2.0 * state.theta))
    return f"the Newton equation was solved up to {share:.0e} ||H||, and no step along dx lowers the merit function"
