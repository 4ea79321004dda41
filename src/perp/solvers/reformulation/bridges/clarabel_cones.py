"""Clarabel on programs over second-order cones."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from perp.problems.inputs import Vector
from perp.solvers.reformulation.bridges import LONGEST
from perp.solvers.reformulation.bridges.bridge import Ending
from perp.solvers.reformulation.bridges.clarabel import ClarabelBridge, make_settings, read_ending, spell_out
from perp.solvers.reformulation.cone_statement import ConeStatement

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
        return ConeAnswer(Ending.STOPPED, f"{type(fault).__name__}: {' '.join(str(fault).split())}"[:LONGEST])
    return ConeAnswer(
        read_ending(solver, solution),
        spell_out(solution),
        np.array(solution.x),
        np.array(solution.z),
        int(solution.iterations),
    )
