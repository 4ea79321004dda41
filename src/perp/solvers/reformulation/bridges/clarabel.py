"""Clarabel: an interior-point method on the homogeneous embedding, so that it knows when there is no answer
(Goulart & Chen 2024). It takes quadratic programs (`ClarabelBridge`), and programs over second-order cones
(`solve_cone_program`)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from perp.problems.inputs import Vector
from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending, Run, words_of
from perp.solvers.reformulation.statement import ConeStatement, Multipliers, Statement


@dataclass(frozen=True)
class ClarabelBridge(Bridge):
    name: ClassVar[str] = "clarabel"
    package: ClassVar[str] = "clarabel"
    module: ClassVar[str] = "clarabel"
    tightest: ClassVar[float] = 1e-14

    def prepare(self, solver: Any, statement: Statement, tolerance: float, seconds: float) -> Run:
        """Its constraints are  rows z + s = right  with s = 0 for equations and s >= 0 for all others."""
        qp = statement
        below, above = np.flatnonzero(np.isfinite(qp.lower)), np.flatnonzero(np.isfinite(qp.upper))
        pick = sparse.eye_array(qp.n, format="csr")
        rows = sparse.csc_matrix(sparse.vstack([qp.E, qp.G, -pick[below], pick[above]]))
        right = np.concatenate([qp.e, qp.h, -qp.lower[below], qp.upper[above]])
        sizes = (qp.e.size, qp.h.size, below.size, above.size)
        cones = [solver.ZeroConeT(qp.e.size), solver.NonnegativeConeT(sum(sizes[1:]))]
        P = sparse.csc_matrix(sparse.triu(qp.P))
        settings = make_settings(solver, tolerance, seconds)

        def run() -> Answer:
            solution = solver.DefaultSolver(P, qp.c, rows, right, cones, settings).solve()
            ending = read_ending(solver, solution)
            z, parts = np.array(solution.x), np.split(np.array(solution.z), np.cumsum(sizes)[:-1])
            bounds = np.zeros(qp.n)
            bounds[below] -= parts[2]
            bounds[above] += parts[3]
            return Answer(
                ending,
                spell_out(solution),
                z,
                Multipliers(parts[0], parts[1], bounds),
                int(solution.iterations),
                z if ending is Ending.UNBOUNDED else None,  # then x is the direction
            )

        return run


def make_settings(solver: Any, tolerance: float, seconds: float) -> Any:
    """Quiet, on one thread, with one tolerance for all that Clarabel measures."""
    settings = solver.DefaultSettings()
    settings.verbose, settings.max_threads, settings.time_limit = False, 1, seconds
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance
    settings.tol_infeas_abs = settings.tol_infeas_rel = tolerance
    return settings


def read_ending(solver: Any, solution: Any) -> Ending:
    endings = {
        solver.SolverStatus.Solved: Ending.SOLVED,
        solver.SolverStatus.PrimalInfeasible: Ending.INFEASIBLE,
        solver.SolverStatus.DualInfeasible: Ending.UNBOUNDED,
    }
    return next((ours for theirs, ours in endings.items() if solution.status == theirs), Ending.STOPPED)


def spell_out(solution: Any) -> str:
    """`DualInfeasible` as `dual infeasible`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in str(solution.status)).strip()


BRIDGE = ClarabelBridge()


@dataclass(frozen=True)
class ConeAnswer:
    """What Clarabel says. None of it has been checked."""

    ending: Ending
    words: str
    z: Vector | None = None
    """Of an unbounded program a direction in which the objective falls for ever."""
    multipliers: Vector | None = None
    """Of an infeasible program a direction that proves it."""
    iterations: int = 0


CAREFUL = {
    "iterative_refinement_reltol": 1e-16,
    "iterative_refinement_abstol": 1e-16,
    "iterative_refinement_max_iter": 50,
    "tol_feas": 1e-9,
}
"""Linear systems refined to rounding level, and no end because residuals at rounding level grew: some programs end two
digits better, and each iteration takes a tenth longer."""


def solve_cone_program(
    statement: ConeStatement,
    tolerance: float,
    *,
    iterations: int = 200,
    careful: bool = False,
    seconds: float = inf,
) -> ConeAnswer:
    """Hand the program to Clarabel; where it raises, it has stopped, and its words are those of the exception.

    `careful` changes settings of its own that are otherwise left as they are.
    """
    solver = BRIDGE.load()
    settings = make_settings(solver, tolerance, seconds)
    settings.max_iter = iterations
    for name, value in CAREFUL.items() if careful else ():
        setattr(settings, name, value)
    cones = [solver.ZeroConeT(statement.equations), solver.NonnegativeConeT(statement.inequalities)]
    cones += [solver.SecondOrderConeT(statement.width)] * statement.cones
    try:
        program = solver.DefaultSolver(
            statement.P, statement.c, statement.rows, statement.right, [cone for cone in cones if cone.dim], settings
        )
        solution = program.solve()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as fault:  # noqa: BLE001 (a panic of Rust is no Exception; whatever it raises is its answer)
        return ConeAnswer(Ending.STOPPED, words_of(fault))
    return ConeAnswer(
        read_ending(solver, solution),
        spell_out(solution),
        np.array(solution.x),
        np.array(solution.z),
        int(solution.iterations),
    )
