"""Staggering: normal impulses with friction known, friction with the normal impulses known, by turns.

The two halves of staggering: the normal problem with the friction impulses known, and the other way round.

Both hold the rows after the contacts (joints, limits) as well, so that a fixed point satisfies every row. A half with
the rows R and a matrix S is posed at the present x as

    S x_R + c,        c = y_R - S x_R,      y = A x + b,

so that what the other half does enters through one product with all of A. With S = A_RR this is NOTES eq. 110. But any
S has the same fixed points: at x itself the slack is y_R. That serves twice. An A that is not quite symmetric has the
symmetric part of A_RR for S, so that convex methods can be named for it. And the normal problem is made definite:
S = A_nn + proximal diag(A_nn) keeps redundant contacts from sharing out the load anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.box import BoxLCP
from perp.problems.deadline import OutOfTime
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.lcp import LCP
from perp.problems.operators import DenseOperator, Operator, SparseOperator
from perp.problems.operators.base import APPLY, DIAGONAL, SUBMATRIX
from perp.problems.problem import Problem
from perp.solvers import api, roster
from perp.solvers.anderson import Anderson
from perp.solvers.method import Method, State, misfit
from perp.solvers.options import About, option
from perp.solvers.results import Status

LARGEST = float(np.finfo(np.float64).max)

SETTLED = 1e-14
"""Normal impulses that change by no more than this share of the largest have settled."""

SAME = 1e-12
"""Normal impulses that come back to earlier ones up to this share of the largest go round in circles."""

PATIENCE = 300
"""Iterations without a new least fixed point residual, and as many as came before it, show that there is none."""

SHORT_PATIENCE = 20
"""The same where that residual is already as small as the tolerance of the two solves."""

GREATEST = 1e12
"""Normal impulses that are so many times greater than usual ones have run away."""

NO_FAILURE = (Status.CONVERGED, Status.REDUCED_ACCURACY)
"""How an inner solve may end: the second one is as exact as rounding allows."""


@dataclass(frozen=True)
class Half:
    """Some rows of a contact problem, and the matrix that stands for A between them."""

    rows: NDArray[np.intp]
    S: Operator

    def right_hand_side(self, x: Vector, y: Vector) -> Vector:
        """c = y_R - S x_R."""
        part = x[self.rows]
        return y[self.rows] - self.S.apply(part)


@dataclass(frozen=True)
class NormalHalf(Half):
    """0 <= x_n  ⊥  y_n >= 0 with the friction impulses known (NOTES eq. 110a), and the rows after the contacts."""

    lower: Vector
    upper: Vector

    @staticmethod
    def of(problem: ContactProblem, proximal: float) -> NormalHalf:
        rows = np.concatenate([problem.normal_rows, _others(problem)])
        lower, upper = (bound[rows] for bound in problem.bounds(np.zeros(problem.n)))
        added = np.zeros(rows.size)
        if proximal > 0.0:
            added[: problem.contacts] = proximal * np.abs(problem.A.diagonal()[problem.normal_rows])
        return NormalHalf(rows, restrict(problem.A, rows, added), lower, upper)

    def pose(self, problem: ContactProblem, x: Vector, y: Vector) -> tuple[Problem, Vector]:
        """The problem, and the start for it."""
        c = self.right_hand_side(x, y)
        if problem.n == problem.contact_rows:
            return LCP(self.S, c), x[self.rows]
        return BoxLCP(self.S, c, self.lower, self.upper), x[self.rows]


@dataclass(frozen=True)
class BoxHalf(Half):
    """|x_t| <= friction x_n, tangent by tangent, with the normal impulses known (PGS-SM 5.1)."""

    @staticmethod
    def of(problem: ContactProblem) -> BoxHalf:
        tangents = np.flatnonzero(np.arange(problem.contact_rows) % problem.dimension)
        rows = np.concatenate([tangents, _others(problem)])
        return BoxHalf(rows, restrict(problem.A, rows, np.zeros(rows.size)))

    def pose(self, problem: ContactProblem, x: Vector, y: Vector) -> tuple[Problem, Vector]:
        lower, upper = (bound[self.rows] for bound in problem.bounds(x))
        return BoxLCP(self.S, self.right_hand_side(x, y), lower, upper), x[self.rows]


@dataclass(frozen=True)
class DiscHalf(Half):
    """|(x_p, x_q)| <= friction x_n, pair by pair, with the normal impulses known: the model `disc`.

    Its normal rows are there for the form only: they are coupled with nothing, and zero solves them.
    """

    @staticmethod
    def of(problem: ContactProblem) -> DiscHalf:
        return DiscHalf(np.arange(problem.n), detach_normals(problem))

    def pose(self, problem: ContactProblem, x: Vector, y: Vector) -> tuple[Problem, Vector]:
        normals = problem.normal_rows
        start = x.copy()
        start[normals] = 0.0
        c = self.right_hand_side(start, y)
        c[normals] = 0.0
        limits = np.minimum(problem.tangent_limits(x), LARGEST)  # a disc has a finite radius
        discs = ContactProblem(self.S, c, limits, "disc", lower=problem.lower, upper=problem.upper)
        return discs, start


FrictionHalf = BoxHalf | DiscHalf


def friction_half(problem: ContactProblem) -> FrictionHalf:
    return DiscHalf.of(problem) if problem.has_discs else BoxHalf.of(problem)


def restrict(A: Operator, rows: NDArray[np.intp], added: Vector) -> Operator:
    """A between these rows, its symmetric part, plus diag(added); factored where A is, and of body pairs where A is."""
    if A.factored is not None:
        return A.factored.masked(rows, A.factored.compliance[rows] + added)
    part = A.submatrix(rows, rows)
    if sparse.issparse(part):
        return SparseOperator(0.5 * (part + part.T) + sparse.diags_array(added))
    return DenseOperator(0.5 * (part + part.T) + np.diag(added))


def detach_normals(problem: ContactProblem) -> Operator:
    """A without what couples the normals of contacts with any row; their diagonal is that of the tangents' mean."""
    A, normals = problem.A, problem.normal_rows
    diagonal = np.abs(A.diagonal())
    own = np.zeros(problem.n)
    own[normals] = 0.5 * (diagonal[normals + 1] + diagonal[normals + 2])
    own[normals[own[normals] == 0.0]] = 1.0
    stays = np.ones(problem.n)
    stays[normals] = 0.0
    every = np.arange(problem.n)
    if A.factored is not None:
        return A.factored.masked(every, A.factored.compliance * stays + own, stays)
    part = A.submatrix(every, every)
    if sparse.issparse(part):
        keep = sparse.diags_array(stays)
        return SparseOperator(keep @ (0.5 * (part + part.T)) @ keep + sparse.diags_array(own))
    return DenseOperator(0.5 * (part + part.T) * np.outer(stays, stays) + np.diag(own))


def _others(problem: ContactProblem) -> NDArray[np.intp]:
    return np.arange(problem.contact_rows, problem.n)


@dataclass
class FixedPointWatch:
    """Follows z, the normal impulses, and f = N(F(z)) - z, what one friction and one normal solve make of them."""

    inner_tolerance: float
    is_plain: bool
    """Whether z alone decides what comes next, so that a z seen before means a cycle."""
    usual: float
    """What a normal impulse may be without surprise: the largest of the first ones at least."""
    least: float = np.inf
    least_at: int = 0
    count: int = 0
    mark: Vector | None = None
    mark_at: int = 0
    seen: float = np.inf
    """The last fixed point residual, max |f|."""

    def look(self, z: Vector, f: Vector) -> tuple[Status, str] | None:
        """How to end, with a sentence that names the fixed point residual; None to go on."""
        size, largest = float(np.abs(f).max(initial=0.0)), float(np.abs(z).max(initial=0.0))
        self.count += 1
        self.seen = size
        if self.count == 1:
            self.usual = max(self.usual, largest)
        if size < self.least:
            self.least, self.least_at = size, self.count
        missed = f"a normal and a friction solve still move the normal impulses by {size:.1e}"
        if size <= SETTLED * largest:
            return Status.STAGNATED, f"the fixed point is reached, up to inner_tolerance = {self.inner_tolerance:g}"
        if largest > GREATEST * self.usual:
            return Status.BREAKDOWN, f"the normal impulses grow without end, no fixed point attracts them; {missed}"
        if self.is_plain and self.mark is not None and np.abs(z - self.mark).max(initial=0.0) <= SAME * largest:
            period = self.count - self.mark_at
            return Status.CYCLING, f"every {period} iterations the same normal impulses come again, and {missed}"
        if self.count & (self.count - 1) == 0:  # Brent's search for a cycle: compare with 1, 2, 4, 8, ...
            self.mark, self.mark_at = z.copy(), self.count
        accurate = self.least <= self.inner_tolerance
        if self.count - self.least_at > (SHORT_PATIENCE if accurate else max(PATIENCE, self.least_at)):
            return Status.STAGNATED, self._name_stagnation(accurate)
        return None

    def _name_stagnation(self, accurate: bool) -> str:
        if accurate:
            return f"the fixed point residual, {self.least:.1e}, is within inner_tolerance = {self.inner_tolerance:g}"
        waited = self.count - self.least_at
        return f"no fixed point was found: its residual was {self.least:.1e} at best, {waited} iterations ago"


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
    synonyms: ClassVar[tuple[str, ...]] = ("staggered projections", "Panagiotopoulos")
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
    damping: float = option(
        1.0, About("share of its step that x_n takes", above=0.0, at_most=1.0, synonyms=("relaxation", "omega"))
    )
    memory: int = option(
        5,
        About(
            "differences of earlier steps for Anderson's acceleration; 0 switches it off",
            at_least=0,
            synonyms=("anderson_memory",),
        ),
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
