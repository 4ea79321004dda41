"""A world run for many steps with one method: measured, recorded, and summed up."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from perp.errors import StateNotFinite
from perp.lab.machine import machine_facts
from perp.lab.simulation_dump import ProblemFolder
from perp.lab.simulation_kinds import kind_of
from perp.lab.simulation_summary import Ending, Summary, summarise
from perp.problems.inputs import require_count, require_number
from perp.recording.description import Description
from perp.recording.frame import Frame
from perp.recording.frame_writer import FrameWriter
from perp.recording.liquid_frame import LiquidFrame
from perp.recording.liquid_writer import LiquidRecorder
from perp.recording.writer import Recorder
from perp.solvers.api import solve
from perp.solvers.islands import solve_islands
from perp.solvers.method import Method
from perp.solvers.result import Result
from perp.solvers.roster import make_method
from perp.solvers.stopping import Stopping
from perp.worlds.report import StepReport
from perp.worlds.world import Solve, World

OnStep = Callable[[StepReport, Mapping[str, float]], object]


def simulate(
    world: World,
    solver: str | Method | Solve,
    steps: int,
    dt: float,
    *,
    tol: float | None = None,
    max_iterations: int | None = None,
    islands: bool = False,
    workers: int = 1,
    record: FrameWriter | None = None,
    dump: ProblemFolder | None = None,
    on_step: OnStep | None = None,
) -> Summary:
    """Take `steps` steps of `dt` [s], and sum up how they went.

    Parameters
    ----------
    solver
        A method, by name or as an object, or any `solve(problem, x0)`.
    tol, max_iterations
        Of each solve, as in `perp.solve`; only for a method.
    islands, workers
        Solve unconnected heaps apart (`perp.solve_islands`), with so many threads; only for a method.
    record
        Every frame goes there, the one before the first step included, each with its statistics (`kind_of(world)`).
    dump
        Every step's problem goes there, with what the solver found.
    on_step
        Called after each step with its report and statistics. Raise StopIteration in it to stop.

    A state that would become infinite and Ctrl-C are endings of the run, not errors: `summary.ended` tells them, and
    what was recorded before stays.
    """
    require_count(steps, "steps")
    require_number(dt, "dt", positive=True)
    chosen = solver if callable(solver) else make_solve(solver, tol, max_iterations, islands, workers)
    with np.errstate(all="ignore"):
        energy_start = world.energy()
    rows: list[dict[str, float]] = []
    last: StepReport | None = None
    ended, message, failed_step = Ending.DONE, Ending.DONE.value, None
    try:
        if record is not None:
            record.write(_with(world, None, {"energy": energy_start}))
        for _ in range(steps):
            report = world.step(dt, chosen)
            measured = measure_step(world, report)
            rows.append(measured)
            last = report
            if record is not None:
                record.write(_with(world, report, measured))
            if dump is not None:
                dump.write(report)
            if on_step is not None:
                on_step(report, measured)
    except StateNotFinite as error:
        ended, message, failed_step = Ending.NOT_FINITE, str(error), error.step
    except StopIteration:
        ended, message = Ending.STOPPED, Ending.STOPPED.value
    except KeyboardInterrupt:  # SolveInterrupted is one, too: the world is as it was before the step
        ended, message = Ending.INTERRUPTED, f"{Ending.INTERRUPTED.value} after step {world.steps}"
    finally:
        if record is not None:
            record.flush()
    facts = {
        "ended": ended,
        "message": message,
        "steps_wanted": steps,
        "failed_step": failed_step,
        "method": name_solver(solver),
        "dt": float(dt),
    }
    kind = kind_of(world)
    columns = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in kind.statistics}
    return summarise(kind.summary, columns, energy_start, facts, world.fingerprint(), world.frame(last))


def make_solve(
    method: str | Method, tol: float | None, max_iterations: int | None, islands: bool = False, workers: int = 1
) -> Solve:
    """`solve(problem, x0)` by this method; ValueError or TypeError where that makes no sense."""
    stop = Stopping().with_changes(tol=tol, max_iterations=max_iterations)
    chosen = method if method == "auto" else make_method(method, {})
    run: Callable[..., Result] = partial(solve_islands, workers=workers) if islands else solve
    return lambda problem, x0: run(problem, chosen, x0=x0, stop=stop)


def name_solver(solver: str | Method | Solve) -> str:
    if isinstance(solver, str):
        return solver
    return solver.label if isinstance(solver, Method) else getattr(solver, "__name__", type(solver).__name__)


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


def open_recorder(
    path: str | os.PathLike[str],
    world: World,
    dt: float,
    *,
    scene: str = "",
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    method: str = "",
) -> FrameWriter:
    """A recorder for the frames that `simulate` makes of this world."""
    facts = machine_facts()
    versions = {name: facts[name] for name in ("perp", "Python", "NumPy", "SciPy", "Numba")}
    about = Description(dt, scene, dict(options or {}), seed, method, versions)
    statistics, grid = tuple(kind_of(world).statistics), world.grid()
    if grid is not None:
        return LiquidRecorder(path, grid, about=about, statistics=statistics)
    frame = world.frame()
    bodies = len(frame.position)
    return Recorder(path, world.shapes(), bodies=bodies, dimension=frame.dimension, about=about, statistics=statistics)


def _with(world: World, report: StepReport | None, statistics: Mapping[str, float]) -> Frame | LiquidFrame:
    return replace(world.frame(report), statistics=statistics)
