"""Staggering: normal impulses with friction known, friction with the normal impulses known, by turns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.deadline import OutOfTime
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, SUBMATRIX
from perp.problems.problem import Problem
from perp.solvers import api, roster
from perp.solvers.anderson import Anderson
from perp.solvers.fit import misfit
from perp.solvers.method import Method, State
from perp.solvers.options.docs import About, option
from perp.solvers.results.status import Status
from perp.solvers.splitting.staggering_endings import FixedPointWatch
from perp.solvers.splitting.staggering_halves import FrictionHalf, NormalHalf, friction_half

NO_FAILURE = (Status.CONVERGED, Status.REDUCED_ACCURACY)
"""How an inner solve may end: the second one is as exact as rounding allows."""


def _inner_names(*kinds: str) -> tuple[str, ...]:
    """Words for methods that take a half of one of these kinds."""
    return ("auto", *(method.name for method in roster.METHODS if not method.accepts.isdisjoint(kinds)))


@dataclass
class StaggeringState(State):
    normal: NormalHalf
    friction: FrictionHalf
    normal_method: Method
    friction_method: Method
    mixer: Anderson
    watch: FixedPointWatch
    is_first: bool = True
    """The tangential impulses are still those of the start, and not friction's answer to the normal ones."""


@dataclass(frozen=True)
class Staggering(Method[StaggeringState]):
    """Two convex problems by turns, each exactly, until their answers agree (Kaufman et al. 2008).

        N:  0 <= x_n  ⊥  A_nn x_n + (b_n + A_nt x_t) >= 0                          x_t known       (NOTES eq. 110a)
        F:  |x_t| <= friction x_n,  A_tt x_t + (b_t + A_tn x_n) opposing           x_n known       (NOTES eq. 110b)

    F has fixed bounds (box) or fixed discs (cone) in place of the K directions of eq. 110b-112. Rows after the contacts
    are in both, so that a fixed point solves them, too. One iteration is one N and one F, in this order; x then holds
    the normal impulses that F was given and F's answer, so it is always within its bounds.

    `normal` and `friction` name the methods for N and F, or are method objects; "auto" is block_principal for boxes and
    admm for discs. `quadratic_program` makes them the QPs of eq. 111. Each starts from its last answer and goes to
    `inner_tolerance`, in at most `inner_iterations`; one that does not get there is counted, its best answer is taken,
    and the next turn goes on from that. Where A is not quite symmetric, they get the symmetric part of their block, and
    the rest lags behind (`staggering_halves`).

    Nobody promises that the sequence converges (NOTES section 8). Where all contacts stick it does, slowly if normals
    and tangents act on the bodies in much the same way; where contacts slide and the coupling friction |A_nt| exceeds
    A_nn, it goes round in circles. `damping` in (0, 1] shortens the steps of x_n; `memory` differences of earlier steps
    serve Anderson's acceleration, safeguarded (`perp.solvers.anderson`); 0 switches that off. `proximal` adds that
    share of A_ii to the normal rows and takes it back at the next turn: the fixed points stay, and redundant contacts
    share out the load in one way only; with 0 the normal problem is that of NOTES, and proved infeasible where it is.
    An ending that is no success names the fixed point residual, by how much one turn moves x_n [N s]; the column
    `fixed_point_residual` of the history has it, too.
    """

    name: ClassVar[str] = "staggering"
    family: ClassVar[str] = "splitting"
    accepts: ClassVar[frozenset[str]] = frozenset({"contact/box", "contact/cone"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, SUBMATRIX})
    requires: ClassVar[str] = "symmetric positive semidefinite; strong friction may keep it from converging"
    reference: ClassVar[str] = "Kaufman, Sueda, James & Pai 2008; NOTES 8, eq. 110-112; PGS-SM 5.1"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = (
        "normal_iterations",
        "friction_iterations",
        "inner_failures",
        "anderson_restarts",
        "fixed_point_residual",
    )

    normal: str | Method = option(
        "auto", About("method for the normal impulses; auto is block_principal", partial(_inner_names, "lcp"))
    )
    friction: str | Method = option(
        "auto",
        About(
            "method for friction; auto is block_principal for boxes and admm for discs",
            partial(_inner_names, "box", "contact/disc"),
        ),
    )
    damping: float = option(1.0, About("share of its step that x_n takes", above=0.0, at_most=1.0))
    memory: int = option(
        5, About("differences of earlier steps for Anderson's acceleration; 0 switches it off", at_least=0)
    )
    proximal: float = option(
        1e-3, About("share of A_ii added to the normal rows, and taken back at the next turn", at_least=0.0)
    )
    inner_tolerance: float = option(1e-10, About("residual that an inner solve goes down to", at_least=0.0))
    inner_iterations: int = option(1000, About("most iterations of an inner solve", at_least=1))

    def __post_init__(self) -> None:
        require_number(self.damping, "damping", positive=True)
        if self.damping > 1.0:
            raise ValueError(f"damping is {self.damping}; a number in (0, 1] is needed")
        require_count(self.memory, "memory")
        require_number(self.proximal, "proximal")
        require_number(self.inner_tolerance, "inner_tolerance")
        require_count(self.inner_iterations, "inner_iterations", least=1)
        for role, choice in (("normal", self.normal), ("friction", self.friction)):
            _inner_method(role, choice, has_discs=False)

    def objection(self, problem: Problem) -> str | None:
        """What the two inner methods have against their halves."""
        problem = problem.as_contacts()
        x = np.zeros(problem.n)
        x[problem.normal_rows] = 1e-30  # so that no tangent is fixed, and nothing overflows
        normal, friction = NormalHalf.of(problem, self.proximal), friction_half(problem)
        for role, choice, half in (("normal", self.normal, normal), ("friction", self.friction, friction)):
            method = _inner_method(role, choice, role == "friction" and problem.has_discs)
            reason = misfit(method, half.pose(problem, x, np.zeros(problem.n))[0])
            if reason is not None:
                return f"{role}={method.label!r} would refuse its half: {reason}"
        return None

    def start(self, problem: Problem, x: Vector) -> StaggeringState:
        problem = problem.as_contacts()
        stiffness = np.abs(problem.A.diagonal()[problem.normal_rows])
        weight = np.sqrt(np.where(stiffness > 0.0, stiffness, 1.0))  # |weight f|^2 is an energy
        return StaggeringState(
            x,
            normal=NormalHalf.of(problem, self.proximal),
            friction=friction_half(problem),
            normal_method=_inner_method("normal", self.normal, has_discs=False),
            friction_method=_inner_method("friction", self.friction, problem.has_discs),
            mixer=Anderson(self.memory, self.damping, weight),
            watch=FixedPointWatch(self.inner_tolerance, self.memory == 0, _usual_impulse(problem)),
            repeatable=False,
            counters=dict.fromkeys(self.counted, 0.0),
        )

    def refresh(self, problem: Problem, state: StaggeringState) -> None:
        state.mixer.forget()

    def step(self, problem: Problem, state: StaggeringState, count: int) -> None:
        problem = problem.as_contacts()
        done = 0
        while done < count and state.ended is None:
            self._take_turns(problem, state)
            done += 1
        state.unused = count - done

    def _take_turns(self, problem: ContactProblem, state: StaggeringState) -> None:
        """N with the tangential impulses of x, a step of the normal ones, and F with those."""
        normals = problem.normal_rows
        x = state.x.copy()
        answer = self._solve_half(problem, state, x, "normal")
        if answer is None:
            return
        z, found = state.x[normals], answer[: problem.contacts]
        x[state.normal.rows] = answer
        if state.is_first:
            state.is_first = False
        else:
            ending = state.watch.look(z, found - z)
            state.counters["fixed_point_residual"] = state.watch.seen
            x[normals] = np.maximum(state.mixer.propose(z, found - z), 0.0)
            state.counters["anderson_restarts"] = float(state.mixer.restarts)
            if ending is not None:
                state.ended = ending[0], ending[1] + _tell_failures(state.counters["inner_failures"])
                return
        answer = self._solve_half(problem, state, x, "friction")
        if answer is None:
            return
        chosen = x[normals]
        x[state.friction.rows] = answer
        x[normals] = chosen
        state.x = problem.project(x)

    def _solve_half(self, problem: ContactProblem, state: StaggeringState, x: Vector, role: str) -> Vector | None:
        """The answer of one half at x, its rows; None where there is none, and the state has ended."""
        half, method = (
            (state.normal, state.normal_method) if role == "normal" else (state.friction, state.friction_method)
        )
        y = problem.A.slack(x, problem.b, np.empty(problem.n))
        try:
            posed, start = half.pose(problem, x, y)
        except InvalidProblem as fault:  # its numbers are no longer finite
            state.ended = Status.BREAKDOWN, f"the {role} problem cannot be posed: {fault}"
            return None
        result = api.solve(posed, method, x0=start, tol=self.inner_tolerance, max_iterations=self.inner_iterations)
        state.counters[f"{role}_iterations"] += result.iterations
        if result.status is Status.TIME_LIMIT:  # that of the whole: halves have none of their own
            raise OutOfTime
        if result.status is Status.INFEASIBLE:
            assert result.certificate is not None
            state.certificate = np.zeros(problem.n)
            state.certificate[half.rows] = result.certificate.u
            state.ended = Status.BREAKDOWN, f"the {role} problem has no solution, as {method.label} proves"
            return None
        if result.status not in NO_FAILURE:
            state.counters["inner_failures"] += 1
        return result.x


def _inner_method(role: str, choice: str | Method, has_discs: bool) -> Method:
    if not isinstance(choice, str | Method):
        raise TypeError(f"{role} is {choice!r}; the name of a method or a method object such as perp.APGD() is needed")
    if isinstance(choice, str) and choice == "auto":
        choice = "admm" if has_discs else "block_principal"
    return roster.make_method(choice, {})


def _tell_failures(count: float) -> str:
    return f" ({count:.0f} inner solves did not reach inner_tolerance)" if count else ""


def _usual_impulse(problem: ContactProblem) -> float:
    """The largest impulse that would stop one row by itself [N s]."""
    diagonal = problem.A.diagonal()
    rows = diagonal > 0.0
    return float((np.abs(problem.b[rows]) / diagonal[rows]).max(initial=0.0))
