"""PGS-SM as its authors ran it: the reduced equation by one plain run of conjugate gradients, and what it all costs.

`pgs_sm` with `linear="cg"` refines its solutions and takes least squares where rows contradict each other, which may
take ten runs of conjugate gradients for one subspace step. PGS-SM section 5 makes one run, of at most as many
iterations as there are variables, and goes on with what that leaves; where costs are compared, it has to be that one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import FreeSystem
from perp.linalg.free_systems.krylov import KrylovSystem
from perp.linalg.krylov.cg import cg
from perp.linalg.krylov.cycles import Ending
from perp.problems.inputs import Vector, freeze, require_number
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.splitting.subspace import PGSSM, Mask, ReducedEquation, SubspaceState

MOST_ROUNDS = 40
"""Of `k_pgs` sweeps, where sweeps go on until the merit rests."""


@dataclass
class Ledger:
    """What a solve has cost so far, in units of one PGS iteration, and what it had reached then.

    A sweep passes all n rows once: one unit. An iteration of conjugate gradients passes the |A| active rows, so it is
    |A| / n of one. A subspace step costs one more, for the right-hand side of eq. 22 and the slack of eq. 23.
    """

    cost: float = 0.0
    cg_iterations: float = 0.0
    costs: list[float] = field(default_factory=list)
    merits: list[float] = field(default_factory=list)
    residuals: list[float] = field(default_factory=list)

    def note(self, residual: float, merit: float) -> None:
        self.costs.append(self.cost)
        self.merits.append(merit)
        self.residuals.append(residual)


class OneRun(ReducedEquation):
    """Eq. 22 by one run of conjugate gradients from where x is; what that leaves, stays."""

    def __init__(
        self, problem: Problem, system: FreeSystem, regularisation: Vector, tolerance: float, ledger: Ledger
    ) -> None:
        super().__init__(problem, system, regularisation)
        self._problem, self._regularisation = problem, regularisation
        self._tolerance, self._zero = tolerance, freeze(np.zeros(problem.n))
        self._watch, self._ledger = Watch(problem), ledger

    def merit(self, x: Vector) -> float:
        """Half the sum of squares of the Fischer function."""
        return self._watch.look(x)[1]

    def solve(self, x: Vector, free: Mask, weight: float = 0.0) -> Vector:
        residual, merit, *_ = self._watch.look(x)
        self._ledger.note(residual, merit)

        def product(d: Vector) -> Vector:
            """(A_FF + gamma) d, for a d that is zero outside F."""
            image = self._problem.A.slack(d, self._zero, np.empty(d.size)) + self._regularisation * d
            return np.where(free, image, 0.0)

        count = int(np.count_nonzero(free))
        right = np.where(free, -self.slack(x), 0.0)
        found = cg(product, right, tolerance=self._tolerance, max_iterations=count)
        assert isinstance(self.system, KrylovSystem)
        self.system.inner_iterations += found.iterations
        self.system.factorisations += 1
        self._ledger.cg_iterations += found.iterations
        self._ledger.cost += 1.0 + found.iterations * count / x.size
        if found.ending is Ending.NON_FINITE or not np.isfinite(found.x).all():
            raise NotFinite("conjugate gradients did not stay finite")
        return x + found.x


@dataclass(frozen=True)
class PrintedPGSSM(PGSSM):
    """PGS-SM 4.3 with the settings of section 5: no fallback, one run of conjugate gradients a subspace step.

    `until` makes sweeps go on, `k_pgs` at a time, until these change the merit by less than this share (5.1, eq. 27).
    """

    name: ClassVar[str] = "printed_pgs_sm"

    fallback: str = "none"
    linear: str = "cg"
    inner_tolerance: float = 1e-15
    until: float = 0.0
    ledger: Ledger = field(default_factory=Ledger, compare=False)
    """Of one solve."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.until, "until")

    def start(self, problem: Problem, x: Vector) -> SubspaceState:
        state = super().start(problem, x)
        equation, gamma = state.phase.equation, self._find_regularisation(problem)
        state.phase.equation = OneRun(problem, equation.system, gamma, self.inner_tolerance, self.ledger)
        return state

    def _sweep(self, state: SubspaceState) -> None:
        super()._sweep(state)
        self.ledger.cost += self.k_pgs
        if self.until > 0.0:
            self._sweep_on(state)

    def _sweep_on(self, state: SubspaceState) -> None:
        equation = state.phase.equation
        assert isinstance(equation, OneRun)
        before = equation.merit(state.point)
        for _ in range(MOST_ROUNDS - 1):
            super()._sweep(state)
            self.ledger.cost += self.k_pgs
            merit = equation.merit(state.point)
            if not abs(merit - before) >= self.until * before:
                return
            before = merit
