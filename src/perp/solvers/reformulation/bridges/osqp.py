"""OSQP: an operator splitting (ADMM) with one factorisation (Stellato, Banjac, Goulart, Bemporad & Boyd 2020)."""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending, Run
from perp.solvers.reformulation.statement import Multipliers, Statement

MOST_ITERATIONS, MOST_IN_TIME = 100_000, 10_000_000
"""Without a limit of time, and with one."""


@dataclass(frozen=True)
class OsqpBridge(Bridge):
    name: ClassVar[str] = "osqp"
    package: ClassVar[str] = "osqp"
    module: ClassVar[str] = "osqp"
    tightest: ClassVar[float] = 1e-12

    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        """Its constraints are  low <= rows z <= high."""
        qp = statement
        bounded = qp.bounded()
        pick = sparse.eye_array(qp.n, format="csr")[bounded]
        rows = sparse.csc_matrix(sparse.vstack([qp.E, qp.G, pick]))
        low = np.concatenate([qp.e, np.full(qp.h.size, -np.inf), qp.lower[bounded]])
        high = np.concatenate([qp.e, qp.h, qp.upper[bounded]])
        P = sparse.csc_matrix(sparse.triu(qp.P))
        options = {"eps_abs": tolerance, "eps_rel": 0.0, "max_iter": MOST_ITERATIONS, "verbose": False}
        options |= {"eps_prim_inf": tolerance, "eps_dual_inf": tolerance}
        if np.isfinite(seconds):
            options |= {"max_iter": MOST_IN_TIME, "time_limit": seconds}
        statuses = solver.SolverStatus
        endings = {
            int(statuses.OSQP_SOLVED): Ending.SOLVED,
            int(statuses.OSQP_PRIMAL_INFEASIBLE): Ending.INFEASIBLE,
            int(statuses.OSQP_DUAL_INFEASIBLE): Ending.UNBOUNDED,
        }

        def run() -> Answer:
            program = solver.OSQP()
            with redirect_stdout(StringIO()):  # it says aloud that P is not convex, whatever `verbose` is
                try:
                    program.setup(P=P, q=qp.c, A=rows, l=low, u=high, **options)
                except solver.OSQPException as fault:
                    return Answer(Ending.STOPPED, f"no set-up: error {fault}")
                if qp.guess is not None:
                    told = qp.guess.multipliers
                    y = np.concatenate([told.equations, told.inequalities, told.bounds[bounded]])
                    program.warm_start(x=qp.guess.z, y=y)
                result = program.solve(raise_error=False)
            ending = endings.get(int(result.info.status_val), Ending.STOPPED)
            bounds = np.zeros(qp.n)
            equations, inequalities, bounds[bounded] = np.split(result.y, [qp.e.size, qp.e.size + qp.h.size])
            return Answer(
                ending,
                result.info.status,
                np.array(result.x),
                Multipliers(equations, inequalities, bounds),
                int(result.info.iter),
                np.array(result.dual_inf_cert) if ending is Ending.UNBOUNDED else None,
            )

        return run
