"""`perp simulate`: run a scene with a method, and show how it went. `perp view` starts its scenes in the same way."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perp import scenes, simulation
from perp.cli import progress
from perp.cli.errors import INTERRUPTED, NOT_CONVERGED, CommandError, refusing
from perp.cli.options import (
    ComplianceUnits,
    ContactCompliance,
    FrictionLaw,
    IterationLimit,
    MethodName,
    MethodOptions,
    SceneSizes,
    Seed,
    StepLength,
    Tolerance,
    merge_options,
    read_compliance,
    split_assignments,
)
from perp.cli.solve import LAWS, choose
from perp.errors import FileFormatError, InvalidProblem, MethodRefused, MissingAbility, MissingExtra, suggest
from perp.extras import h5py, matplotlib
from perp.lab import results, scene_picture
from perp.problems import inputs
from perp.simulation import result as run_results
from perp.simulation import run as run_loop
from perp.simulation import settings

if TYPE_CHECKING:
    from perp.recording.writer import FrameWriter
    from perp.scenes import Scene
    from perp.simulation import ProblemFolder, SimulationResult
    from perp.simulation.run import OnStep
    from perp.simulation.settings import RunSettings
    from perp.solvers.method import Method

RECORDINGS, PICTURES, DUMPS = (".hdf5", ".h5"), (".png", ".svg", ".pdf"), ("npz", "fclib")

REFUSALS = (MethodRefused, InvalidProblem, MissingAbility, MissingExtra, FileFormatError, OSError, MemoryError)
"""What may turn out at the first step, or when the disk is full."""


def simulate(
    ctx: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene; 'perp scenes' lists them.")],
    method: MethodName = None,
    steps: Annotated[int, typer.Option(help="How many steps to take.")] = 300,
    dt: StepLength = None,
    size: SceneSizes = None,
    seed: Seed = None,
    model: FrictionLaw = None,
    contact_compliance: ContactCompliance = None,
    compliance_units: ComplianceUnits = None,
    method_option: MethodOptions = None,
    tol: Tolerance = None,
    max_iterations: IterationLimit = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Start each solve at zero, not where the last one ended.")
    ] = False,
    islands: Annotated[bool, typer.Option("--islands", help="Solve unconnected heaps of bodies apart.")] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record every frame and what was measured, as .hdf5.")
    ] = None,
    dump_problems: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every step's problem, with its answer, to this folder.")
    ] = None,
    dump_format: Annotated[str, typer.Option(help="Of these problems: npz, or fclib (cone, no joints).")] = "npz",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the final state, with forces or speeds, as .png.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
) -> None:
    """Run a scene, and print residuals, iterations, times, the change of energy, and how bodies or liquids fared.

    Options of the scene are options here, too: perp simulate dam_break --dim 3 --cells 48. SCENE --help lists them.

    The first run on a machine compiles what it needs, which takes a minute or two, once.

    Ctrl-C ends the run. What was recorded until then can be read, as it can if the state becomes infinite.

    Exit codes: 0 every step was taken, 1 the state became infinite, 2 bad usage or a bad file, 130 interrupted.
    """
    compliance = read_compliance(contact_compliance, compliance_units)
    made = build_scene(scene, size or [], seed, model, cold, ctx, compliance)
    with naming("--method-option"):
        words = split_assignments(method_option or [])
        solver = choose(made.kind.method if method is None else method, words)
    run = Run(made, solver, words, steps, dt, tol, max_iterations, islands)
    settings = run.check()
    targets = Targets(record, dump_problems, dump_format, plot)
    targets.check(run)
    with refusing(*REFUSALS), ExitStack() as stack, advising("add" if method is None else "choose another"):
        folder = targets.open_folder(run, stack)
        recorder = targets.open_recorder(run, settings, stack)
        on_step = stack.enter_context(progress.following_steps(steps, quiet=quiet or json))
        result = run.go(recorder, folder, on_step)
    targets.draw(run, result)
    show(run, result, targets, None if recorder is None else recorder.frames, json)
    if result.ended.name == "NOT_FINITE":
        typer.echo(f"perp: {result.message}", err=True)
        raise typer.Exit(NOT_CONVERGED)
    if result.ended.name == "INTERRUPTED":
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True)
class Run:
    """A scene with all that the line says of the run; None: the scene's own, or the default."""

    scene: Scene
    solver: Method | str
    method_options: Mapping[str, str]
    steps: int
    dt: float | None
    tol: float | None
    max_iterations: int | None
    islands: bool = False

    def check(self) -> RunSettings:
        """Refuse what makes no sense, before anything is written."""
        if self.islands and self.scene.world.grid() is not None:
            raise CommandError(f"--islands: {self.scene.name} is a liquid, which has no heaps of bodies to solve apart")
        with refusing(ValueError, TypeError):
            inputs.require_count(self.steps, "steps")
            return settings.read_settings(self.scene, **self._arguments())

    def go(self, record: FrameWriter | None, dump: ProblemFolder | None, callback: OnStep | None) -> SimulationResult:
        return simulation.simulate(
            self.scene, self.steps, **self._arguments(), record=record, dump=dump, callback=callback
        )

    def _arguments(self) -> dict[str, Any]:
        return {
            "dt": self.dt,
            "method": self.solver,
            "tol": self.tol,
            "max_iterations": self.max_iterations,
            "islands": self.islands,
        }


def build_scene(
    name: str,
    words: list[str],
    seed: int | None,
    model: str | None,
    cold: bool,
    ctx: typer.Context,
    compliance: tuple[float, str] | None = None,
) -> Scene:
    """The scene with these options, this friction law and compliance, with or without a memory of the last step.

    `ctx` knows those options that stood in the line under their own names (`options.SceneCommand`).
    """
    known = scenes.kinds()
    if name not in known:
        raise CommandError(f"scene {name!r} is unknown{suggest(name, known)}")
    if model is not None and model not in LAWS:
        raise CommandError(f"--model {model!r} is unknown{suggest(model, LAWS)}")
    with naming("--size"):
        pairs = merge_options(known[name], words, ctx)
    parsers = known[name].options
    if model is not None and pairs.get("model", model) != model:
        raise CommandError(
            f"--size model={pairs['model']} and --model {model} contradict one another: give one of them"
        )
    with refusing(ValueError, TypeError, MissingExtra, MemoryError):
        options: dict[str, Any] = {
            key: parsers[key].parse(text) if key in parsers else text for key, text in pairs.items()
        }
        if model is not None and "model" in parsers:
            options["model"] = model
        made = scenes.make(name, seed=0 if seed is None else seed, **options)
    if seed is not None and not known[name].seeded:
        typer.echo(f"perp: note: {name} has no random numbers; --seed changes nothing", err=True)
    world: Any = made.world
    if model is not None:
        if not hasattr(world, "model"):
            raise CommandError(f"--model {model}: {name} has no contacts, and so no law of friction")
        world.model = model
    if compliance is not None:
        if not hasattr(world, "contact_compliance"):
            raise CommandError(f"--contact-compliance {compliance[0]:g}: {name} has no contacts that could give way")
        world.contact_compliance, world.compliance_units = compliance
    if cold:
        world.warm_start = False
    return made


@dataclass(frozen=True)
class Targets:
    """Where a run writes to."""

    record: Path | None
    dump: Path | None
    dump_format: str
    plot: Path | None

    def check(self, run: Run) -> None:
        """Find out before the work, not after it, that something has no place to go or no package to make it."""
        if self.record is not None:
            with refusing(MissingExtra):
                h5py.require()
            require_target("--record", self.record, RECORDINGS)
        if self.plot is not None:
            with refusing(MissingExtra):
                matplotlib.require()
            require_target("--plot", self.plot, PICTURES)
        if self.dump is not None and self.dump.exists() and not self.dump.is_dir():
            raise CommandError(f"--dump-problems {self.dump}: that is a file; the name of a folder is needed")
        if self.dump_format not in DUMPS:
            raise CommandError(f"--dump-format {self.dump_format!r} is unknown{suggest(self.dump_format, DUMPS)}")
        if self.dump_format == "fclib" and run.scene.world.grid() is not None:
            raise CommandError(f"--dump-format fclib: FCLIB holds contacts, and {run.scene.name} is a liquid; use npz")

    def open_folder(self, run: Run, stack: ExitStack) -> simulation.ProblemFolder | None:
        if self.dump is None:
            return None
        return stack.enter_context(simulation.ProblemFolder(self.dump, run.scene.world, self.dump_format))

    def open_recorder(self, run: Run, settings: RunSettings, stack: ExitStack) -> FrameWriter | None:
        if self.record is None:
            return None
        return stack.enter_context(run_loop.record_run(self.record, settings, run.method_options))

    def draw(self, run: Run, result: SimulationResult) -> None:
        if self.plot is not None:
            settings, world = result.settings, result.world
            title = f"{run.scene.name}, {settings.method_name}, t = {result.frame.time:.4g} s"
            with refusing(OSError):
                scene_picture.draw_frame(
                    result.frame, world.grid() or world.shapes(), self.plot, dt=settings.dt, title=title
                )

    def written(self) -> dict[str, str | None]:
        return {
            "record": None if self.record is None else str(self.record),
            "dump_problems": None if self.dump is None else str(self.dump),
            "plot": None if self.plot is None else str(self.plot),
        }


def show(run: Run, result: SimulationResult, targets: Targets, frames: int | None, as_json: bool) -> None:
    """`frames` were recorded."""
    if as_json:
        typer.echo(results.to_json(describe_run(run, result) | targets.written()))
        return

    typer.echo(run_results.result_text(result, run.method_options))
    for name, path in targets.written().items():
        if path is not None:
            typer.echo(f"wrote {path}{f' ({frames} frames)' if name == 'record' else ''}")


def describe_run(run: Run, result: SimulationResult) -> dict[str, Any]:
    made = run.scene
    head = {
        "scene": made.name,
        "options": dict(made.options),
        "seed": made.seed,
        "run": result.settings.tell(run.method_options),
        "success": result.success,
    }
    bodies = {} if made.world.grid() is not None else {"bodies": len(result.frame.position)}
    return head | bodies | result.summary().as_row()


def require_target(flag: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        raise CommandError(f"{flag} {path}: the name must end in {' or '.join(suffixes)}")
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{flag} {path}: there is no such folder, or it is not a place for a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{flag} {path}: it cannot be written")


@contextmanager
def naming(flag: str) -> Iterator[None]:
    """Complaints about `--option` in the name that it has here."""
    try:
        yield
    except CommandError as error:
        raise CommandError(str(error).replace("--option", flag, 1)) from error


@contextmanager
def advising(word: str) -> Iterator[None]:
    """A method that refuses the problem of a step says which ones would not; this says how to ask for one of them."""
    try:
        yield
    except MethodRefused as error:
        raise MethodRefused(f"{error}: {word} --method NAME") from error
