"""`perp.simulate`: a world taken through many steps with one method, measured, and its frames and problems in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from perp.errors import FileFormatError, StateNotFinite, suggest
from perp.extras import h5py
from perp.problems.files import save
from perp.problems.inputs import require_count
from perp.recording.frame import Description, Frame, LiquidFrame, package_versions
from perp.recording.writer import FrameWriter, LiquidRecorder, Recorder
from perp.scenes.catalogue import Scene
from perp.simulation.result import SimulationResult
from perp.simulation.settings import AnyMethod, RunSettings, read_settings
from perp.simulation.summary import Ending, kind_of
from perp.solvers.results import Status
from perp.worlds.world import Solve, StepReport, World

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


# One step of a world, and what is measured of it.


class TakenStep(NamedTuple):
    """What a step did."""

    report: StepReport
    statistics: dict[str, float]
    """As `kind_of(world)` names them; NaN for what is not known."""


def take_step(world: World, dt: float, solve: Solve) -> TakenStep:
    """Every run of a world is made of these."""
    report = world.step(dt, solve)
    return TakenStep(report, measure_step(world, report))


def measure_step(world: World, report: StepReport) -> dict[str, float]:
    """The statistics of a step, as `kind_of(world)` names them; NaN for what is not known."""
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


# Where the frames of a run go, and the problems of its steps.


def record_run(
    path: str | os.PathLike[str], settings: RunSettings, method_options: Mapping[str, str] | None = None
) -> FrameWriter:
    """A recorder that also writes down what makes the run again; `method_options` as in `RunSettings.tell`.

    Of a scene that took steps before, and of a world, it does not know all of it.
    """
    scene, world, method = settings.scene, settings.world, settings.method_name
    run = {"run": settings.tell(method_options)}
    if scene is None or world.steps > 0:
        return open_recorder(path, world, settings.dt, options=run, method=method)
    options = dict(scene.options) | run
    return open_recorder(path, world, settings.dt, scene=scene.name, options=options, seed=scene.seed, method=method)


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
    about = Description(dt, scene, dict(options or {}), seed, method, package_versions())
    statistics, grid = tuple(kind_of(world).statistics), world.grid()
    if grid is not None:
        return LiquidRecorder(path, grid, about=about, statistics=statistics)
    frame = world.frame()
    bodies = len(frame.position)
    return Recorder(path, world.shapes(), bodies=bodies, dimension=frame.dimension, about=about, statistics=statistics)


SUFFIXES = {"npz": ".npz", "fclib": ".hdf5"}


class ProblemFolder:
    """`DIR/step_000001.npz` (or `.hdf5`, which is FCLIB), and so on. The folder is made if need be.

    Used in a `with` block, it is not left behind empty where the block ends by an error.

    FCLIB knows friction cones and contacts alone: worlds with another law are refused here, problems with joints,
    limits or motors at the first step that has one.
    """

    path: Path
    suffix: str

    def __init__(self, path: str | os.PathLike[str], world: World, form: str = "npz") -> None:
        if form not in SUFFIXES:
            raise ValueError(f"the format is {form!r}{suggest(form, SUFFIXES)}")
        self.path, self.suffix = Path(path), SUFFIXES[form]
        if form == "fclib":
            h5py.require()
            if world.grid() is not None:
                raise FileFormatError(f"{self.path}: FCLIB holds contacts, and a liquid has none; dump .npz")
            model = getattr(world, "model", "cone")
            if model != "cone":
                raise FileFormatError(
                    f"{self.path}: FCLIB means the friction cone, and this world has model={model!r}; "
                    f"choose the cone, or dump .npz"
                )
        older = sorted(self.path.glob("step_*"))
        if older:
            raise FileFormatError(f"{self.path}: problems of another run are here ({older[0].name}); name a new folder")
        self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.path.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> ProblemFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._remove_empty()

    def _remove_empty(self) -> None:
        """Folders that were made here and have nothing in them."""
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:  # it is not empty
                return

    def write(self, report: StepReport) -> None:
        save(report.problem, self.path / f"step_{report.step:06d}{self.suffix}", x=report.x)
