"""Principal pivoting: one row at a time goes from free to tight or back (THESIS 2.5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.pivoting import principal_pivots, principal_rules
from perp.kernels.pivoting import principal_rules as rules
from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.pivoting.scaled_problem import ScaledProblem, count_rows, scale_problem, tight_sides, warm_rows
from perp.solvers.results import Status

if TYPE_CHECKING:
    from perp.kernels.pivoting.principal_pivots import Data, Tableau

RULES = ("least_index", "keller")

MOST_ROWS = 4000
"""Three matrices of n x n numbers are kept: more rows would take more than 400 MB."""


@dataclass
class PrincipalState(State):
    scaled: ScaledProblem
    data: Data
    tableau: Tableau
    progress: NDArray[np.int64]
    best: Vector
    """x of the index set with the fewest wrong rows so far, scaled as the tableau is."""


@dataclass(frozen=True)
class Principal(Method[PrincipalState]):
    """Guess which rows are free, solve for them, and correct the guess one row at a time (THESIS eq. 2.41-2.44).

    Rule "least_index" moves the first row that is infeasible or not complementary. For P-matrices it ends at the
    solution (Murty 1974), though it may take 2^n - 1 pivots; a pivot that is not positive shows that A is no P-matrix,
    and it stops there. Rule "keller" is for symmetric A: it drives one slack at a time to zero while all x stay within
    their bounds, and ends at a solution or on a ray, which for positive semidefinite A proves that there is none
    (Keller 1973). One iteration is one pivot of n^2 operations.

    Rows of x0 that are not zero and strictly between their bounds are free at the start, the others at their nearest
    bound; rows without bounds are free always. Those rows are solved for before the first iteration and in one go: with
    thousands of them it takes many seconds, in which neither a time limit nor an interrupt is heeded.
    """

    name: ClassVar[str] = "principal"
    synonyms: ClassVar[tuple[str, ...]] = (
        "Murty",
        "least-index method",
        "Bard",
        "single principal pivoting",
        "SICONOS_LCP_MURTY",
    )
    family: ClassVar[str] = "pivoting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({TO_SPARSE})
    requires: ClassVar[str] = "a P-matrix; for rule='keller' a symmetric positive semidefinite matrix"
    reference: ClassVar[str] = "THESIS 2.5.2, eq. 2.40-2.44; Keller: NOTES 5.1, Cottle, Pang & Stone 1992, 4.2"
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("pivots", "infeasible", "refactorisations")
    scales_itself: ClassVar[bool] = True

    rule: str = option(
        "least_index",
        About("which row moves: the first that objects, or (keller) the one whose slack is driven to zero", RULES),
    )

    def __post_init__(self) -> None:
        require_choices(self, rule=RULES)

    def objection(self, problem: Problem) -> str | None:
        if problem.n > MOST_ROWS:
            return f"its tableau is dense, and {problem.n} rows are more than the {MOST_ROWS} that it takes"
        if self.rule == "keller" and not _is_symmetric(problem):
            return "rule='keller' is for symmetric A, and this A is not symmetric"
        return None

    def default_iterations(self, problem: Problem) -> int:
        return max(1000, 50 * problem.n)

    def start(self, problem: Problem, x: Vector) -> PrincipalState:
        scaled = scale_problem(problem)
        side, rest = tight_sides(scaled, x)
        data = principal_pivots.Data(scaled.A, scaled.b, scaled.lower, scaled.upper)
        progress = np.zeros(principal_rules.COUNT, dtype=np.int64)
        progress[principal_rules.FEWEST], progress[principal_rules.DRIVEN] = problem.n + 1, -1
        tableau = principal_pivots.make_tableau(scaled.A, side, rest)
        counters = {"pivots": 0.0, "infeasible": float(problem.n), "refactorisations": 0.0}
        state = PrincipalState(
            x,
            scaled,
            data,
            tableau,
            progress,
            x / scaled.scales,
            ends_itself=True,
            repeatable=False,
            counters=counters,
        )
        unbounded = np.isinf(scaled.x_lower) & np.isinf(scaled.x_upper)
        warm = warm_rows(x, scaled.x_lower, scaled.x_upper)
        if self._make_free(state, unbounded, warm) is None:
            return state
        reason = self._make_free(state, unbounded, np.zeros_like(warm))
        if reason is not None:
            state.ended = Status.BREAKDOWN, reason
        return state

    def _make_free(self, state: PrincipalState, unbounded: NDArray[np.bool_], rows: NDArray[np.bool_]) -> str | None:
        """Begin with these rows free and those without bounds; the reason, where their matrix does not allow it."""
        wanted = [*np.flatnonzero(unbounded), *np.flatnonzero(rows)]
        tight, at_bound = state.tableau.side.copy(), state.tableau.rest.copy()
        if self.rule == "keller":  # A_FF must be positive definite to begin with
            rank = int(principal_rules.free_in_turn(state.data, state.tableau, np.array(wanted, dtype=np.uint32)))
        else:
            state.tableau.side[wanted], state.tableau.rest[wanted] = principal_pivots.FREE, 0.0
            rank = int(principal_pivots.rebuild(state.data, state.tableau))
        if rank == len(wanted):
            return None
        state.tableau.side[:], state.tableau.rest[:] = tight, at_bound
        whose = f"the {count_rows(len(wanted))} without bounds have a matrix"
        if self.rule == "keller":
            return f"{whose} that is not positive definite: only {rank} of them could be solved for in turn"
        return f"{whose} of rank {rank}"

    def step(self, problem: Problem, state: PrincipalState, count: int) -> None:
        state.unused = count
        if state.ended is not None:
            return
        pivot = rules.pivot_by_keller if self.rule == "keller" else rules.pivot_by_least_index
        done = int(pivot(count, state.data, state.tableau, state.progress, state.best))
        state.unused = count - done
        if count == 0:
            return
        progress = state.progress
        state.counters = {
            "pivots": float(progress[rules.PIVOTS]),
            "infeasible": float(progress[rules.WRONG]),
            "refactorisations": float(progress[rules.REBUILDS]),
        }
        state.scaled.expose(state.tableau.side, state.tableau.value, state.tableau.rest, state.x)
        end, row = int(progress[rules.END]), int(progress[rules.ROW])
        if end == rules.SOLVED:
            state.offer = None
            state.ended = Status.REDUCED_ACCURACY, ""  # the loop says CONVERGED if the residual is small enough
            return
        state.offer = np.clip(state.best * state.scaled.scales, *problem.bounds(state.x))
        if end == rules.OVERFLOW:
            state.ended = Status.BREAKDOWN, "the numbers of the tableau grew beyond what can be computed with"
        elif end in (rules.ZERO_PIVOT, rules.NEGATIVE_PIVOT):
            word = "zero to rounding" if end == rules.ZERO_PIVOT else "negative"
            state.ended = (
                Status.BREAKDOWN,
                f"row {row}: the pivot is {word}, so A is not a P-matrix, and this rule knows no way on",
            )
            state.certificate = self._find_proof(state, row)
        elif end == rules.RAY:
            state.ended = Status.RAY, f"nothing stops x[{row}], and its slack keeps its sign"
            state.certificate = self._find_proof(state, row)

    def _find_proof(self, state: PrincipalState, row: int) -> Vector | None:
        """The candidate that row r of the tableau is for a proof of infeasibility.

        y_r = M_rF y_F + M_rT x_T + const for every x; so u = (1 in row r, -M_rF) has (A^T u)_F = 0, and u^T y depends
        on x_T alone. With the signs right, no x can lift y_r to zero. (`solve` checks whether they are.)
        """
        n, free = state.best.size, state.tableau.side == principal_pivots.FREE
        if free[row]:
            return None
        u = np.where(free, -state.tableau.M[row * n : (row + 1) * n], 0.0)
        u[row] = 1.0
        scale = state.scaled.scales / state.scaled.scales.max()
        proof: Vector = u * scale * (-1.0 if state.tableau.side[row] == principal_pivots.UPPER else 1.0)
        return proof


def _is_symmetric(problem: Problem) -> bool:
    if problem.is_symmetric is None:
        difference = problem.A.to_sparse()
        largest = abs(difference).max() if difference.nnz else 0.0
        difference = abs(difference - difference.T)
        return not difference.nnz or bool(difference.max() <= 1e-12 * largest)
    return problem.is_symmetric
