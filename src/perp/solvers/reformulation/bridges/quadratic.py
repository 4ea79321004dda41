"""Bridges to solvers of quadratic programs.

* DAQP: a dual active-set method on full matrices, for small programs (Arnström, Bemporad & Axehill 2022).
* HiGHS: an active-set method for convex programs (Huangfu, Hall and others; MIT licence).
* OSQP: an operator splitting (ADMM) with one factorisation (Stellato, Banjac, Goulart, Bemporad & Boyd 2020).
* PIQP: a proximal interior-point method, on full and on sparse matrices (Schwan, Jiang, Kuhn & Jones 2023).
* ProxQP: a proximal augmented Lagrangian method (Bambade, El-Kazdadi, Taylor & Carpentier 2022).
"""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from perp.solvers.reformulation.bridges.bridge import FAR, Answer, Bridge, Ending, Run
from perp.solvers.reformulation.statement import Multipliers, Statement

INFINITE = 1e30
"""What it takes for infinite."""

EQUATION = 5
"""Its mark for a row that is an equation."""

DAQP_ITERATIONS = 10_000
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

LEAST_FEASIBILITY = 1e-10
"""The least tolerance that HiGHS takes."""

REGULARISATION = 1e3
"""It adds a number to the diagonal of P, which bounds its accuracy: so many times the tolerance, 1e-7 (its default) for
1e-10. With less it often takes a semidefinite P for an indefinite one, and without any a first vertex for optimal.
"""

OSQP_ITERATIONS, MOST_IN_TIME = 100_000, 10_000_000
"""Without a limit of time, and with one."""

PIQP_ITERATIONS = 100
"""It takes 20 to 30; more only where it cannot get any better."""

PROXQP_ITERATIONS = 100
"""It has no limit of time, and can take minutes where it stalls."""


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
        options = {"primal_tol": tolerance, "dual_tol": tolerance, "iter_limit": DAQP_ITERATIONS + 20 * lower.size}
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
        options = {"eps_abs": tolerance, "eps_rel": 0.0, "max_iter": OSQP_ITERATIONS, "verbose": False}
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
            piqp.settings.max_iter = PIQP_ITERATIONS
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


@dataclass(frozen=True)
class ProxqpBridge(Bridge):
    name: ClassVar[str] = "proxqp"
    package: ClassVar[str] = "proxsuite"
    module: ClassVar[str] = "proxsuite"
    tightest: ClassVar[float] = 1e-13

    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        """On full matrices it takes bounds as they are; else they are rows of the identity among its inequalities."""
        qp, proxqp, dense = statement, solver.proxqp, statement.is_dense
        bounded = np.arange(qp.n) if dense else qp.bounded()
        low, high = np.maximum(qp.lower[bounded], -FAR), np.minimum(qp.upper[bounded], FAR)
        P, unlimited = qp.P, np.full(qp.h.size, -FAR)
        if dense:
            E, rows = qp.E.toarray(), qp.G.toarray()
            limits: tuple[Any, ...] = (rows, unlimited, qp.h, low, high)
            make = partial(proxqp.dense.QP, qp.n, qp.e.size, qp.h.size, box_constraints=True)
        else:
            E, rows = qp.E, sparse.csc_matrix(sparse.vstack([qp.G, sparse.eye_array(qp.n, format="csr")[bounded]]))
            limits = (rows, np.concatenate([unlimited, low]), np.concatenate([qp.h, high]))
            make = partial(proxqp.sparse.QP, qp.n, qp.e.size, qp.h.size + bounded.size)
        endings = {
            proxqp.PROXQP_SOLVED: Ending.SOLVED,
            proxqp.PROXQP_PRIMAL_INFEASIBLE: Ending.INFEASIBLE,
            proxqp.PROXQP_DUAL_INFEASIBLE: Ending.UNBOUNDED,
        }
        guess = None
        if qp.guess is not None and not dense:  # of bounds that are no rows it takes no multipliers
            told = qp.guess.multipliers
            guess = qp.guess.z, told.equations, np.concatenate([told.inequalities, told.bounds[bounded]])

        def run() -> Answer:
            program = make()
            program.settings.eps_abs, program.settings.eps_rel = tolerance, 0.0
            program.settings.eps_primal_inf = program.settings.eps_dual_inf = tolerance
            program.settings.max_iter = program.settings.max_iter_in = PROXQP_ITERATIONS
            program.init(P, qp.c, E, qp.e, *limits)
            if guess is None:
                program.solve()
            else:
                program.settings.initial_guess = proxqp.InitialGuess.WARM_START
                program.solve(*guess)
            result = program.results
            inequalities, own = np.split(np.array(result.z), [qp.h.size])
            bounds = np.zeros(qp.n)
            bounds[bounded] = own
            return Answer(
                endings.get(result.info.status, Ending.STOPPED),
                result.info.status.name.removeprefix("PROXQP_").lower().replace("_", " "),
                np.array(result.x),
                Multipliers(np.array(result.y), inequalities, bounds),
                int(result.info.iter),
            )

        return run
