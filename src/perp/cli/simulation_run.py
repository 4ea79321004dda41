"""What `perp simulate` runs: a scene, a method, and the settings of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from perp.cli.errors import CommandError, refusing
from perp.cli.options import merge_options
from perp.cli.solve import LAWS
from perp.errors import MethodRefused, MissingExtra, suggest

if TYPE_CHECKING:
    from perp.recording.frame_writer import FrameWriter
    from perp.scenes import Scene
    from perp.simulation import ProblemFolder, SimulationResult
    from perp.simulation.run import OnStep
    from perp.simulation.settings import RunSettings
    from perp.solvers.method import Method


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
        from perp.problems.inputs import require_count
        from perp.simulation.settings import read_settings

        if self.islands and self.scene.world.grid() is not None:
            raise CommandError(f"--islands: {self.scene.name} is a liquid, which has no heaps of bodies to solve apart")
        with refusing(ValueError, TypeError):
            require_count(self.steps, "steps")
            return read_settings(self.scene, **self._arguments())

    def go(self, record: FrameWriter | None, dump: ProblemFolder | None, callback: OnStep | None) -> SimulationResult:
        from perp.simulation import simulate

        return simulate(self.scene, self.steps, **self._arguments(), record=record, dump=dump, callback=callback)

    def _arguments(self) -> dict[str, Any]:
        return {
            "dt": self.dt,
            "method": self.solver,
            "tol": self.tol,
            "max_iterations": self.max_iterations,
            "islands": self.islands,
        }


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
    from perp.scenes import kinds, make

    known = kinds()
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
        made = make(name, seed=0 if seed is None else seed, **options)
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
