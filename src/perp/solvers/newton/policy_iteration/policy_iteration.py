"""Policy iteration with preconditioned conjugate gradients (Howard 1960; Lai, Chen, Gu, Batty & Wan 2020)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from perp.linalg.krylov import Ending
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.gradient.projection import diagonal_weights
from perp.solvers.method import Method
from perp.solvers.nested_start import INITIAL, START, nested_start
from perp.solvers.newton.policy_iteration.equation import FreeEquation, PolicyState
from perp.solvers.options import PRECONDITIONERS, About, option, require_choices
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection

AUTO = "auto"
COUNTED = (
    "policies",
    "changed_rows",
    "inner_iterations",
    "inner_failures",
    "coarse_inner_iterations",
    "single_changes",
)

LEAST_SHARE = 1e-2
"""No solve is asked for a smaller share than this: the next iteration, with the same policy, goes on from there, and
nothing is done twice but one product."""

EXACT = 1e-10
"""The share that counts as an exact solve, where policies came again and inexact ones may be to blame."""

STUCK = 3
"""Solves for the same policy in a row that did not halve what was left."""

MOST_POLICIES = 40
"""On a coarser grid; each costs little there, and a start that is not settled costs more policies on the finest."""

SHARE = 16
"""What a coarser grid may cost, in iterations of conjugate gradients on the finest one. Nobody can interrupt a start,
so it must be quick beside a policy or two, even where equations are hard to solve."""


FAR = 1e-12
"""Bias and bounds that are a smaller share of x than this: x has run off, as it may where there is no solution."""


@dataclass(frozen=True)
class PolicyIteration(Method[PolicyState]):
    """Each row chooses one of its equations, y_i = 0 or x_i = bound; solve them; let each row choose again, and so on.

    The problem is max(min(y, x - lower), x - upper) = 0, row by row. A policy says of each row which of the three
    stands there. At x a row chooses by comparing y_i / A_ii with x_i - lower_i and x_i - upper_i, and the linear
    equations of this policy,

        x_T = bound,      A_FF x_F = -(b_F + A_FT x_T),

    give the next x. An iteration is one policy. It is Newton's method on the minimum map (NOTES 5.4) without a line
    search and the primal-dual active set method (Hintermüller, Ito & Kunisch 2003).

    **Why that is safe for an M-matrix** with lower bounds. Let B x + c be the rows that a policy chose at x_k, so that
    B x_k + c = min(A x_k + b, x_k - lower) is at most what the last policy made zero there. So B (x_{k+1} - x_k) >= 0,
    and as B, too, has a non-negative inverse, x_{k+1} >= x_k: from the first policy on x only rises (Bokanowski,
    Maroso & Zidani 2009). It lies within its bounds from the second on, then F only grows, and after at most n policies
    nothing changes any more: that x is the solution.

    F grows by about one layer of cells a policy where it begins too small, so from a cold start the number of policies
    grows with the grid. With `initial="nested"` and A a stencil, the same problem on a grid of half the cells along
    each axis gives the start, and so on down to a few cells (`perp.linalg.grid_nesting`); then a handful of policies is
    enough on any grid. x0 is taken instead where it has the lower objective. For any other A there are no coarser
    grids, and x0 is where it begins; `initial="given"` asks for that.

    Equations are solved by conjugate gradients from the last x until `forcing` of the residual is left, less when
    policies settle (Eisenstat & Walker 1996), in at most `inner_limit` iterations (None: twice the rows, at most 2000).
    The `preconditioner` "auto" is multigrid on a stencil, modified incomplete Cholesky for a sparse M-matrix,
    incomplete Cholesky for other sparse A, and the diagonal where A can only be applied, or is dense.

    For other matrices policies may go round in circles. When one comes again and the residual was not halved since,
    solves become exact; when one comes again all the same, only the first row that wants to change does so, until
    fewer want to than ever before, which is finite for P-matrices (Murty 1974; Júdice & Pires 1994).
    """

    name: ClassVar[str] = "policy_iteration"
    family: ClassVar[str] = "newton"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL})
    requires: ClassVar[str] = "symmetric positive (semi-)definite A; made for M-matrices, such as pressure equations"
    reference: ClassVar[str] = "Lai, Chen, Gu, Batty & Wan 2020; Hintermüller, Ito & Kunisch 2003"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = COUNTED

    preconditioner: str | Recipe = option(
        AUTO,
        About(
            "that of the conjugate gradients; auto is multigrid on a stencil, and suits the form of A elsewhere",
            (AUTO, *PRECONDITIONERS),
        ),
    )
    initial: str = option("nested", START)
    forcing: float = option(
        0.1, About("share of the residual that a solve leaves; less when policies settle", above=0.0, below=1.0)
    )
    inner_limit: int | None = option(
        None, About("most iterations of a solve; None: twice the rows, at most 2000", at_least=1)
    )

    def __post_init__(self) -> None:
        require_choices(self, initial=INITIAL)
        require_number(self.forcing, "forcing", positive=True)
        if self.forcing >= 1.0:
            raise ValueError(f"forcing is {self.forcing}; it must be below 1")
        if self.inner_limit is not None:
            require_count(self.inner_limit, "inner_limit", least=1)
        if self.preconditioner != AUTO:
            object.__setattr__(self, "needs", self.needs | make_recipe(self.preconditioner).needs)

    def objection(self, problem: Problem) -> str | None:
        return asymmetry_objection(problem) or self.recipe(problem).objection(problem)

    def recipe(self, problem: Problem) -> Recipe:
        """The preconditioner, or the one that "auto" means for this problem."""
        return make_recipe(self.preconditioner) if self.preconditioner != AUTO else _choose_recipe(problem)

    def start(self, problem: Problem, x: Vector) -> PolicyState:
        n = problem.n
        lower, upper = problem.bounds(x)
        state = PolicyState(
            x,
            point=np.empty(n),
            y=np.empty(n),
            sets=np.empty(n, dtype=np.int8),
            wanted=np.empty(n, dtype=np.int8),
            free=np.zeros(n, dtype=np.bool_),
            weight=diagonal_weights(problem),
            lower=lower,
            upper=upper,
            equation=FreeEquation(problem, self.recipe(problem), self.inner_limit),
            is_new=self.initial == "nested" and problem.A.stencil is not None,
            repeatable=False,
            counters=dict.fromkeys(COUNTED, 0.0),
        )
        state.begin_at(problem, x)
        return state

    def step(self, problem: Problem, state: PolicyState, count: int) -> None:
        if count == 0:
            state.load_kernels(problem)
        done = 0
        while done < count and state.ended is None:
            if state.is_new:
                begin_nested(problem, state, self)
            self._iterate(problem, state)
            done += 1
        state.unused = count - done
        state.counters.update(state.equation.counters)

    def _iterate(self, problem: Problem, state: PolicyState) -> None:
        is_same = state.choose(problem)
        if state.ended is not None:
            return
        equation = state.equation
        residual = state.settle(problem, is_same)
        if residual == 0.0:
            np.clip(state.point, state.lower, state.upper, out=state.x)
            return
        if is_same and self._is_stuck(state, residual):
            return
        found = equation.solve(self._share(state, residual) * residual)
        if found.ending in (Ending.NEGATIVE_CURVATURE, Ending.INDEFINITE_PRECONDITIONER, Ending.NON_FINITE):
            state.ended = Status.BREAKDOWN, f"the free rows could not be solved for: {equation.complaint}"
            return
        if not state.advance(problem, found):
            state.ended = Status.BREAKDOWN, "the solution for the free rows is not finite"

    def _share(self, state: PolicyState, residual: float) -> float:
        """How much of the residual the solve may leave: 0.9 (residual / last residual)^2, within limits."""
        last, state.residual = state.residual, residual
        if state.is_exact:
            return EXACT
        return min(max(0.9 * (residual / last) ** 2, LEAST_SHARE), self.forcing) if last > 0.0 else self.forcing

    def _is_stuck(self, state: PolicyState, residual: float) -> bool:
        """Whether solves for this policy no longer help: a contradiction, rounding errors, or a poor inner solver."""
        state.stuck = state.stuck + 1 if residual > 0.5 * state.residual else 0
        if state.stuck == 0:
            return False
        state.certificate = state.equation.find_contradiction() if state.stuck == 1 else None
        if state.certificate is not None:
            state.ended = Status.BREAKDOWN, "free rows depend on one another and contradict each other"
        elif state.stuck >= STUCK:
            state.ended = Status.REDUCED_ACCURACY, "the policy is settled"
            if state.equation.complaint:
                reason = state.equation.complaint
                state.ended = Status.BREAKDOWN, f"the free rows could not be solved for: {reason}"
        return state.ended is not None


def _choose_recipe(problem: Problem) -> Recipe:
    """What "auto" means."""
    A = problem.A
    is_sparse = TO_SPARSE in A.ability_set and A.nonzeros() is not None and not A.is_dense
    is_grid = A.stencil is not None
    for name in (*("multigrid",) * is_grid, *("mic0", "ic0") * (is_grid or is_sparse)):
        recipe = make_recipe(name)
        if recipe.objection(problem) is None:
            return recipe
    return make_recipe("jacobi")


def begin_nested(problem: Problem, state: PolicyState, method: PolicyIteration) -> None:
    """Move the point to what coarser grids say, unless the x that was given is better."""
    state.is_new = False

    def answer(coarse: Problem, x: Vector) -> Vector:
        """Policies until one stays, or enough was done."""
        most = SHARE * problem.n // coarse.n
        inner = replace(method, initial="given", inner_limit=min(method.inner_limit or most, most))
        at = inner.start(coarse, x)
        for _ in range(MOST_POLICIES):
            inner.step(coarse, at, 1)
            if at.ended is not None or at.is_settled or at.counters["inner_iterations"] >= most:
                break
        state.counters["coarse_inner_iterations"] += at.counters["inner_iterations"]
        return at.x

    found = nested_start(problem, state.x, answer)
    if found is not state.x and not _runs_off(found, state):
        state.begin_at(problem, found)


def _runs_off(x: Vector, state: PolicyState) -> bool:
    """Whether x is beyond all that the problem is made of: there its slack would be made of rounding errors."""
    largest = FAR * float(np.abs(x).max(initial=0.0))
    if largest <= state.bias:
        return False
    return all(largest > np.abs(bound[np.isfinite(bound)]).max(initial=0.0) for bound in (state.lower, state.upper))
