"""HiGHS: an active-set method for convex programs (Huangfu, Hall and others; MIT licence).

It says 'Optimal' also where it is not: on a boxed pile of contacts with redundant rows, at a residual above 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending, Run
from perp.solvers.reformulation.statement import Multipliers, Statement

LEAST_FEASIBILITY = 1e-10
"""The least tolerance that HiGHS takes."""

REGULARISATION = 1e3
"""It adds a number to the diagonal of P, which bounds its accuracy: so many times the tolerance, 1e-7 (its default) for
1e-10. With less it often takes a semidefinite P for an indefinite one, and without any a first vertex for optimal.
"""


@dataclass(frozen=True)
class HighsBridge(Bridge):
    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "highspy"
    module: ClassVar[str] = "highspy"
    tightest: ClassVar[float] = 1e-14

    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        qp = statement
        model = solver.HighsModel()
        lp = model.lp_
        lp.num_col_, lp.num_row_ = qp.n, qp.e.size + qp.h.size
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = qp.c, qp.lower, qp.upper
        lp.row_lower_ = np.concatenate([qp.e, np.full(qp.h.size, -np.inf)])
        lp.row_upper_ = np.concatenate([qp.e, qp.h])
        rows = sparse.csc_matrix(sparse.vstack([qp.E, qp.G]))
        lp.a_matrix_.format_ = solver.MatrixFormat.kColwise
        lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = lp.num_col_, lp.num_row_
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
        lower_triangle = sparse.csc_matrix(sparse.tril(qp.P))
        lower_triangle.sort_indices()
        model.hessian_.dim_, model.hessian_.format_ = qp.n, solver.HessianFormat.kTriangular
        model.hessian_.start_, model.hessian_.index_ = lower_triangle.indptr, lower_triangle.indices
        model.hessian_.value_ = lower_triangle.data
        settings: dict[str, Any] = {
            "primal_feasibility_tolerance": max(tolerance, LEAST_FEASIBILITY),
            "dual_feasibility_tolerance": max(tolerance, LEAST_FEASIBILITY),
            "qp_regularization_value": REGULARISATION * tolerance,
            "time_limit": float(seconds),
            "parallel": "off",
        }
        statuses = solver.HighsModelStatus
        endings = {
            statuses.kOptimal: Ending.SOLVED,
            statuses.kInfeasible: Ending.INFEASIBLE,
            statuses.kUnbounded: Ending.UNBOUNDED,
        }

        def run() -> Answer:
            highs = solver.Highs()
            highs.silent()
            for name, value in settings.items():
                highs.setOptionValue(name, value)
            if highs.passModel(model) == solver.HighsStatus.kError:
                return Answer(Ending.STOPPED, "model refused")
            highs.run()
            status, solution = highs.getModelStatus(), highs.getSolution()
            duals = -np.array(solution.row_dual)  # its signs are those of the gradient
            return Answer(
                endings.get(status, Ending.STOPPED),
                highs.modelStatusToString(status),
                np.array(solution.col_value),
                Multipliers(duals[: qp.e.size], duals[qp.e.size :], -np.array(solution.col_dual)),
                max(0, int(highs.getInfo().qp_iteration_count)),
            )

        return run
