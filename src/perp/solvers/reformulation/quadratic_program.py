"""The complementarity problem with symmetric A as a quadratic program that another library solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.linalg.free_systems.body import movable_parts
from perp.problems.deadline import Pace, deadline
from perp.problems.inputs import Vector, require_number
from perp.problems.operators import FactoredOperator
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.operators.masses import DiagonalMass
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices, space_objection
from perp.solvers.reformulation.bridges import BACKENDS, cross, find_bridge, name_missing
from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending
from perp.solvers.reformulation.statement import Guess, Multipliers, Statement
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection, symmetric_scales

SPACES = ("auto", "assembled", "body")

Rows = NDArray[np.intp]

BACKEND = Pace(3e10)
"""Operations a second of other people's solvers, as `_count_operations` counts them."""

TIGHTER = 1e-2
"""Each further call asks for so small a share of the tolerance before."""

FAR_OFF = 1e-4
"""A residual above this share of the largest entry of b (its rows scaled) is no rounding error."""

NEARLY_ZERO = 1e-6
"""Entries of a direction below this share of the largest are meant to be zero."""

FLAT = 1e-3
"""A direction d with A d below this share of what the diagonal of A alone makes of it may be one with A d = 0."""


@dataclass(frozen=True)
class Encoding:
    """The statement, and what its unknowns mean: x = fixed + scale z in `rows`, which are the last entries of z."""

    statement: Statement
    fixed: Vector
    """The values of x in rows with lower == upper, and zeros."""
    rows: Rows
    """The other rows."""
    scale: Vector

    def recover(self, z: Vector) -> Vector:
        """The x that z stands for."""
        return self.fixed + self.recover_direction(z)

    def recover_direction(self, z: Vector) -> Vector:
        """How x changes along z."""
        x = np.zeros(self.fixed.size)
        x[self.rows] = self.scale * z[z.size - self.rows.size :]
        return x


def encode(problem: Problem, space: str, x: Vector | None, *, full: bool = False) -> Encoding:
    """State the problem in the space asked for ("auto": in body space where A is factored and has fewer velocities).

        assembled:   z = x        min 1/2 x^T A x + b^T x                                        (NOTES eq. 21, 53)
        body:        z = (v, x)   min 1/2 v^T M v + 1/2 x^T C x + b^T x   subject to   M v = J^T x

    both with lower <= x <= upper. They have the same solutions, as v^T M v = x^T J M^-1 J^T x; the second has no A.

    Rows with lower == upper are known and left out. Where rows have an extreme diagonal entry (`Problem.row_scales`),
    those rows are scaled symmetrically by powers of two, and the whole program so that its linear part is near 1.
    `x` is where to start, for solvers that can; `full` asks for a full matrix whatever the form of A.
    """
    lower, upper = problem.bounds(problem.b)
    is_fixed = lower == upper
    fixed = np.where(is_fixed, lower, 0.0)
    rows = np.flatnonzero(~is_fixed)
    bias = problem.A.slack(fixed, problem.b, np.empty(problem.n))[rows]
    scale, size = _find_scales(problem, rows, bias)
    limits = lower[rows] / (scale * size), upper[rows] / (scale * size)
    z, at_bounds = np.zeros(0), np.zeros(0)
    if x is not None:
        z, at_bounds = x[rows] / (scale * size), _bound_multipliers(problem, x)[rows] * scale / size
    A = problem.A.factored
    if A is not None and chooses_body_space(problem, space, full):
        J, M, moves = moving_parts(A)
        anywhere, nothing = np.full(moves.size, np.inf), np.zeros(moves.size)
        guess = None
        if x is not None:
            v = A.velocity(x)[moves] / size
            guess = Guess(np.concatenate([v, z]), Multipliers(-v, np.zeros(0), np.concatenate([nothing, at_bounds])))
        statement = Statement(
            P=sparse.csc_matrix(sparse.block_diag([M, sparse.diags_array(A.compliance[rows] * scale**2)])),
            c=np.concatenate([nothing, problem.b[rows] * scale / size]),
            E=sparse.csc_matrix(sparse.hstack([M, -(J[rows].T @ sparse.diags_array(scale))])),
            e=J.T @ fixed / size,
            G=sparse.csc_matrix((0, moves.size + rows.size)),
            h=np.zeros(0),
            lower=np.concatenate([-anywhere, limits[0]]),
            upper=np.concatenate([anywhere, limits[1]]),
            guess=guess,
        )
    else:
        none, nothing = sparse.csc_matrix((0, rows.size)), np.zeros(0)
        guess = None if x is None else Guess(z, Multipliers(nothing, nothing, at_bounds))
        P = _scaled_matrix(problem, rows, scale, full)
        statement = Statement(P, bias * scale / size, none, nothing, none, nothing, *limits, guess)
    return Encoding(statement, fixed, rows, scale * size)


def chooses_body_space(problem: Problem, space: str, full: bool) -> bool:
    """What "auto" means: body space has as many unknowns more as there are velocities, but no product J M^-1 J^T."""
    A = problem.A.factored
    if space != "auto" or A is None:
        return space == "body"
    return not full and A.mass.dofs < problem.n


def moving_parts(A: FactoredOperator) -> tuple[sparse.csr_array, sparse.csr_array, Rows]:
    """J and M of the velocities that can change, and which these are; for bodies that cannot move see there."""
    if isinstance(A.mass, DiagonalMass):
        moves = np.flatnonzero(np.isfinite(A.mass.m))
        return A.J[:, moves], sparse.diags_array(A.mass.m[moves]), moves
    J, M = movable_parts(A)
    return J, M, np.arange(M.shape[0])


def _find_scales(problem: Problem, rows: Rows, bias: Vector) -> tuple[Vector, float]:
    """Powers of two for the rows, and one for the whole; ones where no row is extreme."""
    extreme = problem.row_scales != 1.0
    if not extreme.any():
        return np.ones(rows.size), 1.0
    scale = np.where(extreme, symmetric_scales(problem), 1.0)[rows]
    largest = np.abs(bias * scale).max(initial=0.0)
    usable = 0.0 < largest < np.inf
    return scale, float(np.exp2(np.rint(np.log2(largest)))) if usable else 1.0


def _scaled_matrix(problem: Problem, rows: Rows, scale: Vector, full: bool) -> Any:
    """The rows and columns of A that are left, scaled from both sides."""
    A, everything = problem.A, rows.size == problem.n
    if full or A.is_dense:
        dense = A.array()
        dense = dense if everything else dense[np.ix_(rows, rows)]
        return dense if (scale == 1.0).all() else (dense * scale[:, None]) * scale
    matrix = A.to_sparse()
    matrix = matrix if everything else matrix[rows][:, rows]
    return sparse.csc_matrix(sparse.diags_array(scale) @ matrix @ sparse.diags_array(scale))


def _bound_multipliers(problem: Problem, x: Vector) -> Vector:
    lower, upper = problem.bounds(x)
    return np.where((x > lower) & (x < upper), 0.0, -problem.slack(x))


@dataclass(kw_only=True)
class CallState(State):
    """Where the calls of an external solver stand."""

    watch: Watch
    tolerance: float
    """What the next call is to ask for."""
    residual: float = np.inf
    """Of x."""

    def begin(self) -> None:
        """Measure x, before the first call."""
        self.residual, *_ = self.watch.look(self.x)
        self.counters["backend_iterations"] = 0.0

    def take(self, x: Vector | None) -> None:
        """The answer of a call, if it is better than x: asked for more, some solvers give less."""
        if x is None:
            return
        residual, *_, probe = self.watch.look(x)
        if probe == 0.0 and residual < self.residual:
            self.x, self.residual = x, residual

    def end_with(self, problem: Problem, x: Vector | None, said: str) -> None:
        """The solver can do no better than its last answer."""
        far_off = self.residual > FAR_OFF * np.abs(problem.b * problem.row_scales).max(initial=0.0)
        self.ended = (Status.BREAKDOWN if x is None or far_off else Status.REDUCED_ACCURACY), said


@dataclass(kw_only=True)
class ProgramState(CallState):
    bridge: Bridge
    encoding: Encoding


@dataclass(frozen=True)
class QuadraticProgram(Method[ProgramState]):
    """Minimise f(x) = 1/2 x^T A x + b^T x over lower <= x <= upper: for symmetric positive semidefinite A the
    conditions of first order are the complementarity problem itself (NOTES eq. 21-22, 53).

    `backend` is the solver: piqp, clarabel, daqp, proxqp, osqp, highs, or "auto", the first of these that is
    installed. The result names the one that ran: `quadratic_program(piqp)`. One iteration is one call of it, the first
    with `tolerance`, the next ones with a hundredth each, until the residual that perp computes is within the caller's
    tolerance or the solver can be asked for no more. What the solver says of its own answer is only repeated.

    `space` says how the program is stated (auto, assembled, body). A call is not interrupted: limits of time
    act between calls. A start x0 is used by OSQP, and by ProxQP where A is sparse.
    """

    name: ClassVar[str] = "quadratic_program"
    synonyms: ClassVar[tuple[str, ...]] = (
        "QP",
        "quadratic programming",
        "PIQP",
        "Clarabel",
        "DAQP",
        "ProxQP",
        "OSQP",
        "HiGHS",
    )
    family: ClassVar[str] = "reformulation"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "symmetric positive semidefinite A, and an installed solver: pip install 'perp[piqp]'"
    reference: ClassVar[str] = "NOTES 2 and 5.3, eq. 21 and 53"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = ("backend_iterations",)

    backend: str = option(
        "auto", About("the solver that is asked; auto is the first one installed", BACKENDS, synonyms=("qp_solver",))
    )
    tolerance: float = option(1e-10, About("of the first call; each further one asks for a hundredth", above=0.0))
    space: str = option(
        "auto", About("how the program is stated: in x alone, or in velocities and x for factored A (body)", SPACES)
    )

    def __post_init__(self) -> None:
        require_number(self.tolerance, "tolerance", positive=True)
        require_choices(self, backend=BACKENDS, space=SPACES)

    @property
    def label(self) -> str:
        bridge = find_bridge(self.backend)
        return self.name if bridge is None else f"{self.name}({bridge.name})"

    def objection(self, problem: Problem) -> str | None:
        bridge = find_bridge(self.backend)
        if bridge is None:
            return name_missing(self.backend)
        return program_objection(problem, bridge, self.space)

    def start(self, problem: Problem, x: Vector) -> ProgramState:
        bridge = find_bridge(self.backend)
        assert bridge is not None
        chosen = None if np.array_equal(x, problem.project(np.zeros(problem.n))) else x
        encoding = encode(problem, self.space, chosen, full=bridge.dense_only)
        state = ProgramState(
            x,
            watch=Watch(problem),
            tolerance=float(self.tolerance),
            bridge=bridge,
            encoding=encoding,
            ends_itself=True,
        )
        state.begin()
        return state

    def step(self, problem: Problem, state: ProgramState, count: int) -> None:
        done = 0
        while done < count and state.ended is None:
            self._call(problem, state)
            done += 1
        state.unused = count - done

    @staticmethod
    def _call(problem: Problem, state: ProgramState) -> None:
        """One call of the solver; its answer is taken if it is better than x, and says how to go on."""
        statement = state.encoding.statement
        with BACKEND.work(_count_operations(statement)):
            answer = cross(state.bridge, statement, state.tolerance, deadline().left)
        state.counters["backend_iterations"] += answer.iterations
        x = _recovered(problem, state.encoding, answer.z)
        state.take(x)
        said = f"{answer.backend} says '{answer.words}' when asked for {state.tolerance:.0e}"
        direction = _find_escape(problem, state.encoding, answer)
        state.tolerance *= TIGHTER
        if direction is not None:
            state.certificate = direction
            state.ended = Status.RAY, f"{said}, and x runs off in a direction in which no slack changes"
        elif answer.ending in (Ending.UNBOUNDED, Ending.INFEASIBLE):
            state.ended = Status.BREAKDOWN, said
        elif answer.ending is Ending.STOPPED or state.tolerance < state.bridge.tightest:
            state.end_with(problem, x, said)
        if state.ended is not None and direction is None and not deadline().allows(0.0):
            state.ended = Status.TIME_LIMIT, said


def _count_operations(statement: Statement) -> float:
    """Some 15 factors, of a full matrix or of one that fills in as a grid does."""
    if statement.is_dense:
        return 5.0 * float(statement.n) ** 3
    return count_sparse_operations(statement.sparse_P().nnz + statement.E.nnz + statement.G.nnz)


def count_sparse_operations(entries: int) -> float:
    """Some 15 factors of a matrix with so many entries, which fills in as a grid does."""
    return float(500.0 * entries**1.5)


def _recovered(problem: Problem, encoding: Encoding, z: Vector | None) -> Vector | None:
    """The x of an answer, within its bounds; None where there is none, or it is not finite."""
    if z is None or z.size != encoding.statement.n or not np.isfinite(z).all():
        return None
    x = problem.project(encoding.recover(z))
    return x if np.isfinite(x).all() else None


def _find_escape(problem: Problem, encoding: Encoding, answer: Answer) -> Vector | None:
    """A direction d within the bounds with A d = 0 and b^T d < 0, which f follows for ever; it proves that there is no
    solution, and `solve` checks that. Solvers that give none leave z far out in that direction.
    """
    z = answer.z if answer.ray is None else answer.ray
    if answer.ending is Ending.SOLVED or z is None or z.size != encoding.statement.n or not np.isfinite(z).all():
        return None
    far = NEARLY_ZERO * np.abs(z[z.size - encoding.rows.size :]).max(initial=0.0)
    z = np.where(np.abs(z) > far, z, 0.0)
    lower, upper = problem.bounds(problem.b)
    low, high = np.where(np.isinf(lower), -np.inf, 0.0), np.where(np.isinf(upper), np.inf, 0.0)
    direction = np.clip(encoding.recover_direction(z), low, high)
    largest = np.abs(direction).max(initial=0.0)
    if largest == 0.0 or not np.isfinite(largest):
        return None
    direction /= largest
    assert problem.diagonal is not None
    change = np.abs(problem.A.apply(direction) * problem.row_scales).max()
    own = np.abs(problem.diagonal * direction * problem.row_scales).max()
    return direction if float(problem.b @ direction) < 0.0 and change <= FLAT * own else None


def program_objection(problem: Problem, bridge: Bridge, space: str) -> str | None:
    """Why the program of this problem cannot be stated in that space, or handed over an installed bridge; or None."""
    try:
        bridge.load()
    except ImportError as fault:
        return f"{bridge.package} is installed and cannot be imported: {fault}"
    return space_objection(problem, "space", space) or asymmetry_objection(problem) or _concave_objection(problem)


def _concave_objection(problem: Problem) -> str | None:
    """A semidefinite matrix has no negative diagonal entry; more is not asked beforehand, as it would cost a factor."""
    assert problem.diagonal is not None
    negative = np.flatnonzero(problem.diagonal < 0.0)
    if not negative.size:
        return None
    i = negative[0]
    return f"A is not positive semidefinite: A[{i},{i}] is {problem.diagonal[i]:g}"
