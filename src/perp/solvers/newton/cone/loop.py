"""The steps of the proximal-point loop around Newton's method for contact laws (`proximal.py` says what it does)."""

from __future__ import annotations

import numpy as np

from perp.problems.friction import ContactProblem
from perp.solvers.newton.cone.proximal import (
    AGAIN,
    EASY,
    FALL,
    FIRST_WEIGHT,
    FROZEN_ROUNDS,
    HARD,
    MOST_FAILURES,
    REDUCTION,
    RISE,
    WORSE,
    Candidate,
    ConeProximal,
    search_convex,
)
from perp.solvers.newton.cone.state import ConeState
from perp.solvers.results.status import Status

RESTARTS, MORE = 2, 10
"""How often all begins anew where the loop has ended, each time with so many times the sweeps of the last."""


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
    return equations.size(F) <= REDUCTION * proximal.residual


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
