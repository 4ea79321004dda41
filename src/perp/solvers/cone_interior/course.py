"""The control flow of a solve: Newton steps from the start, proximal steps, then interior-point paths.

Each function is a generator: `made = yield what, most` requests up to `most` iterations of the kernel. Answers go to
`state.x`; `is_due` asks the loop to check it, `ended` ends the solve.

**Proximal steps** carry the rigid law from one time step to the next. The impulses of redundant contacts are not
unique, or depend on the last digits of the velocities. A path may end at any of them, so the solution of the last time
step is a poor start for the next one. Proximal steps stay near the last impulses c. They solve the law with

    y_i + eps w_i (x_i - c_i)    in place of y_i,    w_i the mean A_ii of the contact,

for eps = 1e-2, 1e-3, ...; each solution is the next c (proximal point method, Rockafellar 1976; with Coulomb friction
its convergence is not proved). The residual of the rigid law is then about eps w |x - c|: it falls with eps and with
the change of x.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from sys import maxsize
from typing import Protocol

import numpy as np

from perp.kernels.conic import layout, path, polish, run
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residual_scale import look
from perp.solvers.cone_interior.starting_points import begin_cold, begin_newton, begin_next_to
from perp.solvers.cone_interior.state import ConicState, Course, Request, answer
from perp.solvers.results import Status
from perp.solvers.selection import MOST_ROWS, is_rigid, is_selected

NEWTON_STEPS, SUCCESS, NEARLY = 12, 1e-11, 1e-6
"""Newton steps from a point; F, as a share of its unit, at which they are done, and at which the loop checks x."""

TRIALS, PROGRESS = 4, 0.1
"""After so many Newton steps F must be below this share of its value after the first, or they stop."""

SHORT_PATH, FAR = 25, 10.0
"""Iterations of a path that starts next to a point; it also stops at the first fold. It is not tried where F is more
than so many times its unit."""

SHARES = tuple(10.0**-k for k in range(2, 11))
"""eps of the proximal steps, in turn."""

PROXIMAL_SUCCESS, SLOW, PROXIMAL_FACTORISATIONS = 1e-9, 0.1, 200
"""F, as a share of its unit, at which a proximal step is solved; the share of the residual that the first two steps may
leave; the number of factorisations after which no further step starts."""

MOST_FROM_START = 2 * NEWTON_STEPS + SHORT_PATH + PROXIMAL_FACTORISATIONS
"""Iterations from a given point, before the first cold path."""

CLOSE = 1e-5
"""F, as a share of its unit, at which a path that stalls is near a solution that rounding errors hide."""

DONE = "the states of all contacts are found, and rounding errors are all that is left"
OPEN = "the solution next to the start was kept: its motion is one of several, and no path leads to another one"
NO_PATH = "no path that was tried leads to a solution"
NOT_ALLOWED = "no solution was found from the start, and cold paths are off (attempts=0)"
NO_FACTOR = "A cannot be factored, even with a compliance of a thousandth"


class PathOptions(Protocol):
    """What of `ConeInterior` is read here."""

    @property
    def attempts(self) -> int: ...
    @property
    def friction_target(self) -> float: ...
    @property
    def seed(self) -> int: ...


def solve(options: PathOptions, problem: Problem, state: ConicState, is_warm: bool) -> Course:
    """What is requested until the solve has ended."""
    if is_warm:
        yield from _from_start(options, problem, state)
    if state.ended is None:
        yield from _cold_paths(options, problem, state)


def _from_start(options: PathOptions, problem: Problem, state: ConicState) -> Course:
    reached = yield from _newton_from_start(problem, state)
    if state.ended is not None or state.spare is not None:
        return
    if is_rigid(problem):
        if problem.n > MOST_ROWS:  # fewer rows have their motion selected
            yield from _proximal_steps(options, problem, state)
    elif options.attempts and (yield from _path_next_to(options, problem, state, reached)):
        state.ended = Status.REDUCED_ACCURACY, DONE


def _cold_paths(options: PathOptions, problem: Problem, state: ConicState) -> Course:
    for attempt in range(options.attempts):
        state.attempt = attempt
        if not begin_cold(state, options.friction_target, options.seed + attempt):
            state.ended = Status.BREAKDOWN, NO_FACTOR
            return
        if (yield from _path(problem, state)):
            state.ended = Status.REDUCED_ACCURACY, DONE
            return
        if state.marks[run.ERROR] <= CLOSE * state.unit:  # another path would end near another solution
            break
    state.ended = Status.STAGNATED, NO_PATH if options.attempts else NOT_ALLOWED
    if state.spare is not None:
        state.x, state.ended = state.spare, (Status.REDUCED_ACCURACY, OPEN)


def _newton_from_start(problem: Problem, state: ConicState) -> Generator[Request, int, float]:
    """Newton steps from the caller's point; returns F of the best point, over its unit."""

    def judge(reached: float, is_last: bool) -> bool:
        is_done = reached <= SUCCESS and (is_last or state.marks[polish.WORSE] > 0.0)
        if not is_done and not (reached <= NEARLY and problem.n > MOST_ROWS):
            return False
        x = answer(problem, state, layout.BEST)
        if is_selected(problem, x):
            state.x, state.is_due = x, True
            if is_done:
                state.ended = Status.REDUCED_ACCURACY, DONE
        elif is_done:
            state.spare = x
        return is_done

    begin_newton(problem, state, state.x)
    return (yield from _newton(state, judge))


def _newton(state: ConicState, is_done: Callable[[float, bool], bool]) -> Generator[Request, int, float]:
    """Newton steps while they make progress. `is_done` is told F over its unit, and whether the step was the last."""
    first = reached = np.inf
    for made in range(1, NEWTON_STEPS + 1):
        yield run.POLISH, 1
        reached = float(state.marks[polish.POLISHED] / state.unit)
        first = min(first, reached) if made == 1 else first
        is_stuck = made >= TRIALS and reached > max(PROGRESS * first, NEARLY)
        is_last = is_stuck or made == NEWTON_STEPS or state.marks[run.ENDED] != run.GOES_ON
        if is_done(reached, is_last) or is_last:
            break
    return reached


def _path(
    problem: Problem, state: ConicState, most: int = 0, *, may_turn: bool = True
) -> Generator[Request, int, bool]:
    """Follow the path from the iterate for at most `most` iterations (0: those of an attempt); whether it ends at a
    solution."""
    marks = state.marks
    turns = marks[run.TURNS]
    if most:
        marks[run.SINCE] = run.MOST_ITERATIONS - most
    while marks[run.ENDED] == run.GOES_ON and (may_turn or marks[run.TURNS] == turns):
        yield run.FOLLOW, maxsize
        is_polished = marks[polish.POLISHED] < marks[run.ERROR]
        state.x = answer(problem, state, layout.BEST if is_polished else layout.X)
    return bool(marks[run.ENDED] == run.DONE)


def _path_next_to(
    options: PathOptions, problem: Problem, state: ConicState, reached: float
) -> Generator[Request, int, bool]:
    """A short path that starts next to the best point of Newton steps, where F is `reached` times its unit."""
    x = answer(problem, state, layout.BEST)
    if not reached <= FAR or not begin_cold(state, options.friction_target, options.seed):
        return False
    begin_next_to(problem, state, x, reached)
    return (yield from _path(problem, state, SHORT_PATH, may_turn=False))


def _proximal_steps(options: PathOptions, problem: Problem, state: ConicState) -> Course:
    """Proximal steps from the caller's point; a step that fails is followed by one with a larger eps."""
    x, turn, marks = state.x, 0, state.marks
    residuals = [look(problem, x)[0]]
    most = marks[path.FACTORISATIONS] + PROXIMAL_FACTORISATIONS
    while 0 <= turn < len(SHARES) and marks[path.FACTORISATIONS] < most:
        with _pulled_to(state, x, SHARES[turn]):
            found = yield from _solve_next_to(options, problem, state, x)
        if found is None:
            turn -= 1
            continue
        x = state.x = found
        state.is_due = True
        residuals.append(look(problem, x)[0])
        if len(residuals) == 3 and not residuals[-1] <= SLOW * residuals[0]:
            return
        turn += 1


@contextmanager
def _pulled_to(state: ConicState, x: Vector, share: float) -> Iterator[None]:
    """Add share w_i (x_i - c_i) to y_i of the iterate, where c is the given x and w_i the mean A_ii of the contact."""
    R, rows, conic = state.iterate.rows, state.rows, state.conic
    friction = np.ones(x.size)
    friction[rows.row] = rows.unit[rows.row]  # of a normal; without it, w would not weigh normals and tangents alike
    soft = share * rows.block_means(conic.diagonal * friction**2) / friction**2
    soft[rows.block_of_row < 0] = 0.0
    R[layout.C] = conic.compliance + soft
    R[layout.B] = conic.b - soft * rows.in_units(x)
    try:
        yield
    finally:
        R[layout.C], R[layout.B] = conic.compliance, conic.b


def _solve_next_to(
    options: PathOptions, problem: Problem, state: ConicState, x: Vector
) -> Generator[Request, int, Vector | None]:
    """Solve the iterate's problem by Newton steps from x, then by a path that starts next to their best point."""
    begin_newton(problem, state, x)
    reached = yield from _newton(state, lambda reached, is_last: reached <= PROXIMAL_SUCCESS)
    is_done = reached <= PROXIMAL_SUCCESS or (yield from _path_next_to(options, problem, state, reached))
    return answer(problem, state, layout.BEST) if is_done else None
