"""One step of a world, and what is measured of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perp.simulation.kinds import kind_of
from perp.worlds.report import StepReport
from perp.worlds.world import Solve, World


class TakenStep(NamedTuple):
    """What a step did."""

    report: StepReport
    statistics: dict[str, float]
    """As `kind_of(world)` names them; NaN for what cannot be told."""


def take_step(world: World, dt: float, solve: Solve) -> TakenStep:
    """Every run of a world is made of these."""
    report = world.step(dt, solve)
    return TakenStep(report, measure_step(world, report))


def measure_step(world: World, report: StepReport) -> dict[str, float]:
    """The statistics of a step, as `kind_of(world)` names them; NaN for what cannot be told."""
    found, seconds, solution = report.residuals, report.seconds, report.solution
    with np.errstate(all="ignore"):
        energy = world.energy()

    def energy_error(value: float | None) -> float:
        return value if value is not None else 0.0 if report.problem.n == 0 else np.nan

    measured = {
        "residual": found.residual,
        "energy_mean": energy_error(found.energy_mean),
        "energy_max": energy_error(found.energy_max),
        "iterations": float(report.iterations),
        "converged": float(getattr(solution, "success", False)),
        "warm": float(report.x0 is not None),
        "rows": float(report.problem.n),
        "energy": energy,
        "collide_seconds": seconds.collide,
        "assemble_seconds": seconds.assemble,
        "solve_seconds": seconds.solve,
        "move_seconds": seconds.move,
        "seconds": seconds.total,
        **report.measures(),
    }
    return {name: measured.get(name, np.nan) for name in kind_of(world).statistics}
