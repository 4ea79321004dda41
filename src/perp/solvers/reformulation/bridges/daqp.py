"""DAQP: a dual active-set method on full matrices, for small programs (Arnström, Bemporad & Axehill 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending, Run
from perp.solvers.reformulation.statement import Multipliers, Statement

INFINITE = 1e30
"""What it takes for infinite."""

EQUATION = 5
"""Its mark for a row that is an equation."""

MOST_ITERATIONS = 10_000
"""And twenty for each unknown and row."""

FLAGS = {
    1: "optimal",
    -1: "infeasible",
    -2: "cycling",
    -3: "unbounded",
    -4: "iteration limit",
    -5: "not convex",
    -6: "overdetermined",
    -7: "time limit",
}
"""Its exit flags; z is not set by -5."""


@dataclass(frozen=True)
class DaqpBridge(Bridge):
    name: ClassVar[str] = "daqp"
    package: ClassVar[str] = "daqp"
    module: ClassVar[str] = "daqp"
    tightest: ClassVar[float] = 1e-14
    dense_only: ClassVar[bool] = True

    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        """The first entries of its limits are bounds of z, the others belong to rows."""
        qp = statement
        P = np.array(qp.dense_P(), order="C")  # it takes no array that is read-only
        rows = np.vstack([qp.E.toarray(), qp.G.toarray()])
        lower = np.concatenate([qp.lower, qp.e, np.full(qp.h.size, -INFINITE)]).clip(-INFINITE, INFINITE)
        upper = np.concatenate([qp.upper, qp.e, qp.h]).clip(-INFINITE, INFINITE)
        sense = np.zeros(lower.size, dtype=np.int32)
        sense[qp.n : qp.n + qp.e.size] = EQUATION
        options = {"primal_tol": tolerance, "dual_tol": tolerance, "iter_limit": MOST_ITERATIONS + 20 * lower.size}
        endings = {1: Ending.SOLVED, -1: Ending.INFEASIBLE, -3: Ending.UNBOUNDED}

        def run() -> Answer:
            z, _, flag, info = solver.solve(P, np.array(qp.c), rows, upper, lower, sense.copy(), **options)
            words = FLAGS.get(int(flag), f"exit flag {flag}")
            if flag == -5:
                return Answer(Ending.STOPPED, words)
            bounds, equations, inequalities = np.split(np.array(info["lam"]), [qp.n, qp.n + qp.e.size])
            return Answer(
                endings.get(int(flag), Ending.STOPPED),
                words,
                np.array(z),
                Multipliers(equations, inequalities, bounds),
                int(info["iterations"]),
            )

        return run
