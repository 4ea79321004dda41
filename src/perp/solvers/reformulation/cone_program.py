"""Contacts of the convex models as a program over second-order cones, handed to Clarabel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.problems.deadline import deadline
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method
from perp.solvers.options.checks import require_choices
from perp.solvers.options.docs import About, option
from perp.solvers.reformulation.bridges import name_missing
from perp.solvers.reformulation.bridges.bridge import Ending
from perp.solvers.reformulation.bridges.clarabel import BRIDGE, ConeAnswer, solve_cone_program
from perp.solvers.reformulation.cone_encoding import ConeEncoding, encode_cones
from perp.solvers.reformulation.encoding import SPACES
from perp.solvers.reformulation.quadratic_program import (
    BACKEND,
    TIGHTER,
    CallState,
    count_sparse_operations,
    program_objection,
)
from perp.solvers.results.status import Status

TIGHTEST = 1e-15
"""Clarabel goes on at this tolerance until nothing gets better, and keeps what it has."""


@dataclass(kw_only=True)
class ConeProgramState(CallState):
    encoding: ConeEncoding


@dataclass(frozen=True)
class ConeProgram(Method[ConeProgramState]):
    """Minimise 1/2 x^T A x + b^T x over friction cones (model `convex`) or fixed discs (`disc`), and the bounds of
    other rows, by Clarabel (Goulart & Chen 2024), an interior-point method for second-order cones.

    For a factored A it is stated in body space: minimise 1/2 V^T M V over the velocities V, with y = J V + b in the
    dual cones; the impulses x are the multipliers (`perp.solvers.reformulation.cone_encoding`). `space="assembled"`
    forms A.

    One iteration is one call, the first with `tolerance`, the next with a hundredth, until the residual that perp
    computes is within the caller's tolerance. The last call asks for 1e-15 and refines its linear systems to rounding
    level. Clarabel bounds the gap of the objective, which is quadratic in the error: 1e-13 there is 1e-7 to 1e-9 here,
    and where contacts slide the residual ends at 1e-8 to 1e-6. A call is not started from x0.
    """

    name: ClassVar[str] = "cone_program"
    family: ClassVar[str] = "reformulation"
    accepts: ClassVar[frozenset[str]] = frozenset({"contact/convex", "contact/disc"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "symmetric positive semidefinite A, and Clarabel: pip install 'perp[clarabel]'"
    reference: ClassVar[str] = "Anitescu & Tasora 2010; Acary, Cadoux, Lemarechal & Malick 2011"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = ("backend_iterations",)

    tolerance: float = option(1e-13, About("of the first call; each further one asks for a hundredth", above=0.0))
    most_iterations: int = option(200, About("Clarabel's own limit, in each call", at_least=1))
    space: str = option(
        "auto", About("how the program is stated: over x, or over velocities for factored A (body)", SPACES)
    )

    def __post_init__(self) -> None:
        require_number(self.tolerance, "tolerance", positive=True)
        require_count(self.most_iterations, "most_iterations", least=1)
        require_choices(self, space=SPACES)

    def objection(self, problem: Problem) -> str | None:
        if not BRIDGE.is_installed:
            return name_missing(BRIDGE.name)
        return program_objection(problem, BRIDGE, self.space)

    def start(self, problem: Problem, x: Vector) -> ConeProgramState:
        problem = problem.as_contacts()
        state = ConeProgramState(
            x,
            watch=Watch(problem),
            tolerance=float(self.tolerance),
            encoding=encode_cones(problem, self.space),
            ends_itself=True,
        )
        state.begin()
        return state

    def step(self, problem: Problem, state: ConeProgramState, count: int) -> None:
        done = 0
        while done < count and state.ended is None:
            self._call(problem, state)
            done += 1
        state.unused = count - done

    def _call(self, problem: Problem, state: ConeProgramState) -> None:
        """One call of Clarabel; its answer is taken if it is better than x, and says how to go on."""
        asked = max(state.tolerance, TIGHTEST)
        last = asked <= TIGHTEST
        statement, limit = state.encoding.statement, self.most_iterations
        with BACKEND.work(count_sparse_operations(statement.P.nnz + statement.rows.nnz)):
            answer = solve_cone_program(statement, asked, iterations=limit, careful=last, seconds=deadline().left)
        state.counters["backend_iterations"] += answer.iterations
        x = _recovered(problem, state.encoding, answer)
        state.take(x)
        said = f"clarabel says '{answer.words}' when asked for {asked:.0e}"
        state.tolerance = asked * TIGHTER
        if answer.ending in (Ending.UNBOUNDED, Ending.INFEASIBLE):
            state.certificate = _escape(problem, state.encoding, answer)
            state.ended = Status.RAY if state.certificate is not None else Status.BREAKDOWN, said
        elif last:
            state.end_with(problem, x, said)
        if state.certificate is None and not deadline().allows(0.0):
            state.ended = Status.TIME_LIMIT, said


def _values(encoding: ConeEncoding, answer: ConeAnswer) -> Vector | None:
    values = answer.multipliers if encoding.by_multipliers else answer.z
    return None if values is None or not values.size or not np.isfinite(values).all() else values


def _recovered(problem: Problem, encoding: ConeEncoding, answer: ConeAnswer) -> Vector | None:
    """The x of an answer, within its bounds; None where there is none, or it is not finite."""
    values = _values(encoding, answer)
    if values is None:
        return None
    x = problem.project(encoding.recover(values))
    return x if np.isfinite(x).all() else None


def _escape(problem: Problem, encoding: ConeEncoding, answer: ConeAnswer) -> Vector | None:
    """A direction d in the cones with A d = 0 and b^T d < 0, which the objective follows for ever: as y is in the dual
    cones and d^T y = d^T b, it proves that there is no solution. `solve` checks that.
    """
    values = _values(encoding, answer)
    if values is None:
        return None
    direction = encoding.recover_direction(values)
    largest = np.abs(direction).max(initial=0.0)
    if largest == 0.0 or not np.isfinite(largest):
        return None
    direction /= largest
    return direction if float(problem.b @ direction) < 0.0 else None
