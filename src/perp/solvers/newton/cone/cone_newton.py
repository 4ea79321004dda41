"""Semismooth Newton for contact laws, started by block Gauss-Seidel and made global by a proximal-point loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.linalg.free_systems.block_rows import BLOCK_SPACES, choose_block_system
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method
from perp.solvers.newton.cone.equations import FUNCTIONS, ContactEquations
from perp.solvers.newton.cone.proximal import (
    AGAIN,
    EASY,
    ENOUGH,
    FALL,
    FIRST_WEIGHT,
    FROZEN_ROUNDS,
    HARD,
    MOST_FAILURES,
    RISE,
    WORSE,
    Candidate,
    ConeProximal,
    search_convex,
)
from perp.solvers.newton.cone.state import ConeRegularisation, ConeState, ConeSweeps
from perp.solvers.newton.globalisation import (
    LEAST_STEP,
    MEMORY,
    PROXIMAL,
    PROXIMAL_LOOP,
    REDUCTION,
    SUFFICIENT,
    Armijo,
    MeritPoint,
    Reference,
    require_reduction,
)
from perp.solvers.options import About, option, require_choices, space_objection
from perp.solvers.results import Status

RESTARTS, MORE = 2, 10
"""How often all begins anew where the loop has ended, each time with so many times the sweeps of the last."""

COUNTED = ("factorisations", "sweeps", "rejected_steps", "proximal_steps", "frozen_steps")

PATIENCE, LESS_PATIENCE = 20, 8
"""Iterations without progress after which something else is tried; the second where the proximal-point loop waits."""


def begin(problem: ContactProblem, state: ConeState) -> None:
    """From the best point so far."""
    state.proximal.weight, state.proximal.tried = FIRST_WEIGHT, state.best_theta
    resume(problem, state)


def resume(problem: ContactProblem, state: ConeState) -> None:
    """From the best point so far, with the weight as it is."""
    _move_centre(problem, state, Candidate.make(problem, state.equations, state.best))


def step(problem: ContactProblem, state: ConeState) -> None:
    """One Newton step on a subproblem, and what follows from where it leads."""
    proximal, equations = state.proximal, state.equations
    proximal.taken += 1
    moved = _step_subproblem(problem, state)
    candidate = Candidate.make(problem, equations, problem.project(state.here.point))
    state.x = candidate.x
    state.take_note(candidate.x, candidate.theta)
    if _is_solved(state, candidate):
        if proximal.stage == 0 and proximal.taken <= EASY:
            proximal.weight *= FALL
        _move_centre(problem, state, candidate)
        return
    if proximal.is_frozen:
        if moved and not proximal.is_frozen_done(equations.size(state.here.F)):
            return
        proximal.keep(candidate)
    elif moved and proximal.taken < HARD:
        return
    _next_stage(problem, state, candidate)


def _step_subproblem(problem: ContactProblem, state: ConeState) -> bool:
    """A Newton step on the subproblem as it is stated now; whether there was one."""
    direction = state.direction(problem, 0.0)
    if direction is None:
        return False
    if not state.proximal.is_frozen:
        moved = state.search(problem, direction) > 0.0
        state.note_progress()
        return moved
    here = state.here
    length = search_convex(state.equations, state.equation, here.point, here.y, direction.dx, direction.product)
    if length is None:
        return False
    state.try_point(problem, here.point + length * direction.dx)
    state.accept()
    state.counters["frozen_steps"] += 1
    return True


def _is_solved(state: ConeState, candidate: Candidate) -> bool:
    """Whether it solves the subproblem with the asked law well enough."""
    proximal, equations = state.proximal, state.equations
    F = np.empty(candidate.x.size)
    equations.measure(equations.asked, candidate.x, proximal.slack(equations, candidate.x, candidate.y), F)
    return equations.size(F) <= ENOUGH * proximal.residual


def _next_stage(problem: ContactProblem, state: ConeState, candidate: Candidate) -> None:
    """Another way to solve the subproblem; after the last one, more weight."""
    proximal, equations = state.proximal, state.equations
    proximal.enter_stage(proximal.stage + 1)
    if proximal.stage > FROZEN_ROUNDS + 1:
        proximal.weight *= RISE
        spare = proximal.spare
        if spare is None or not spare.theta <= WORSE * proximal.theta:
            spare = Candidate.make(problem, equations, proximal.centre)
        _move_centre(problem, state, spare)
        return
    law, start = equations.law, candidate.x
    if proximal.is_frozen:
        if proximal.stage == 1:
            start = proximal.centre
        law = equations.frozen(start, proximal.slack(equations, start, problem.slack(start)))
    state.turn_to(problem, proximal.equation(equations, law), start)


def _move_centre(problem: ContactProblem, state: ConeState, centre: Candidate) -> None:
    """To the next subproblem; or, where much is gained, to the asked problem itself; or the end."""
    proximal, equations = state.proximal, state.equations
    proximal.move(centre)
    state.counters["proximal_steps"] += 1
    proximal.paused = centre.theta <= AGAIN * proximal.tried
    if proximal.paused:
        proximal.tried = centre.theta
        state.turn_to(problem, equations.asked, centre.x)
    else:
        state.turn_to(problem, proximal.equation(equations, equations.law), centre.x)
    if centre.residual <= equations.rounding(centre.x):
        state.ended = Status.REDUCED_ACCURACY, "rounding errors are all that is left"
    elif proximal.failures > MOST_FAILURES and not _start_over(state):
        state.ended = Status.STAGNATED, "the proximal-point loop brings no better centre"


def _start_over(state: ConeState) -> bool:
    """With more sweeps from the best point so far; False where there were enough, or cannot be any."""
    if state.restarts >= RESTARTS or not state.sweeps.can_help:
        return False
    state.restarts += 1
    state.pending = state.sweeps.more * MORE**state.restarts
    state.has_swept = False
    state.proximal = ConeProximal()
    return True


@dataclass(frozen=True)
class ConeNewton(Method[ConeState]):
    """Newton's method for the laws of friction, started by sweeps of block Gauss-Seidel.

    It solves F(x) = 0, where F of a contact with Coulomb friction is, for `function="alart_curnier"`,

        F_n = x_n - p,                                    p = max(0, x_n - rho y_n)
        F_t = x_t - P(x_t - rho y_t),                     P the projection on the disc of radius friction p

    (Alart & Curnier 1991), and for `function="natural_map"` x - P_K(x - rho (y + friction |y_t| e_n)), K the cone
    |x_t| <= friction x_n (De Saxcé & Feng 1998). A step solves (E + G A) dx = -F for blocks E and G with
    dF = E dx + G dy, in `space`: dense, sparse, or for factored A in the velocities of the bodies (body). rho is
    `rho` over the mean A_ii of the rows of the contact. Boxes, discs of given radii, convex cones and the rows after
    the contacts have the natural map of what bounds them, or of Alart and Curnier where the normal impulse does.

    Redundant contacts make the matrix singular; therefore A_ii is larger in it, by the share `regularisation` ||F||,
    within limits, which leaves the convergence quadratic. The merit 1/2 ||F||^2, with impulses in units that make it an
    energy, need only be below the largest of the last `memory` ones (Grippo, Lampariello & Lucidi 1986).

    It starts with `start_sweeps` sweeps of block Gauss-Seidel (one iteration). Where steps bring no progress, or there
    is none to take, `sweeps` more are done from the best point so far. Where that does not help, `proximal="rescue"`
    solves problems with y + s (x - x_k) in the place of y in turn, each from the last one's solution x_k, s falling
    where they are easy and rising where they are not ("always": from the start; "never": the iteration ends). A
    subproblem that Newton's method does not solve is solved with its slip speeds frozen, which makes it convex (Acary &
    Cadoux 2011), a few times over. Where that leads nowhere all begins anew, twice, with ten times the sweeps.
    """

    name: ClassVar[str] = "cone_newton"
    synonyms: ClassVar[tuple[str, ...]] = (
        "Alart-Curnier",
        "Newton-Alart-Curnier",
        "NSN_AC",
        "SICONOS_FRICTION_3D_NSN_AC",
        "semismooth Newton",
        "nonsmooth Newton",
    )
    family: ClassVar[str] = "newton"
    accepts: ClassVar[frozenset[str]] = frozenset(
        {"contact/box", "contact/cone", "contact/convex", "contact/disc"}
        | {"wide/box", "wide/cone", "wide/convex", "wide/disc"}
    )
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "any A; made for symmetric positive semidefinite ones, where contacts may be redundant"
    reference: ClassVar[str] = "Alart & Curnier 1991; De Saxcé & Feng 1998; Acary & Cadoux 2011; Rockafellar 1976"
    counted: ClassVar[tuple[str, ...]] = COUNTED

    function: str = option(
        "alart_curnier", About("F of contacts: by Alart and Curnier, or the natural map of the cone", FUNCTIONS)
    )
    rho: float = option(
        1.0, About("rho in F, in units of 1 / mean A_ii of the contact", above=0.0, synonyms=("r", "augmentation"))
    )
    start_sweeps: int = option(10, About("sweeps of block Gauss-Seidel to begin with", at_least=0))
    sweeps: int = option(30, About("sweeps where Newton steps bring no progress", at_least=0))
    space: str = option(
        "auto",
        About(
            "a step is solved for with a dense or a sparse matrix, or for factored A in the velocities of the bodies",
            BLOCK_SPACES,
        ),
    )
    regularisation: float = option(
        1e-2, About("A_ii is larger in a step: by this times ||F||, as a share of it", above=0.0)
    )
    memory: int = option(10, MEMORY)
    proximal: str = option("rescue", PROXIMAL_LOOP)
    sufficient: float = option(1e-4, SUFFICIENT)
    reduction: float = option(0.5, REDUCTION)
    least_step: float = option(1e-10, LEAST_STEP)

    def __post_init__(self) -> None:
        require_choices(self, function=FUNCTIONS, space=BLOCK_SPACES, proximal=PROXIMAL)
        require_count(self.start_sweeps, "start_sweeps")
        require_count(self.sweeps, "sweeps")
        require_count(self.memory, "memory", least=1)
        for name in ("rho", "regularisation", "sufficient", "reduction", "least_step"):
            require_number(getattr(self, name), name, positive=True)
        require_reduction(self.sufficient, self.reduction)

    def default_iterations(self, problem: Problem) -> int:
        return 3000

    def objection(self, problem: Problem) -> str | None:
        return space_objection(problem, "space", self.space)

    def start(self, problem: Problem, x: Vector) -> ConeState:
        problem = problem.as_contacts()
        n = problem.n
        equations = ContactEquations(problem, self.function, float(self.rho))
        equations.set_energy(x, problem.slack(x))
        state = ConeState(
            x,
            equations=equations,
            equation=equations.asked,
            here=MeritPoint.empty(n),
            trial=MeritPoint.empty(n),
            system=choose_block_system(problem.A, self.space),
            sweeps=ConeSweeps(problem, int(self.sweeps)),
            armijo=Armijo(self.sufficient, self.reduction, self.least_step),
            reference=Reference(self.memory),
            regularisation=ConeRegularisation(float(self.regularisation), float(self.regularisation)),
            proximal=ConeProximal(),
            pending=self.start_sweeps,
            repeatable=False,
            ends_itself=True,
            counters=dict.fromkeys(COUNTED, 0.0),
        )
        state.turn_to(problem, equations.asked, x)
        state.take_note(x, state.here.theta)
        state.equations.linearise(state.equation, state.here.point, state.here.y)
        if self.start_sweeps or self.sweeps:
            state.sweeps.load()
        if self.proximal == "always" and not self.start_sweeps:
            begin(problem, state)
        return state

    def step(self, problem: Problem, state: ConeState, count: int) -> None:
        problem = problem.as_contacts()
        done = 0
        while done < count and state.ended is None:
            self._iterate(problem, state)
            done += 1
        state.unused = count - done
        state.counters["factorisations"] = float(state.system.factorisations)
        state.counters["sweeps"] = float(state.sweeps.done)

    def _iterate(self, problem: ContactProblem, state: ConeState) -> None:
        if not np.isfinite(state.here.theta):
            state.ended = Status.BREAKDOWN, "the merit function is not finite"
        elif state.pending:
            self._sweep(problem, state)
        elif state.proximal.is_on:
            step(problem, state)
        else:
            self._step_newton(problem, state)

    def _sweep(self, problem: ContactProblem, state: ConeState) -> None:
        """From the best point so far; then on from there, in whatever way is next."""
        state.x = problem.project(state.sweeps.run(state.best, state.pending))
        if state.restarts and not state.has_swept:
            state.best_theta = np.inf  # of a start that led nowhere
        state.pending = 0
        state.turn_to(problem, state.equations.asked, state.x)
        state.take_note(state.x, state.here.theta)
        if self.proximal == "always":
            begin(problem, state)

    def _step_newton(self, problem: ContactProblem, state: ConeState) -> None:
        """One step on the problem that was asked for."""
        theta = state.here.theta
        if theta == 0.0:
            state.ended = Status.REDUCED_ACCURACY, "the equations hold exactly"
            return
        direction = state.direction(problem, state.regularisation.size(float(np.sqrt(2.0 * theta))))
        if direction is None:
            self._give_in(problem, state, Status.NON_DESCENT, "Newton's equation has no solution")
            return
        step_length = state.search(problem, direction)
        if step_length == 0.0:
            self._give_in(problem, state, Status.STAGNATED, "no step along Newton's direction lowers the merit")
            return
        state.regularisation.follow(step_length, -direction.slope / (2.0 * theta))
        state.note_progress()
        state.x = problem.project(state.here.point)
        state.take_note(state.x, state.here.theta)
        if state.since >= (LESS_PATIENCE if state.proximal.has_begun else PATIENCE):
            self._give_in(problem, state, Status.STAGNATED, "the merit has hardly become smaller for long")

    def _give_in(self, problem: ContactProblem, state: ConeState, status: Status, reason: str) -> None:
        """Newton's method cannot go on: to sweeps, to the proximal-point loop, or the end."""
        equations = state.equations
        if equations.size(state.here.F) <= equations.rounding(state.here.point):
            state.ended = Status.REDUCED_ACCURACY, "rounding errors are all that is left"
        elif state.proximal.has_begun:
            resume(problem, state)
        elif state.sweeps.can_help and not state.has_swept:
            state.has_swept = True
            state.pending = state.sweeps.more
        elif self.proximal == "never":
            state.ended = status, reason
        else:
            begin(problem, state)
