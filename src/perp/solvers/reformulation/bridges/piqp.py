"""PIQP: a proximal interior-point method, on full and on sparse matrices (Schwan, Jiang, Kuhn & Jones 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending, Run
from perp.solvers.reformulation.statement import Multipliers, Statement

MOST_ITERATIONS = 100
"""It takes 20 to 30; more only where it cannot get any better."""


@dataclass(frozen=True)
class PiqpBridge(Bridge):
    name: ClassVar[str] = "piqp"
    package: ClassVar[str] = "piqp"
    module: ClassVar[str] = "piqp"
    tightest: ClassVar[float] = 1e-16  # degenerate rows have x_i = y_i = root of the gap

    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        qp = statement
        dense = qp.is_dense
        P = np.asfortranarray(qp.P) if dense else qp.sparse_P()
        E, G = ((np.asfortranarray(rows.toarray()) if dense else rows) for rows in (qp.E, qp.G))
        endings = {
            solver.PIQP_SOLVED: Ending.SOLVED,
            solver.PIQP_PRIMAL_INFEASIBLE: Ending.INFEASIBLE,
            solver.PIQP_DUAL_INFEASIBLE: Ending.UNBOUNDED,
        }

        def run() -> Answer:
            piqp = solver.DenseSolver() if dense else solver.SparseSolver()
            piqp.settings.eps_abs, piqp.settings.eps_rel = tolerance, 0.0
            piqp.settings.eps_duality_gap_abs, piqp.settings.eps_duality_gap_rel = tolerance, 0.0
            piqp.settings.max_iter = MOST_ITERATIONS
            piqp.setup(P, qp.c, E, qp.e, G, None, qp.h, qp.lower, qp.upper)
            status = piqp.solve()
            result = piqp.result
            return Answer(
                endings.get(status, Ending.STOPPED),
                status.name.removeprefix("PIQP_").lower().replace("_", " "),
                np.array(result.x),
                Multipliers(np.array(result.y), np.array(result.z_u), np.array(result.z_bu) - np.array(result.z_bl)),
                int(result.info.iter),
            )

        return run
