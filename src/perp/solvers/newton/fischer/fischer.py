"""The Fischer-Newton method (NOTES 5.5), for LCPs and boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.linalg.free_systems import SHIFTED_SPACES
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number, require_real
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method
from perp.solvers.newton.fischer.equation import (
    STRATEGIES,
    DirectEquation,
    Equation,
    FischerPoint,
    FischerState,
    Kinks,
    KrylovEquation,
    Line,
    Regularisation,
    find_proof,
    gradient,
    gradient_direction,
)
from perp.solvers.newton.globalisation import (
    DOUBTS,
    HARD,
    LEAST_STEP,
    MEMORY,
    MOST_FAILURES,
    PROXIMAL,
    PROXIMAL_LOOP,
    REDUCTION,
    SUFFICIENT,
    Armijo,
    Proximal,
    Reference,
    require_reduction,
)
from perp.solvers.options import (
    FORCING,
    GMRES_RESTART,
    INNER_LIMIT,
    PRECONDITIONER,
    SHIFTED_SPACE,
    About,
    option,
    require_choices,
    space_objection,
)
from perp.solvers.results import Status

LINEAR = ("direct", "gmres")
COUNTED = ("line_search_evaluations", "gradient_steps", "proximal_steps")

FIRST_WEIGHT = 1.0 / 32.0
"""With which the proximal-point loop begins, as a share of a typical diagonal entry."""

PROGRESS = 0.9
"""A new least merit counts if it is at most this share of the last one that did."""

IMPATIENCE = 10
"""After so many iterations without progress the search is monotone: steps to and fro may otherwise go on for ever."""

PATIENCE, LAST_PATIENCE = 15, 40
"""Iterations without one after which the proximal-point loop takes over, and, where there is none, the method ends."""

LEAST_DESCENT = 1e-10
"""A slope above minus this share of 2 theta (which is Newton's own, NOTES eq. 104) is no descent."""

HUGE, TINY = 1e100, 1e-100
"""Outside of these, squares of F are near overflow or underflow."""


@dataclass(frozen=True)
class Fischer(Method[FischerState]):
    """Newton's method on F(x) = 0, F_i = phi(x_i, y_i), phi(a, b) = sqrt(a^2 + b^2) - a - b        (NOTES eq. 17, 96)

        (D_p + D_q A) dx = -F,    p = x / sqrt(x^2 + y^2) - 1,    q = y / sqrt(x^2 + y^2) - 1        (eq. 97)

    and for boxes F_i = phi(x_i - lower_i, phi(upper_i - x_i, -y_i)) with its limits for infinite bounds (Billups 1995).
    A step goes to x + tau dx with the first tau = 1, 1/2, ... whose merit 1/2 F^T F is low enough (NOTES eq. 83, 103).

    NOTES projects each step on the bounds. F needs no bounds, and on contact problems the projection is what makes
    the iteration fail; so by default (`projected=False`) it runs in all of space, and x is the projection of where
    it stands (De Luca, Facchinei & Kanzow 1996). Redundant contacts make the Jacobian singular; therefore it is
    D_p + D_q (A + e I), where e is `regularisation` ||F||, within limits, of a typical A_ii. The merit need only be
    below the largest of the last `memory` ones (Grippo, Lampariello & Lucidi 1986). Where `PATIENCE` iterations bring
    no new least merit, or there is no direction to go, `proximal="rescue"` solves LCP(A + s I, b - s x_k) in turn, each
    from the last one's solution ("always": from the start; "never": the iteration ends there).
    NOTES' own method is `Fischer(projected=True, regularisation=0, memory=1, proximal="never")`.

    `strategy` chooses p and q where x_i = y_i = 0: "random" (from `seed`), "zero" or "perturbation"; "approximation"
    takes J v by finite differences (eq. 102), with GMRES. `penalty` < 1 subtracts (1 - penalty) x+ y+ from
    penalty phi (Chen, Chen & Kanzow 2000), which keeps F large where both are.

    `linear` is "direct" (in `space`: auto, dense, sparse, body, or blocks for the small groups of rows that a contact
    is made of) or "gmres" (`restart`, `preconditioner`, until ||F + J dx|| <= `forcing` ||F||, eq. 105; at most
    `inner_limit` iterations), which with preconditioner "jacobi" never forms A. Where dx does not descend, a step
    down the gradient J^T F is taken (NOTES 6).
    """

    name: ClassVar[str] = "fischer"
    synonyms: ClassVar[tuple[str, ...]] = (
        "Fischer-Burmeister",
        "Fischer-Newton",
        "FB Newton",
        "Newton FB",
        "semismooth Newton",
        "nonsmooth Newton",
        "SICONOS_LCP_NEWTON_FB_FBLSA",
    )
    family: ClassVar[str] = "newton"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "any A; made for P0-matrices and for contact problems"
    reference: ClassVar[str] = "NOTES 5.5 and 6, eq. 84-105; De Luca, Facchinei & Kanzow 1996; Billups 1995"
    counted: ClassVar[tuple[str, ...]] = COUNTED

    strategy: str = option(
        "zero", About("derivative where x_i = y_i = 0; approximation is by finite differences, with GMRES", STRATEGIES)
    )
    seed: int = option(0, About("of the strategy random", at_least=0))
    penalty: float = option(
        1.0, About("weight of phi in F; the rest is that of x+ y+, large where both are", above=0.0, at_most=1.0)
    )
    linear: str = option("direct", About("Newton's equation is solved by factors, or by GMRES", LINEAR))
    space: str = option("auto", SHIFTED_SPACE)
    preconditioner: str | Recipe = option("jacobi", PRECONDITIONER)
    restart: int = option(30, GMRES_RESTART)
    forcing: float = option(1e-2, FORCING)
    inner_limit: int | None = option(None, INNER_LIMIT)
    projected: bool = option(False, About("project each step on the bounds, as NOTES does"))
    regularisation: float = option(
        1e-2, About("added to the diagonal of A: this times ||F||, as a share of a typical A_ii", at_least=0.0)
    )
    memory: int = option(10, MEMORY)
    proximal: str = option("rescue", PROXIMAL_LOOP)
    sufficient: float = option(1e-4, SUFFICIENT)
    reduction: float = option(0.5, REDUCTION)
    least_step: float = option(1e-10, LEAST_STEP)

    def __post_init__(self) -> None:
        require_choices(self, strategy=STRATEGIES, linear=LINEAR, space=SHIFTED_SPACES, proximal=PROXIMAL)
        recipe = make_recipe(self.preconditioner)
        if not isinstance(self.projected, bool):
            raise TypeError(f"projected is {self.projected!r}; True or False is needed")
        require_count(self.seed, "seed")
        require_count(self.restart, "restart", least=1)
        require_count(self.memory, "memory", least=1)
        if self.inner_limit is not None:
            require_count(self.inner_limit, "inner_limit", least=1)
        require_number(self.regularisation, "regularisation")
        for name in ("forcing", "sufficient", "reduction", "least_step"):
            require_number(getattr(self, name), name, positive=True)
        require_real(self.penalty, "penalty")
        if not 0.0 < self.penalty <= 1.0:
            raise ValueError(f"penalty is {self.penalty}; it must lie in (0, 1], where 1 is the plain function")
        if self.forcing >= 1.0:
            raise ValueError(f"forcing is {self.forcing}; it must be below 1 (NOTES eq. 105)")
        require_reduction(self.sufficient, self.reduction)
        if self._is_iterative:  # what the class says is for its default options
            object.__setattr__(self, "needs", frozenset({APPLY}) | recipe.needs)

    @property
    def _is_iterative(self) -> bool:
        return self.linear == "gmres" or self.strategy == "approximation"

    def objection(self, problem: Problem) -> str | None:
        if self._is_iterative:
            return make_recipe(self.preconditioner).objection(problem)
        return space_objection(problem, "space", self.space)

    def start(self, problem: Problem, x: Vector) -> FischerState:
        n = problem.n
        here = FischerPoint.empty(n)
        here.measure(problem, x, Proximal(), float(self.penalty), 1.0)
        largest = float(np.abs(here.F).max(initial=0.0))
        unit = 1.0 if TINY < largest < HUGE or largest == 0.0 else float(np.ldexp(1.0, int(np.frexp(largest)[1])))
        state = FischerState(
            x,
            here=here,
            trial=FischerPoint.empty(n),
            equation=self._make_equation(problem, lambda v: state.difference(problem, v)),
            kinks=Kinks(self.strategy, n, self.seed),
            reference=Reference(self.memory),
            proximal=Proximal(),
            p=np.empty(n),
            q=np.empty(n),
            penalty=float(self.penalty),
            unit=unit,
            regularisation=Regularisation.make(float(self.regularisation), problem.diagonal),
            repeatable=False,
            ends_itself=True,
            counters=dict.fromkeys(COUNTED, 0.0),
        )
        if self.proximal == "always":
            state.proximal.begin(problem, x, FIRST_WEIGHT * state.regularisation.typical)
        state.restart(problem, x)
        state.linearise(problem)
        state.counters.update(state.equation.counters())
        return state

    def _make_equation(self, problem: Problem, difference: Callable[[Vector], Vector]) -> Equation:
        if not self._is_iterative:
            return DirectEquation(problem, self.space)
        recipe = make_recipe(self.preconditioner)
        chosen = difference if self.strategy == "approximation" else None
        return KrylovEquation(problem, recipe, self.forcing, self.inner_limit, self.restart, chosen)

    def step(self, problem: Problem, state: FischerState, count: int) -> None:
        done = 0
        while done < count and state.ended is None:
            self._iterate(problem, state)
            done += 1
        state.unused = count - done
        state.counters.update(state.equation.counters())

    def _iterate(self, problem: Problem, state: FischerState) -> None:
        """One Newton step; or, where there is none, a step of whatever remains."""
        if not np.isfinite(state.here.theta):
            state.ended = Status.BREAKDOWN, "the merit function is not finite"
        elif state.proximal.is_on:
            self._advance_proximal(problem, state)
        elif state.here.theta == 0.0:
            state.ended = Status.REDUCED_ACCURACY, "the merit function is zero"
        if state.ended is not None:
            return
        state.proximal.taken += 1
        state.kinks.draw()
        state.linearise(problem)
        line, theta = state.line(), state.here.theta
        found = state.equation.solve(problem, line)
        moved = (found is not None and self._search(problem, state, *found)) or self._descend(problem, state, line)
        square = state.unit * state.unit  # which may be infinite
        state.regularisation.follow(square * theta, square * state.here.theta)
        state.since += 1
        if state.here.theta < PROGRESS * state.least:
            state.least, state.since = state.here.theta, 0
        state.x = problem.project(state.here.point)
        if moved and state.since >= (PATIENCE if self.proximal == "rescue" else LAST_PATIENCE):
            self._give_in(problem, state, Status.STAGNATED, "the merit function has hardly become smaller for long")

    def _search(self, problem: Problem, state: FischerState, dx: Vector, Jdx: Vector) -> bool:
        """Back-tracking along dx, where it descends; whether there was a step."""
        slope = float(np.sum((state.here.F / state.unit) * (Jdx / state.unit)))  # eq. 104
        if not -np.inf < slope <= -LEAST_DESCENT * 2.0 * state.here.theta:
            return False
        armijo = Armijo(self.sufficient, self.reduction, self.least_step)
        step = armijo.search(
            lambda point: state.try_point(problem, point),
            problem.project if self.projected else np.asarray,
            state.here.point,
            dx,
            state.here.theta if state.since >= IMPATIENCE else state.reference.value,
            slope,
        )
        if step is None:
            return False
        state.accept()
        state.counters["line_search_evaluations"] += step.evaluations
        return True

    def _descend(self, problem: Problem, state: FischerState, line: Line) -> bool:
        """The Newton direction failed: down the gradient; False where that fails, too."""
        slope = gradient(problem, state, line)
        if slope is None:
            self._give_in(problem, state, Status.NON_DESCENT, "and A^T, for a gradient step, cannot be had")
            return False
        found = gradient_direction(problem, state, line, slope)
        if found is None:
            self._give_in(problem, state, Status.LOCAL_MINIMUM, "")
            return False
        if not self._search(problem, state, *found):
            self._give_in(problem, state, Status.STAGNATED, "no step along the gradient lowers the merit function")
            return False
        state.counters["gradient_steps"] += 1
        return True

    def _give_in(self, problem: Problem, state: FischerState, status: Status, reason: str) -> None:
        """The iteration cannot go on from here: to the proximal-point loop, or the end."""
        if state.proximal.is_on:
            state.proximal.taken = HARD  # the subproblem is given up
        elif self.proximal == "never" or find_proof(problem, state, thoroughly=False) is not None:
            self._end(problem, state, status, reason)
        else:
            x = problem.project(state.here.point)
            state.proximal.begin(problem, x, FIRST_WEIGHT * state.regularisation.typical)
            state.restart(problem, x)

    def _advance_proximal(self, problem: Problem, state: FischerState) -> None:
        """On to the next subproblem, where this one is solved or too hard."""
        proximal = state.proximal
        x = problem.project(state.here.point)
        if proximal.is_solved(problem, x):
            proximal.advance(problem, x)
        elif proximal.taken >= HARD:
            proximal.retreat()
            x = proximal.centre
        else:
            return
        state.counters["proximal_steps"] += 1
        doubts = proximal.failures > 0 and proximal.failures % DOUBTS == 0
        is_hopeless = doubts and find_proof(problem, state, thoroughly=True) is not None
        if is_hopeless or proximal.failures > MOST_FAILURES:
            self._end(problem, state, Status.STAGNATED, "the proximal-point loop brings no better centre")
        state.restart(problem, x)

    @staticmethod
    def _end(problem: Problem, state: FischerState, status: Status, reason: str) -> None:
        """With a proof that there is no solution, where there is one."""
        state.ended = status, reason
        state.certificate = find_proof(problem, state, thoroughly=True)
        if state.certificate is not None:
            state.ended = Status.BREAKDOWN, "rows contradict each other"
