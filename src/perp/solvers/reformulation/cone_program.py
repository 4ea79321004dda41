"""Contacts of the convex models as a program over second-order cones, handed to Clarabel.

Contacts of the convex models with symmetric A, stated as a program over second-order cones, and the way back.

Both models have the conditions of a minimum of 1/2 x^T A x + b^T x. With K = {|x_t| <= mu x_n} (`convex`; Anitescu &
Tasora 2010), or x_n >= 0 and |x_t| <= r (`disc`), and lower <= x <= upper for the other rows:

    assembled:   over x:   x in K, stated as (mu x_n, x_t) in L,   or   (r, x_t) in L
    body:        over V:   1/2 V^T M V + sum of r |y_t|   with   y = J V + b,   (y_n, mu y_t) in L,   or   y_n >= 0

The second is the dual of the first. Its unknowns are the velocities V = M^-1 J^T x that the impulses add, A is never
formed, and x are the multipliers: M V = J^T x. Compliance C gives each of its rows an unknown e and the term e^2 / 2,
with y = J V + sqrt(C) e + b, so that e = sqrt(C) x. |y_t| is an unknown of its own, s with (s, y_t) in L. A row with
two bounds has x = lower + d, an unknown q >= 0 that costs upper - lower, and y + q >= 0 with the multiplier d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.deadline import deadline
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators import FactoredOperator
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method
from perp.solvers.options import About, option, require_choices
from perp.solvers.reformulation.bridges import name_missing
from perp.solvers.reformulation.bridges.bridge import Ending
from perp.solvers.reformulation.bridges.clarabel import BRIDGE, ConeAnswer, solve_cone_program
from perp.solvers.reformulation.quadratic_program import (
    BACKEND,
    SPACES,
    TIGHTER,
    CallState,
    count_sparse_operations,
    moving_parts,
    program_objection,
)
from perp.solvers.reformulation.statement import ConeStatement
from perp.solvers.results import Status
from perp.solvers.symmetry import symmetric_scales

Rows = NDArray[np.intp]

TIGHTEST = 1e-15
"""Clarabel goes on at this tolerance until nothing gets better, and keeps what it has."""


@dataclass(frozen=True)
class ConeEncoding:
    """The statement, and what its answer means: x[rows] = shift[rows] + factor values[places], and shift elsewhere."""

    statement: ConeStatement
    by_multipliers: bool
    """Whether the values are multipliers (body space) or the unknowns themselves."""
    shift: Vector
    rows: Rows
    places: Rows
    factor: Vector

    def recover(self, values: Vector) -> Vector:
        """The x that an answer stands for."""
        return self.shift + self.recover_direction(values)

    def recover_direction(self, values: Vector) -> Vector:
        """How x changes along an answer."""
        x = np.zeros(self.shift.size)
        x[self.rows] = self.factor * values[self.places]
        return x


def encode_cones(problem: ContactProblem, space: str) -> ConeEncoding:
    """State the problem in the space asked for ("auto": in body space where A is factored).

    Contacts with an extreme diagonal entry (`Problem.row_scales`) are scaled by powers of two, one a contact, and the
    whole program so that the largest entry of b is near 1.
    """
    kinds = _Kinds.of(problem)
    scale, size = _find_scales(problem, kinds)
    factored = problem.A.factored
    if factored is not None and space != "assembled":
        return _encode_in_body_space(problem, factored, kinds, scale, size)
    return _encode_assembled(problem, kinds, scale, size)


@dataclass(frozen=True)
class _Kinds:
    """Which rows are what. Tangents that cannot have an impulse, and rows with lower == upper, are in none."""

    equations: Rows
    above: Rows
    """x >= shift: normals beside a cone, and extra rows with a lower bound."""
    below: Rows
    """x <= shift: extra rows with an upper bound alone."""
    between: NDArray[np.bool_]
    """Which of `above` have an upper bound, too."""
    cones: Rows
    """The contacts with a cone or a disc."""
    shift: Vector
    """The value of x at a bound, or of a row that has but one."""
    span: Vector
    """upper - lower of `above[between]`."""

    @staticmethod
    def of(problem: ContactProblem) -> _Kinds:
        first, lower, upper = problem.contact_rows, problem.lower, problem.upper
        has_lower, has_upper, moves = np.isfinite(lower), np.isfinite(upper), lower != upper
        shift = np.zeros(problem.n)
        shift[first:] = np.where(has_lower, lower, np.where(has_upper, upper, 0.0))
        rubs = problem.friction > 0.0
        normals = problem.normal_rows if problem.model == "disc" else problem.normal_rows[~rubs]
        bounded = first + np.flatnonzero(has_lower & moves)
        above = np.concatenate([normals, bounded])
        between = np.concatenate([np.zeros(normals.size, dtype=np.bool_), has_upper[bounded - first]])
        return _Kinds(
            equations=first + np.flatnonzero(~has_lower & ~has_upper),
            above=above,
            below=first + np.flatnonzero(~has_lower & has_upper),
            between=between,
            cones=np.flatnonzero(rubs),
            shift=shift,
            span=(upper - lower)[above[between] - first],
        )


def _find_scales(problem: ContactProblem, kinds: _Kinds) -> tuple[Vector, float]:
    """Powers of two: one a row, the same for all rows of a contact, and one for the whole program."""
    scale = np.where(problem.row_scales != 1.0, symmetric_scales(problem), 1.0)
    for tangent in range(1, problem.dimension):
        scale[problem.every(tangent)] = scale[problem.every(0)]
    bias = problem.A.slack(kinds.shift, problem.b, np.empty(problem.n))
    largest = np.abs(bias * scale).max(initial=0.0)
    usable = 0.0 < largest < np.inf
    return scale, float(np.exp2(np.rint(np.log2(largest)))) if usable else 1.0


def _encode_in_body_space(
    problem: ContactProblem, A: FactoredOperator, kinds: _Kinds, scale: Vector, size: float
) -> ConeEncoding:
    """Velocities are scaled by sqrt(M_ii), so that the diagonal of P is 1 whatever the masses."""
    J, M, _ = moving_parts(A)
    slow = sparse.diags_array(1.0 / np.sqrt(M.diagonal()))
    soft = np.flatnonzero(A.compliance > 0.0)
    yielding = sparse.csr_array((np.sqrt(A.compliance[soft]), (soft, np.arange(soft.size))), (problem.n, soft.size))
    y = sparse.csr_array(sparse.diags_array(scale) @ sparse.hstack([J @ slow, yielding]))
    bias = (problem.b + A.compliance * kinds.shift) * scale / size
    disc, width = problem.model == "disc", problem.dimension
    spans, slips = int(np.count_nonzero(kinds.between)), kinds.cones.size if disc else 0

    # the rows of s = y, in the order of the cones, and the weight of each
    tangents = (width * kinds.cones[:, None] + np.arange(1, width)).reshape(-1)
    whole = (width * kinds.cones[:, None] + np.arange(width)).reshape(-1)
    taken = np.concatenate([kinds.equations, kinds.above, kinds.below, np.zeros(spans, dtype=np.intp), whole])
    weight = np.ones(taken.size)
    at_below = kinds.equations.size + kinds.above.size
    at_spans = at_below + kinds.below.size
    at_cones = at_spans + spans
    weight[at_below:at_spans] = -1.0
    weight[at_spans:at_cones] = 0.0
    in_cones = weight[at_cones:].reshape(-1, width)
    if disc:
        in_cones[:, 0] = 0.0  # s, not y_n
    else:
        in_cones[:, 1:] = problem.friction[kinds.cones, None]
    velocities = sparse.diags_array(weight) @ y[taken]

    # q enters y + q >= 0 and q >= 0; s the first row of its cone
    at_between = kinds.equations.size + np.flatnonzero(kinds.between)
    own_rows = np.concatenate([at_between, at_spans + np.arange(spans), at_cones + width * np.arange(slips)])
    own_columns = np.concatenate([np.arange(spans), np.arange(spans), spans + np.arange(slips)])
    own = sparse.csr_array((np.ones(own_rows.size), (own_rows, own_columns)), (taken.size, spans + slips))

    radii = problem.friction[kinds.cones] if disc else np.zeros(0)
    pull = (slow @ (J.T @ kinds.shift)) / size
    between = kinds.above[kinds.between]
    cost = np.concatenate([kinds.span / scale[between], radii / scale[width * kinds.cones[: radii.size]]]) / size
    inertia = sparse.block_diag(
        [slow @ M @ slow, sparse.eye_array(soft.size), sparse.csr_array((cost.size, cost.size))], format="csc"
    )
    statement = ConeStatement(
        P=sparse.csc_matrix(sparse.triu(inertia)),
        c=np.concatenate([-pull, np.zeros(soft.size), cost]),
        rows=sparse.csc_matrix(-sparse.hstack([velocities, own])),
        right=weight * bias[taken],
        equations=kinds.equations.size,
        inequalities=at_cones - kinds.equations.size,
        cones=kinds.cones.size,
        width=width,
    )
    at_tangents = (at_cones + width * np.arange(kinds.cones.size)[:, None] + np.arange(1, width)).reshape(-1)
    places = np.concatenate([np.arange(at_spans), at_tangents if disc else at_cones + np.arange(whole.size)])
    rows = np.concatenate([taken[:at_spans], tangents if disc else whole])
    return ConeEncoding(statement, True, kinds.shift, rows, places, weight[places] * scale[rows] * size)


def _encode_assembled(problem: ContactProblem, kinds: _Kinds, scale: Vector, size: float) -> ConeEncoding:
    """Over the rows of x that can have an impulse, less their shift."""
    disc, width = problem.model == "disc", problem.dimension
    tangents = (width * kinds.cones[:, None] + np.arange(1, width)).reshape(-1)
    whole = (width * kinds.cones[:, None] + np.arange(width)).reshape(-1)
    kept = np.sort(np.concatenate([kinds.equations, kinds.above, kinds.below, tangents if disc else whole]))
    place = np.zeros(problem.n, dtype=np.intp)
    place[kept] = np.arange(kept.size)
    A = problem.A
    matrix = sparse.csr_array(A.written_out())
    scaling = sparse.diags_array(scale[kept])
    bias = A.slack(kinds.shift, problem.b, np.empty(problem.n))[kept]

    between = kinds.above[kinds.between]
    taken = np.concatenate([kinds.above, kinds.below, between, whole])
    weight = np.ones(taken.size)
    weight[kinds.above.size : taken.size - whole.size] = -1.0
    in_cones = weight[taken.size - whole.size :].reshape(-1, width)
    in_cones[:, 0] = 0.0 if disc else problem.friction[kinds.cones]
    right = np.zeros(taken.size)
    right[taken.size - whole.size - between.size : taken.size - whole.size] = kinds.span / (scale[between] * size)
    if disc:
        right[taken.size - whole.size :: width] = problem.friction[kinds.cones] / (scale[whole[::width]] * size)
    used = weight != 0.0
    picked = sparse.csr_array((weight[used], (np.flatnonzero(used), place[taken[used]])), (taken.size, kept.size))
    statement = ConeStatement(
        P=sparse.csc_matrix(sparse.triu(scaling @ matrix[kept][:, kept] @ scaling)),
        c=bias * scale[kept] / size,
        rows=sparse.csc_matrix(-picked),
        right=right,
        equations=0,
        inequalities=taken.size - whole.size,
        cones=kinds.cones.size,
        width=width,
    )
    return ConeEncoding(statement, False, kinds.shift, kept, np.arange(kept.size), scale[kept] * size)


@dataclass(kw_only=True)
class ConeProgramState(CallState):
    encoding: ConeEncoding


@dataclass(frozen=True)
class ConeProgram(Method[ConeProgramState]):
    """Minimise 1/2 x^T A x + b^T x over friction cones (model `convex`) or fixed discs (`disc`), and the bounds of
    other rows, by Clarabel (Goulart & Chen 2024), an interior-point method for second-order cones.

    For a factored A it is stated in body space: minimise 1/2 V^T M V over the velocities V, with y = J V + b in the
    dual cones; the impulses x are the multipliers (`perp.solvers.reformulation.cone_program`). `space="assembled"`
    forms A.

    One iteration is one call, the first with `tolerance`, the next with a hundredth, until the residual that perp
    computes is within the caller's tolerance. The last call asks for 1e-15 and refines its linear systems to rounding
    level. Clarabel bounds the gap of the objective, which is quadratic in the error: 1e-13 there is 1e-7 to 1e-9 here,
    and where contacts slide the residual ends at 1e-8 to 1e-6. A call is not started from x0.
    """

    name: ClassVar[str] = "cone_program"
    synonyms: ClassVar[tuple[str, ...]] = ("SOCP", "second-order cone program", "Clarabel")
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
