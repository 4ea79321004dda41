"""An interior-point method for friction: second-order cones in body space, and Newton steps on the states it finds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.conic import layout, path, run
from perp.kernels.conic.layout import Options
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.cone_interior import course
from perp.solvers.cone_interior.cones import ConeRows, list_cones
from perp.solvers.cone_interior.state import ConicState, run_kernel
from perp.solvers.cone_interior.system import SPACES, make_system
from perp.solvers.method import Method
from perp.solvers.options import ELIMINATION_ORDERS, ORDERING, About, option, require_choices, space_objection

SOFTNESS = 1e-3
"""The compliance, as a share of A_ii, with which all contacts stick at the start."""

MOST_SHORT, SYMMETRIC_MOST_SHORT = 6, 20
"""Short steps in a row after which an attempt is given up. The path of a convex problem does not fold, but the first
steps of an LCP may be as short as 1e-7."""

ACCURACY = 1e-2
"""A step is refined until what is left of its equations is this share of each pair."""

SYMMETRIC_LIFT, LIFT = 1e-10, 1e-9
"""The compliance, as a share of A_ii, that rigid rows have in the matrix of a step alone."""

UNEVEN = 1e-12
"""Compliances in the units of their rows that differ by a larger share are not the same."""


@dataclass(frozen=True)
class ConeInterior(Method[ConicState]):
    """Interior points of second-order cones: a path to the solution, and Newton steps on the states that it shows.

    Every condition is a pair z, v in the cone {head >= |tail|} with z . v = 0 at a solution, in units in which friction
    is one (`perp.kernels.conic.layout` has the table): a bound is a half-line; two bounds, and a disc of given radius,
    are cones with a fixed head; a convex contact is one cone; Coulomb's law is two pairs, x_n with y_n and (x_n, x_t)
    with (s, y_t), s the slip speed, a multiplier. The path has, with the Jordan product and its unit e,

        M V = J^T x,    y = J V + C x + b,    z o v = tau target e    for every cone,

    and tau falls to zero. Where friction follows normals, the target of cones with a fixed or followed head is
    `friction_target`; all others are one. One iteration is one factorisation and at least two solves: with Nesterov
    and Todd's scaling T the products become W dx + dy = g, W = T^-2 or parts of it, and K = M + J^T (W + C)^-1 J is
    factored; then come Mehrotra's predictor and corrector (1992) and up to `correctors` of Gondzio's (1996), each
    refined by up to `refinements` conjugate residuals on the equations of x and V together, which redundant contacts
    and large mass ratios need.
    The step is the share `boundary` of the longest one inside the cones, or 0.99 of it where that is nearly whole. K is
    symmetric unless a head follows. Rigid rows have a tiny compliance in K, more where steps cannot be refined.

    Without J, or with `space="contact"`, A + W is factored instead; A may then have any form that can be written out.

    Where the point is near a solution (`polish`), Newton's method on Alart and Curnier's equations (1991) is tried: it
    converges in a few factorisations to rounding errors if the states of all contacts are those of the solution, else
    the path goes on where it was. At the end of a path, and from a given start, steps that make things worse are taken
    back, and the next have more compliance in their matrix. All this needs the body space; in contact space every solve
    starts cold, and the path itself goes to the end, which rounding sets at about 1e-7.

    A start has 12 Newton steps, each an iteration, or 4 where they make no progress; its solution is accepted where its
    motion is the one that `perp.solvers.selection` selects. Where they fail, a path starts next to their best point for
    convex problems and contacts with compliance. Rigid contacts of more than 75 rows take proximal steps
    (`perp.solvers.cone_interior.course`): of the many impulses that redundant contacts may have, they find ones near
    the start, so that the next time step has a good start, too. Cold paths come last.

    For convex problems (no head that follows) the path leads to a solution where there is one that is strictly inside.
    For Coulomb's law nothing is proved: the path may fold. Where it does, the targets of the contacts that block it are
    changed, and it is followed again from a point before (the counter `turns`). Up to `attempts` paths are tried in
    turn: the targets of each are scattered at random, by `seed` and the number of the attempt, unless these are 0.
    Every solve with the same options takes the same paths.
    """

    name: ClassVar[str] = "cone_interior"
    family: ClassVar[str] = "interior"
    accepts: ClassVar[frozenset[str]] = frozenset(
        {"lcp", "box", "contact/box", "contact/cone", "contact/convex", "contact/disc"}
        | {"wide/box", "wide/cone", "wide/convex", "wide/disc"}
    )
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "a positive semidefinite A, best in factored form; contacts may be redundant"
    reference: ClassVar[str] = "Nesterov & Todd 1997; Mehrotra 1992; Gondzio 1996; Alart & Curnier 1991"
    counted: ClassVar[tuple[str, ...]] = ("tau", "step_length", "factorisations", "solves", "turns", "attempts")
    check_every: ClassVar[int] = 4
    scales_itself: ClassVar[bool] = True

    friction_target: float = option(
        3.0, About("aim of products of friction on the path, over that of normals", above=0.0)
    )
    correctors: int = option(2, About("further solves an iteration, where steps are short", at_least=0))
    refinements: int = option(8, About("rounds of iterative refinement of a step, at most", at_least=0))
    boundary: float = option(0.9, About("share of the longest step inside the cones", above=0.0, below=1.0))
    attempts: int = option(
        4,
        About(
            "cold paths to try, where one of them ends before a solution; 0: none, only the start is tried", at_least=0
        ),
    )
    seed: int = option(0, About("of scattered targets: attempt k, from 0 on, has seed + k; 0: none", at_least=0))
    polish: bool = option(True, About("whether Newton steps on the states of contacts give the last digits"))
    space: str = option("auto", About("unknowns of the factor: velocities of bodies, or impulses", SPACES))
    ordering: str = option("best", ORDERING)

    def __post_init__(self) -> None:
        for name in ("attempts", "correctors", "refinements", "seed"):
            require_count(getattr(self, name), name)
        for name in ("friction_target", "boundary"):
            require_number(getattr(self, name), name, positive=True)
        if self.boundary >= 1.0:
            raise ValueError(f"boundary is {self.boundary}; it must lie strictly between 0 and 1")
        require_choices(self, space=SPACES, ordering=ELIMINATION_ORDERS)

    def objection(self, problem: Problem) -> str | None:
        misplaced = space_objection(problem, "space", self.space)
        if misplaced is not None:
            return misplaced
        diagonal = problem.diagonal
        if diagonal is not None and (diagonal < 0.0).any():
            row = int(np.argmax(diagonal < 0.0))
            return f"A must be positive semidefinite, and A[{row},{row}] is {diagonal[row]:g}"
        if self.space != "contact" and _has_uneven_tangents(problem):
            return "in body space the tangents of a contact must have one compliance; space='contact' takes any"
        return None

    def default_iterations(self, problem: Problem) -> int:
        return course.MOST_FROM_START + run.MOST_ITERATIONS * self.attempts

    def start(self, problem: Problem, x: Vector) -> ConicState:
        rows = list_cones(problem)
        conic = make_system(problem, rows, self.space, self.ordering)
        it = conic.new_iterate(rows, self.refinements)
        weight = rows.block_means(conic.diagonal)
        it.rows[layout.B], it.rows[layout.C] = conic.b, conic.compliance
        it.rows[layout.CENTRE], it.rows[layout.WEIGHT] = rows.centre, weight
        it.bodies[layout.ROOT] = conic.roots
        state = ConicState(
            x,
            rows=rows,
            conic=conic,
            iterate=it,
            marks=np.zeros(path.MARKS),
            unit=float(np.max(np.abs(conic.b) / np.sqrt(weight), initial=0.0)) or 1.0,
            options=self._kernel_options(rows),
            repeatable=False,
            ends_itself=True,
            counters=dict.fromkeys(self.counted, 0.0),
        )
        is_warm = not self.attempts or bool((x != cold_start(problem)).any())
        state.course = course.solve(self, problem, state, is_warm and self.polish and conic.in_bodies)
        state.request = next(state.course, state.request)
        return state

    def _kernel_options(self, rows: ConeRows) -> Options:
        lift, most_short = (SYMMETRIC_LIFT, SYMMETRIC_MOST_SHORT) if rows.symmetric else (LIFT, MOST_SHORT)
        return Options(
            *(self.refinements, ACCURACY, self.correctors, float(self.boundary), lift, self.polish, SOFTNESS),
            *(most_short, run.find_pieces()),
        )

    def step(self, problem: Problem, state: ConicState, count: int) -> None:
        done = 0
        while done < count and state.ended is None and not state.is_due:
            what, most = state.request
            made = run_kernel(state, what, min(count - done, most))
            done += made
            with suppress(StopIteration):  # then it has ended
                state.request = state.course.send(made)
        state.unused = count - done
        marks = state.marks
        state.counters |= {
            "tau": marks[path.TAU],
            "step_length": marks[path.LONGEST],
            "factorisations": marks[path.FACTORISATIONS],
            "solves": marks[path.SOLVES],
            "turns": marks[run.TURNS],
            "attempts": state.attempt + 1.0,
        }


def _has_uneven_tangents(problem: Problem) -> bool:
    """Whether tangents that share a cone differ in compliance: (W + C)^-1 is then not closed in the basis of T."""
    A, contacts = problem.A.factored, problem.frictional
    if A is None or contacts is None or contacts.model == "box":
        return False
    tangents = A.compliance[: contacts.contact_rows].reshape(-1, contacts.dimension)[:, 1:]
    levers = np.where(contacts.strength[:, None] > 0.0, contacts.levers[:, 1:], 0.0)
    measured = tangents * levers**2
    least = np.where(levers > 0.0, measured, np.inf).min(axis=1, initial=np.inf)
    return bool((measured.max(axis=1, initial=0.0) > least * (1.0 + UNEVEN)).any())
