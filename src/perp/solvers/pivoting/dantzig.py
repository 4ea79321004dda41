"""Baraff's incremental pivoting: process one row after the other and keep the processed ones complementary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from perp.kernels.pivoting import dantzig as kernels
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import FILLING, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.pivoting.pivot_state import FrictionBounds
from perp.solvers.pivoting.scaled_problem import TABLES, warm_rows
from perp.solvers.results import Status
from perp.solvers.symmetry import symmetric_scales

if TYPE_CHECKING:
    from perp.kernels.pivoting.dantzig import Tableau

ORDERS = ("most_violated", "least_index")

MOST_ROWS = 10_000
"""A and its factor are held as full matrices: 1.6 GB for so many rows."""

FAR = 1e3
"""How much larger than b a free x may be at the start, all scaled: so many digits of b are lost beside A x."""


@dataclass
class DantzigState(State):
    tableau: Tableau
    scales: Vector
    """x = scales * (the tableau's x)."""
    friction: FrictionBounds | None


@dataclass(frozen=True)
class Dantzig(Method[DantzigState]):
    """Baraff's incremental pivoting, known from rigid-body engines as Dantzig's method.

    Rows are processed one by one. Processed rows are always complementary: free (y = 0) or clamped at a bound that y
    agrees with; the others wait where they started. The next row j is the one with the most violated slack
    (`order="most_violated"`) or the first that is violated ("least_index"); x_j is driven until y_j = 0 or it reaches
    its bound, and processed rows that get in the way change sides (NOTES eq. 42-43). One iteration is one such pivot,
    O(n k) with a factor of A_FF that grows and shrinks by a row.

    Two things in the notes are corrected here: the signs of the Schur complement after eq. 41, dx_F = -A_FF^-1 A_Fj and
    dy_j = A_jj - A_jF A_FF^-1 A_Fj for a unit of x_j, and eq. 43c, by which x_j moves by -y_j / dy_j until y_j = 0.

    Rows without bounds are free from the start, fixed rows are never processed. A warm start takes the rows where x0
    is strictly between its bounds, and not zero, as free, and then drops those that come to leave their bounds. Where
    x0 is so large that A x0 would hide the digits of b, such a row starts as near to zero as its bounds allow.

    A may be singular: a row that depends on the free ones never enters the factor. A direction along which the slack of
    a row does not change and nothing blocks proves that there is no solution.

    Friction bounds (contacts, box model) stand still while rows are processed: first at those of x0 (zero from a cold
    start, so normals come first), then at those of the normal impulses found, and so on with some damping until they
    settle. Such an update counts as an iteration. It is a fixed point iteration, which need not converge.
    """

    name: ClassVar[str] = "dantzig"
    family: ClassVar[str] = "pivoting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box"})
    needs: ClassVar[frozenset[str]] = frozenset({TO_SPARSE})
    requires: ClassVar[str] = "symmetric, positive definite or semi-definite; small enough to be held as a full matrix"
    reference: ClassVar[str] = "NOTES 5.1.1, eq. 41-43, corrected; Baraff 1994"
    check_every: ClassVar[int] = 100
    counted: ClassVar[tuple[str, ...]] = ("pivots", "processed", "bound_updates", "dependent_rows")
    scales_itself: ClassVar[bool] = True

    order: str = option("most_violated", About("which of the violated rows is processed next", ORDERS))

    def __post_init__(self) -> None:
        require_choices(self, order=ORDERS)

    def objection(self, problem: Problem) -> str | None:
        if problem.n > MOST_ROWS:
            return f"it holds A as a full matrix, and {problem.n} rows are more than {MOST_ROWS}"
        if problem.is_symmetric is None:
            return f"A must be symmetric, and a {problem.A.form} operator cannot tell whether it is"
        if not problem.is_symmetric:
            return f"A must be symmetric, and its asymmetry max |A - A^T| / max |A| is {problem.A.asymmetry:.3g}"
        return None

    def default_iterations(self, problem: Problem) -> int:
        return max(1000, 50 * problem.n)

    def start(self, problem: Problem, x: Vector) -> DantzigState:
        scales = symmetric_scales(problem)
        tableau = _make_tableau(problem, x, scales)
        friction = FrictionBounds.of(problem, x)
        state = DantzigState(x, tableau, scales, friction, repeatable=False, ends_itself=True)
        state.counters = dict.fromkeys(self.counted, 0.0)
        if not (np.isfinite(tableau.matrix).all() and np.isfinite(tableau.b).all()):
            state.ended = Status.BREAKDOWN, "A with its diagonal scaled to 1 overflows, so it is not semi-definite"
        return state

    def step(self, problem: Problem, state: DantzigState, count: int) -> None:
        tableau, left = state.tableau, count
        while state.ended is None:  # also for count = 0, which loads the kernel and does nothing
            done = kernels.pivot_on(left, self.order == "least_index", tableau)
            state.counters["pivots"] += done
            left -= done
            if left == 0:
                break
            phase = tableau.cursor[kernels.PHASE]
            if phase != kernels.SOLVED:
                _give_up(problem, state)
            elif _update_bounds(problem, state):
                left -= 1
            elif state.ended is None:
                state.ended = Status.REDUCED_ACCURACY, _tell_dependent_rows(tableau)
        state.unused = left
        state.counters["processed"] = int(np.count_nonzero(tableau.kind >= kernels.FREE))
        state.counters["dependent_rows"] = int(np.count_nonzero(tableau.resting))
        np.copyto(state.x, problem.project(state.scales * tableau.x))


def _make_tableau(problem: Problem, x: Vector, scales: Vector) -> Tableau:
    """With x = D z: D A D, D b and the bounds divided by D; every row where x is, but free ones that are FAR."""
    n = problem.n
    lower, upper = problem.bounds(x)
    FILLING.require(TABLES * float(n) ** 2)
    matrix = problem.A.to_dense()
    matrix *= scales[:, None]
    matrix *= scales
    cursor = np.zeros(kernels.CURSOR_SIZE, dtype=np.int64)
    cursor[kernels.PHASE], cursor[kernels.DRIVEN] = kernels.ENTERING, -1
    b = problem.b * scales
    is_far = np.abs(x) > FAR * np.abs(b).max(initial=0.0) * scales
    starts_free = warm_rows(x, lower, upper) | (np.isinf(lower) & np.isinf(upper))
    return kernels.Tableau(
        matrix=freeze(matrix.reshape(-1)),
        b=freeze(b),
        lower=lower / scales,
        upper=upper / scales,
        x=np.where(starts_free & is_far, np.clip(0.0, lower, upper), x) / scales,
        y=np.zeros(n),
        size=np.zeros(n),
        kind=np.where(starts_free, kernels.WAITING, kernels.UNPROCESSED),
        resting=np.zeros(n, dtype=np.bool_),
        factor=np.empty(n * n),
        pivots=np.empty(n),
        members=np.zeros(n, dtype=np.uint32),
        column=np.empty(n),
        solved=np.empty(n),
        move=np.zeros(n),
        rate=np.empty(n),
        cursor=cursor,
    )


def _update_bounds(problem: Problem, state: DantzigState) -> bool:
    """Let friction bounds follow the normal impulses; False where there are none, or they have settled, or go round."""
    friction, tableau, scales = state.friction, state.tableau, state.scales
    if friction is None or not friction.follow(problem.bounds(scales * tableau.x)[1][friction.rows]):
        return False
    if friction.has_stalled:
        state.ended = Status.STAGNATED, "friction bounds follow the normal impulses and do not settle"
        return False
    if friction.came_again(tableau.kind.tobytes()):
        state.ended = Status.CYCLING, "the same friction bounds came again with the same index sets"
        return False

    lower, upper = tableau.lower.copy(), tableau.upper.copy()
    upper[friction.rows] = friction.limit / scales[friction.rows]
    lower[friction.rows] = -upper[friction.rows]
    kernels.follow_bounds(lower, upper, tableau)
    state.counters["bound_updates"] += 1
    return True


def _give_up(problem: Problem, state: DantzigState) -> None:
    """Say why no pivot is possible; the direction of the last one may prove that there is no solution."""
    phase, driven, culprit = state.tableau.cursor[[kernels.PHASE, kernels.DRIVEN, kernels.CULPRIT]]
    if phase == kernels.OUTGROWN:
        state.ended = Status.RAY, "x grew so large along it that b is lost beside A x"
    elif phase == kernels.RAY:
        state.ended = Status.RAY, f"the slack of row {driven} stays violated along a direction that nothing blocks"
    else:
        state.ended = Status.BREAKDOWN, f"A is not positive semi-definite: the pivot of row {culprit} shows it"
    if problem.frictional is None:  # certificates know no friction
        state.certificate = state.scales * state.tableau.move


def _tell_dependent_rows(tableau: Tableau) -> str:
    """A note on the rows that were left as they are because the free rows decide their slack."""
    dependent = int(np.count_nonzero(tableau.resting))
    return f"rows that depend on the free ones, so that A is singular: {dependent}" if dependent else ""
