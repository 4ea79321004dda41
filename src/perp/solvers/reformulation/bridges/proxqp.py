"""ProxQP: a proximal augmented Lagrangian method (Bambade, El-Kazdadi, Taylor & Carpentier 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from perp.solvers.reformulation.bridges.bridge import FAR, Answer, Bridge, Ending, Run
from perp.solvers.reformulation.statement import Multipliers, Statement

MOST_ITERATIONS = 100
"""It has no limit of time, and can take minutes where it stalls."""


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
            program.settings.max_iter = program.settings.max_iter_in = MOST_ITERATIONS
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
