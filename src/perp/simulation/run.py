"""`perp.simulate`: a world taken through many steps with one method."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from perp.errors import StateNotFinite
from perp.problems.inputs import require_count
from perp.recording.frame import Frame, LiquidFrame
from perp.recording.frame_writer import FrameWriter
from perp.scenes.catalogue import Scene
from perp.simulation.kinds import kind_of
from perp.simulation.problem_folder import ProblemFolder
from perp.simulation.recorder import record_run
from perp.simulation.result import SimulationResult
from perp.simulation.settings import AnyMethod, RunSettings, read_settings
from perp.simulation.step import take_step
from perp.simulation.summary import Ending
from perp.solvers.results import Status
from perp.worlds.report import StepReport
from perp.worlds.world import World

OnStep = Callable[[StepReport, Mapping[str, float]], object]


def simulate(
    world: World | Scene | str,
    steps: int,
    *,
    dt: float | None = None,
    method: AnyMethod | None = None,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    islands: bool = False,
    workers: int = 1,
    warm_start: bool | None = None,
    record: FrameWriter | str | os.PathLike[str] | None = None,
    dump: ProblemFolder | str | os.PathLike[str] | None = None,
    callback: OnStep | None = None,
) -> SimulationResult:
    """Take a world through so many steps, from the state that it is in, and measure each.

    Parameters
    ----------
    world
        A world; a scene, as `perp.scenes.make` makes it; or the name of a scene, which is made as it is by default.
        The world itself is moved.
    dt
        The length of a step [s]; a scene has its own.
    method
        A name, a method object such as `perp.PSOR(relaxation=1.2)`, or any `solve(problem, x0)` whose answer has an x.
        Default: the scene's own, for a world "auto".
    tol, max_iterations, max_seconds
        Of each solve, as in `perp.solve`. A scene whose own method is at work has its own limit of iterations, too.
    islands, workers
        Solve unconnected heaps apart (`perp.solve_islands`), with so many threads.
    warm_start
        Whether a solve starts from the impulses (or pressures) of the step before; default: what the world says.
    record
        A file for every frame, the one before the first step included, with what was measured
        (`perp.recording.Recording` reads it); or a recorder of one's own, which is left open.
    dump
        A folder for the problem of every step, with what the solver found; or a `perp.simulation.ProblemFolder`.
    callback
        Called after each step with its `StepReport` and its statistics by name. Raise StopIteration in it to stop.

    Returns
    -------
    SimulationResult
        A state that would become infinite and Ctrl-C are endings of the run, not errors: `result.ended` tells them, and
        what was recorded before stays. A solve without success ends nothing: `result.statuses` has its status.
        Arguments that make no sense raise ValueError or TypeError before the first step.
    """
    require_count(steps, "steps")
    settings = read_settings(
        world,
        dt=dt,
        method=method,
        tol=tol,
        max_iterations=max_iterations,
        max_seconds=max_seconds,
        islands=islands,
        workers=workers,
        warm_start=warm_start,
    )
    with ExitStack() as stack:
        stack.enter_context(settings.starting())
        if isinstance(dump, str | os.PathLike):
            dump = stack.enter_context(ProblemFolder(dump, settings.world))
        if isinstance(record, str | os.PathLike):
            record = stack.enter_context(record_run(record, settings))
        return _run(settings, steps, record, dump, callback)


def _run(
    settings: RunSettings,
    steps: int,
    record: FrameWriter | None,
    dump: ProblemFolder | None,
    callback: OnStep | None,
) -> SimulationResult:
    world, dt, solve = settings.world, settings.dt, settings.make_solve()
    kind = kind_of(world)
    with np.errstate(all="ignore"):
        energy_start = world.energy()
    rows: list[tuple[dict[str, float], Status | None]] = []
    last: StepReport | None = None
    ended, message, failed_step = Ending.DONE, Ending.DONE.value, None
    try:
        if record is not None:
            unknown = dict.fromkeys(kind.statistics, np.nan) if world.steps else {}  # of a step that was taken before
            record.write(_with(world, None, unknown | {"energy": energy_start}))
        for _ in range(steps):
            last, measured = take_step(world, dt, solve)
            rows.append((measured, _status(last)))
            if record is not None:
                record.write(_with(world, last, measured))
            if dump is not None:
                dump.write(last)
            if callback is not None:
                callback(last, measured)
    except StateNotFinite as error:
        ended, message, failed_step = Ending.NOT_FINITE, str(error), error.step
    except StopIteration:
        ended, message = Ending.STOPPED, Ending.STOPPED.value
    except KeyboardInterrupt:  # SolveInterrupted is one, too: the world is as it was before the step
        ended, message = Ending.INTERRUPTED, f"{Ending.INTERRUPTED.value} after step {world.steps}"
    finally:
        if record is not None:
            record.flush()
    return SimulationResult(
        settings=settings,
        ended=ended,
        message=message,
        steps_wanted=steps,
        failed_step=failed_step,
        energy_start=energy_start,
        statistics={name: np.array([row[name] for row, _ in rows], dtype=np.float64) for name in kind.statistics},
        statuses=tuple(status for _, status in rows),
        report=last,
        frame=world.frame(last),
        fingerprint=world.fingerprint(),
    )


def _status(report: StepReport) -> Status | None:
    status = getattr(report.solution, "status", None)
    return status if isinstance(status, Status) else None


def _with(world: World, report: StepReport | None, statistics: Mapping[str, float]) -> Frame | LiquidFrame:
    return replace(world.frame(report), statistics=statistics)
