"""An interior-point method for friction: second-order cones in body space, and Newton steps on the states it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.conic.layout import FIXED, OWN, Iterate, Options
from perp.linalg.paces import CONIC
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.cone_interior.centred import centre_pairs
from perp.solvers.cone_interior.cones import ConeRows, list_cones
from perp.solvers.cone_interior.system import SPACES, ConicSystem, make_system
from perp.solvers.method import Method, State
from perp.solvers.options.checks import require_choices, space_objection
from perp.solvers.options.docs import About, option
from perp.solvers.options.shared import ELIMINATION_ORDERS, ORDERING
from perp.solvers.results.status import Status
from perp.solvers.selection import MOST_ROWS, is_rigid, is_selected

SOFTNESS = 1e-3
"""The compliance, as a share of A_ii, with which all contacts stick at the start."""

MOST_SHORT, SYMMETRIC_MOST_SHORT = 6, 20
"""Short steps in a row after which an attempt is given up. The path of a convex problem does not fold, but the first
steps of an LCP may be as short as 1e-7."""

SCATTER = 0.5
"""Targets of attempts whose seed is not 0 differ from block to block: by factors exp(SCATTER n), n normally
distributed."""

ACCURACY = 1e-2
"""A step is refined until what is left of its equations is this share of each pair."""

SYMMETRIC_LIFT, LIFT = 1e-10, 1e-9
"""The compliance, as a share of A_ii, that rigid rows have in the matrix of a step alone."""

UNEVEN = 1e-12
"""Compliances in the units of their rows that differ by a larger share are not the same."""

WARM_STEPS, WARM_SUCCESS, WARM_NEAR = 12, 1e-11, 1e-6
"""Newton steps from a given point; F, as a share of its unit, at which they are done, and at which the point is an
answer to be judged by."""

WARM_TRIALS, WARM_PROGRESS = 4, 0.1
"""After so many of them F must be below this share of what the first left, or they are given up..."""

WARM_PATH, WARM_FAR, WARM_TAU, LEAST_WARM_TAU = 25, 10.0, 5.0, 1e-8
"""...for a path from next to their best point, of so many iterations at most and given up when it goes back at a fold;
from points where F is not above so many times its unit. It begins with a tau of so many times F^2, and of at least the
last number times its unit^2."""

OPEN = "the solution next to the start was kept: its motion is one of several, and no path leads to another one"
NEAR = 1e-5
"""F, as a share of its unit, at which a path that stalls is near a solution that rounding errors hide."""

DONE = "the states of all contacts are found, and rounding errors are all that is left"


@dataclass
class ConicState(State):
    rows: ConeRows
    conic: ConicSystem
    iterate: Iterate
    marks: NDArray[np.float64]
    unit: float
    """What F of a polish is measured by: the largest |b| / sqrt(A_ii)."""
    options: Options
    warm_steps: int
    """Newton steps from the given point that are left."""
    warm_error: float = np.inf
    """F after the first Newton step from the given point."""
    is_near_start: bool = False
    """Whether the path begins next to the given point."""
    attempt: int = 0
    spare: Vector | None = None
    """A solution next to the given point whose motion is one of several (`perp.solvers.selection`)."""


@dataclass(frozen=True)
class ConeInterior(Method):
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
    back, and the next have more compliance in their matrix. A start has 12 such steps, each an iteration, or 4 where
    they make no progress; its solution is taken where its motion is the one that `perp.solvers.selection` selects.
    Where they fail, the path begins next to their best point for convex problems and contacts with compliance, and cold
    for others. All this needs the body space; in contact space every solve starts cold, and the path itself goes to the
    end, which rounding sets at about 1e-7.

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
        About("paths to try, where one of them ends before a solution; 0: Newton steps from a start alone", at_least=0),
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
        from perp.kernels.conic.run import MOST_ITERATIONS

        return WARM_STEPS + WARM_PATH + MOST_ITERATIONS * self.attempts

    def start(self, problem: Problem, x: Vector) -> ConicState:
        from perp.kernels.conic import layout, path

        rows = list_cones(problem)
        conic = make_system(problem, rows, self.space, self.ordering)
        it = conic.new_iterate(rows, self.refinements)
        weight = _block_means(rows, conic.diagonal)
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
            warm_steps=WARM_STEPS if self._tries_start(problem, x) and conic.in_bodies else 0,
            repeatable=False,
            ends_itself=True,
            counters=dict.fromkeys(self.counted, 0.0),
        )
        if state.warm_steps:
            self._begin_warm(problem, state)
        else:
            self._begin(state)
        return state

    def _tries_start(self, problem: Problem, x: Vector) -> bool:
        return self.polish and (not self.attempts or bool((x != cold_start(problem)).any()))

    def _kernel_options(self, rows: ConeRows) -> Options:
        from perp.kernels.conic.run import find_pieces

        lift, most_short = (SYMMETRIC_LIFT, SYMMETRIC_MOST_SHORT) if rows.symmetric else (LIFT, MOST_SHORT)
        return Options(
            *(self.refinements, ACCURACY, self.correctors, float(self.boundary), lift, self.polish, SOFTNESS),
            *(most_short, find_pieces()),
        )

    def step(self, problem: Problem, state: State, count: int) -> None:
        from perp.kernels.conic import path, run

        assert isinstance(state, ConicState)
        done = 0
        while done < count and state.ended is None and not state.is_due:
            if state.warm_steps:
                done += self._try_warm(problem, state)
                continue
            done += self._run(state, run.FOLLOW, count - done)
            self._judge(problem, state)
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

    def _run(self, state: ConicState, what: int, count: int) -> int:
        from perp.kernels.blas import product_address
        from perp.kernels.conic.run import run

        conic = state.conic
        with CONIC.work(max(count, 1) * (conic.plan.cost / 15.0 + 1e3 * state.x.size)):
            made = run(
                *(what, product_address(), conic.in_bodies, conic.symmetric, state.options),
                *(state.rows.cones, conic.blocks, conic.system, conic.factor, state.iterate),
                *(state.marks, state.unit, count),
            )
        return int(made)

    def _begin(self, state: ConicState) -> None:
        """A point on the axes of all cones, with equal products, as large as contacts that stick need it."""
        from perp.kernels.conic import layout, run
        from perp.kernels.conic.polish import POLISHED

        rows, it, marks = state.rows, state.iterate, state.marks
        marks[run.SHORT], marks[run.TRIED], marks[run.ENDED], marks[run.HELP] = 0.0, np.inf, run.GOES_ON, 1.0
        marks[run.NUMBER] = marks[run.FLAT] = marks[run.SINCE] = 0.0
        marks[run.ERROR] = marks[run.LEAST] = marks[POLISHED] = np.inf
        it.saved[:, :2] = 0.0
        if not self.attempts:
            self._give_up(state, "Newton steps from the start lead to no solution, and no path is allowed")
            return
        self._run(state, run.START, 0)
        if marks[run.ENDED] == run.BROKEN:
            state.ended = Status.BREAKDOWN, "A cannot be factored, even with a compliance of a thousandth"
            return
        block, cones = rows.block_of_row, rows.cones
        inside = block >= 0
        stuck = np.bincount(block[inside], it.rows[layout.DX, inside] ** 2, rows.row.size)
        energy = _mean_energy(state)
        head = (np.sqrt(stuck) + np.sqrt(energy / it.rows[layout.WEIGHT, rows.row]))[rows.block_of_cone]
        self._set_ratios(state, stuck)
        head = np.where(cones.mode == FIXED, cones.offset, head)
        it.target[:] = np.where(cones.mode == OWN, 1.0, 1.0 if rows.symmetric else self.friction_target)
        if seed := self.seed + state.attempt:
            scatter = np.exp(SCATTER * np.random.default_rng(seed).standard_normal(rows.row.size))
            it.target[:] *= scatter[rows.block_of_cone]
        left = SOFTNESS * it.rows[layout.WEIGHT, rows.row] * np.sqrt(stuck)  # speeds that soft contacts leave
        product = (energy + float(np.mean(head * left[rows.block_of_cone]))) * it.target if head.size else head
        x, y = it.rows[layout.X], it.rows[layout.Y]
        x[:], y[:] = np.where(inside, it.rows[layout.DX], rows.value), 0.0
        longest = int(cones.count.max(initial=0))
        tails = np.concatenate([cones.tail[:0], *(cones.tail[cones.count > k] + k for k in range(longest))])
        x[tails] = it.rows[layout.CENTRE, tails]
        own = cones.mode == OWN
        x[cones.head[own]] = cones.sign[own] * (head + cones.offset)[own]
        y[cones.head[own]] = cones.sign[own] * (product / head)[own]
        it.rows[layout.VH, cones.slot] = product / head
        it.bodies[layout.V] = it.bodies[layout.DV]

    @staticmethod
    def _set_ratios(state: ConicState, squares: NDArray[Any]) -> None:
        """Impulse over speed of each block: what a contact carries (squared), and how fast things are."""
        from perp.kernels.conic import layout

        impulse = np.sqrt(squares) + np.sqrt(_mean_energy(state) / state.iterate.rows[layout.WEIGHT, state.rows.row])
        speed = float(np.max(np.abs(state.conic.b), initial=0.0)) or 1.0
        block = state.rows.block_of_row
        state.iterate.rows[layout.RATIO] = np.where(block >= 0, (impulse / speed)[block], 1.0)

    def _begin_warm(self, problem: Problem, state: ConicState) -> None:
        """From the caller's point."""
        from perp.kernels.conic import layout, run
        from perp.kernels.conic.polish import DAMPING, IS_NEW, POLISHED, WORSE

        marks = state.marks
        self._take(problem, state, state.x)
        x, block = state.iterate.rows[layout.X], state.rows.block_of_row
        self._set_ratios(state, np.bincount(block[block >= 0], x[block >= 0] ** 2, state.rows.row.size))
        marks[POLISHED], marks[WORSE], marks[DAMPING], marks[IS_NEW] = np.inf, 0.0, 1.0, 1.0
        marks[run.ENDED] = run.GOES_ON

    @staticmethod
    def _take(problem: Problem, state: ConicState, x: Vector) -> None:
        """Put x and its velocities into the iterate."""
        from perp.kernels.conic import layout

        A, unit = problem.A.factored, state.rows.unit
        assert A is not None
        state.iterate.rows[layout.X] = np.multiply(x, unit, out=np.zeros(unit.size), where=np.isfinite(unit))
        moved = np.where(state.rows.block_of_row >= 0, x, 0.0)  # b has what rows that cannot move do to the others
        state.iterate.bodies[layout.V] = A.velocity(moved)[state.conic.system.rows]

    def _try_warm(self, problem: Problem, state: ConicState) -> int:
        """A Newton step from the caller's point. Where such steps lead to no solution, a path from next to their best
        point, or a cold start: for rigid contacts, whose paths fold too often, and where the motion of the solution is
        one of several. Returns how many steps were made."""
        from perp.kernels.conic import layout, run
        from perp.kernels.conic.polish import POLISHED, WORSE

        marks = state.marks
        made = self._run(state, run.POLISH, 1)
        state.warm_steps -= made
        reached = marks[POLISHED] / state.unit
        if np.isinf(state.warm_error):
            state.warm_error = reached
        is_stuck = reached > max(WARM_PROGRESS * state.warm_error, WARM_NEAR)
        is_over = marks[run.ENDED] != run.GOES_ON or not state.warm_steps
        is_over = is_over or (is_stuck and WARM_STEPS - state.warm_steps >= WARM_TRIALS)
        is_done = reached <= WARM_SUCCESS and (is_over or marks[WORSE] > 0.0)
        if is_done or (reached <= WARM_NEAR and problem.n > MOST_ROWS):
            answer = self._answer(problem, state, layout.BEST)
            if is_selected(problem, answer):
                state.x, state.is_due = answer, True
                if is_done:
                    state.ended = Status.REDUCED_ACCURACY, DONE
                    return made
            elif is_done:
                state.spare, is_over = answer, True
        if is_over:
            state.warm_steps = 0
            self._begin(state)
            if state.ended is None and state.spare is None and reached <= WARM_FAR and not is_rigid(problem):
                self._begin_next_to(problem, state, self._answer(problem, state, layout.BEST), reached)
        return made

    def _begin_next_to(self, problem: Problem, state: ConicState, x: Vector, error: float) -> None:
        """A point of the central path next to x, where F is `error`, in the place of a cold start."""
        from perp.kernels.conic import layout, run

        rows, it = state.rows, state.iterate
        self._take(problem, state, x)
        slack = problem.slack(x)
        it.rows[layout.Y] = np.divide(slack, rows.unit, out=np.zeros(x.size), where=rows.block_of_row >= 0)
        equations = rows.row[np.diff(rows.first_cone) == 0]
        it.rows[layout.Y, equations] = 0.0
        centre_pairs(rows, it, WARM_TAU * state.unit**2 * max(error**2, LEAST_WARM_TAU))
        state.is_near_start = True
        state.marks[run.SINCE] = run.MOST_ITERATIONS - WARM_PATH

    def _judge(self, problem: Problem, state: ConicState) -> None:
        """What the iterations came to: an answer, the next attempt, or the end."""
        from perp.kernels.conic import layout, run
        from perp.kernels.conic.polish import POLISHED

        ended = state.marks[run.ENDED]
        is_polished = state.marks[POLISHED] < state.marks[run.ERROR]
        state.x = self._answer(problem, state, layout.BEST if is_polished else layout.X)
        if ended == run.DONE:
            state.ended = Status.REDUCED_ACCURACY, DONE
        elif state.is_near_start and (ended != run.GOES_ON or state.marks[run.TURNS] > 0.0):
            state.is_near_start = False
            self._begin(state)
        elif ended != run.GOES_ON:
            is_near = state.marks[run.ERROR] <= NEAR * state.unit  # another path would end near another solution
            state.attempt += 1
            if state.attempt < self.attempts and not is_near:
                self._begin(state)
            else:
                state.attempt -= 1
                self._give_up(state, "no path that was tried leads to a solution")

    @staticmethod
    def _give_up(state: ConicState, why: str) -> None:
        state.ended = Status.STAGNATED, why
        if state.spare is not None:
            state.x, state.ended = state.spare, (Status.REDUCED_ACCURACY, OPEN)

    @staticmethod
    def _answer(problem: Problem, state: ConicState, line: int) -> Vector:
        """What a line of the iterate says; the last answer where that is not finite."""
        x = state.iterate.rows[line] / state.rows.unit
        return problem.project(x) if np.isfinite(x).all() else state.x


def _has_uneven_tangents(problem: Problem) -> bool:
    """Whether tangents that share a cone differ in compliance: (W + C)^-1 is then not closed in the basis of T."""
    A = problem.A.factored
    if A is None or not isinstance(problem, ContactProblem) or problem.model == "box":
        return False
    tangents = A.compliance[: problem.contact_rows].reshape(-1, problem.dimension)[:, 1:]
    levers = np.where(problem.strength[:, None] > 0.0, problem.levers[:, 1:], 0.0)
    measured = tangents * levers**2
    least = np.where(levers > 0.0, measured, np.inf).min(axis=1, initial=np.inf)
    return bool((measured.max(axis=1, initial=0.0) > least * (1.0 + UNEVEN)).any())


def _mean_energy(state: ConicState) -> float:
    """The mean of b^2 / A_ii over the blocks."""
    from perp.kernels.conic import layout

    block = state.rows.block_of_row
    inside = block >= 0
    energies = (state.conic.b**2 / state.iterate.rows[layout.WEIGHT])[inside]
    return float(energies.sum() / max(state.rows.row.size, 1)) or 1.0


def _block_means(rows: ConeRows, diagonal: Vector) -> Vector:
    """The mean A_ii of each block, for its rows; a row without one has a typical one."""
    block = rows.block_of_row
    inside = block >= 0
    counts = np.maximum(np.bincount(block[inside], minlength=rows.row.size), 1)
    means = np.bincount(block[inside], diagonal[inside], rows.row.size) / counts
    typical = float(means.mean()) if means.any() else 1.0
    weight = np.full(diagonal.size, typical)
    weight[inside] = np.where(means > 0.0, means, typical)[block[inside]]
    return weight
