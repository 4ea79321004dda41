"""A live simulation behind the commands of the page, and a whole run in memory for a page without a server.

A step can be kept: its problem as a file, or the Python that makes it again, bit by bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from perp.errors import FileFormatError, MissingExtra, StateNotFinite, one_line
from perp.problems.files import save
from perp.scenes import kinds
from perp.simulation.run import SUFFIXES
from perp.version import __version__
from perp.viewer.choices import MethodChoice, Recipe, Refusal, choose_method, first_recipe, next_recipe, scene_method
from perp.viewer.messages import (
    Build,
    ChooseCompare,
    ChooseMethod,
    Command,
    Compare,
    Message,
    Outgoing,
    Reset,
    Save,
    SaveFormat,
    Start,
    TellCode,
)
from perp.viewer.scene_run import Memory, SceneRun, Solved, Span, StepLog
from perp.viewer.session import Session, code, file, note, state, welcome

TELL_FIRST_EVERY = 64
"""Once so many of the oldest frames were dropped, the page is informed."""

BROKEN = "paused, since such answers let bodies fly or fall through each other; choose another method, or play on"


class Simulation(Session):
    """Owns a scene and its methods. Places are steps: the frame at place 12 is that after step 12."""

    def __init__(self, start: Start, memory: Memory | None = None) -> None:
        super().__init__()
        self._memory = memory
        recipe = first_recipe(start)
        self._run = SceneRun(recipe, [first_method(start, recipe)], memory=memory)
        self._told_first = self._told_rows = 0
        self._sought = 0

    @property
    def run(self) -> SceneRun:
        return self._run

    @property
    def step_seconds(self) -> float:
        return self._run.step_seconds

    def open(self) -> list[Outgoing]:
        return [self._run.describe(), self.tell_state()]

    def tell_state(self) -> Message:
        run = self._run
        self._told_first, self._told_rows = run.moments.first, run.rows
        return state(
            playing=self.playing,
            speed=self.speed,
            compare=run.compare,
            lanes=[method.tell() for method in run.methods[: run.lanes]],
            first=run.moments.first,
            last=run.moments.last,
            suitable=run.suitable(),
            can_save=True,
        )

    def tell_code(self, place: int) -> str:
        """The Python that makes the step at this place again."""
        run = self._run
        step = min(max(place, 0), run.world.steps)
        return tell_step(run.recipe, step, run.method_logs, run.compare_log)

    def _answer_further(self, command: Command) -> list[Outgoing]:
        match command:
            case Reset():
                return self._rebuild(self._run.recipe, self._run.methods)
            case Build():
                recipe, methods = next_recipe(command, self._run.recipe), self._run.methods
                if recipe.scene != self._run.recipe.scene:
                    methods = [scene_method(kinds()[recipe.scene]), *methods[1:]]
                return self._rebuild(recipe, methods)
            case ChooseMethod(lane, name, options, tol, max_iterations):
                self._choose_method(lane, choose_method(name, options, tol, max_iterations))
                return [self.tell_state()]
            case ChooseCompare(mode):
                if mode != self._run.compare:
                    self._run.use_compare(mode)
                    self._sought = self._run.moments.last
                return [self.tell_state()]
            case Save(form, place, lane):
                name = name_file(self._run.scene.name, place, form, lane)
                return [pack_problem(self._find_solved(place, lane), name)]
            case TellCode(place):
                return [code(self.tell_code(place))]
        raise Refusal(f"a simulation has no answer to {type(command).__name__}")

    def _take_step(self) -> list[Outgoing]:
        before = self._run.breakdown
        frames = self._run.step()
        if self._run.breakdown and not before:  # once: who plays on wants to see what becomes of it
            self.halt()
            return [*frames, note("warning", f"{self._run.breakdown}; {BROKEN}"), self.tell_state()]
        return [*frames, *([self.tell_state()] if self._has_news() else [])]

    def _has_news(self) -> bool:
        """Whether a step changed what the page knows: which methods suit the problem, or what can be gone back to.

        Problems that grow go beyond what some methods can do.
        """
        moments, has_grown = self._run.moments, self._run.rows > 2 * self._told_rows
        return moments.last == 1 or has_grown or moments.first >= self._told_first + TELL_FIRST_EVERY

    def _show(self, place: int) -> list[Outgoing]:
        return [*self._run.frames(place)]

    def _seek(self, place: int) -> None:
        """Going back pauses: the next step would take the old frame away at once."""
        self.halt()
        self._sought = place

    def _rebuild(self, recipe: Recipe, methods: list[MethodChoice]) -> list[Outgoing]:
        self._run = SceneRun(recipe, methods, self._run.compare, self._memory)
        self.halt()
        self._sought = 0
        return [self._run.describe(), self.tell_state()]

    def _choose_method(self, lane: int, method: MethodChoice) -> None:
        if lane not in (0, 1):
            raise Refusal(f"lane {lane} is none: 0 is the first method, 1 the second")
        self._run.use_method(lane, method)

    def _find_solved(self, place: int, lane: int) -> Solved:
        moments = self._run.moments
        found = moments.solved(place, lane)
        if found is not None:
            return found
        if place <= 0:
            raise Refusal("the beginning has no problem: take a step first")
        if place > moments.last:
            raise Refusal(f"step {place:,} was not taken yet: take it first")
        if lane > 0 and moments.solved(place, 0) is not None:
            raise Refusal(f"no second method was at work in step {place:,}: save the problem of the first")
        raise Refusal(
            f"the problem of step {place:,} is no longer kept: save a later one, or copy the Python that makes it again"
        )


def first_method(start: Start, recipe: Recipe) -> MethodChoice:
    """What was asked for, or the scene's own, whose limit of iterations holds where its own method is at work."""
    kind = kinds()[recipe.scene]
    name = kind.method if start.method is None else start.method
    limit = kind.iteration_limit(name, start.max_iterations)
    return choose_method(name, start.method_options, start.tol, limit)


# A whole run in memory, for a page that has no server behind it.

KEEP_LITTLE = Memory(frame_bytes=0, problems=0, problem_bytes=0)
"""The frames are handed out; there is no way back to them here."""


@dataclass(frozen=True)
class RecordedRun:
    """What an exported page holds."""

    welcome: Message
    scene: Message
    state: Message
    frames: list[bytes] = field(repr=False)
    """All of them, from step 0 on."""
    code: str
    """The Python that makes the last frame again."""
    note: str | None = None
    """Why there are fewer steps than were asked for."""


def run_steps(start: Start, steps: int, on_step: Callable[[int], object] | None = None) -> RecordedRun:
    """Simulate so many steps; `on_step` gets how many there are so far.

    A state that would become infinite ends the run early, which the note tells. Whatever else cannot be done raises a
    `Refusal`, whose message says what to do.
    """
    simulation = Simulation(start, KEEP_LITTLE)
    run = simulation.run
    scene = run.describe()
    frames = run.frames(0)
    note = None
    for number in range(1, steps + 1):
        try:
            frames += run.step()
        except Refusal as refusal:
            if not isinstance(refusal.__cause__, StateNotFinite):
                raise
            note = f"{refusal.__cause__}: there are {number - 1:,} of {steps:,} steps"
            break
        if on_step is not None:
            on_step(number)
    state = simulation.tell_state() | {"first": 0, "can_save": False}
    return RecordedRun(welcome("replay"), scene, state, frames, simulation.tell_code(run.world.steps), note)


# The problem of a step as a file for the user to keep.

LARGEST_FILE = 64 << 20
"""Bytes that go to a browser in one piece."""


def name_file(scene: str, step: int, form: SaveFormat, lane: int = 0) -> str:
    """`stack_step_000120.npz`; of the second lane `stack_step_000120_second.npz`."""
    return f"{scene}_step_{step:06d}{'_second' if lane else ''}{SUFFIXES[form]}"


def pack_problem(solved: Solved, name: str, largest: int = LARGEST_FILE) -> Message:
    """The `FileMessage` with this problem, and what the solver found, in the format that the name's suffix means."""
    with TemporaryDirectory(prefix="perp_view_") as folder:
        path = Path(folder, name)
        try:
            save(solved.problem, path, x=solved.x)
        except (FileFormatError, MissingExtra) as error:
            raise Refusal(one_line(error).replace(str(path), name)) from error
        size = path.stat().st_size
        if size > largest:
            raise Refusal(
                f"{name} has {size / 2**20:.0f} MiB, and a page takes {largest >> 20}: "
                f"let `perp simulate --dump-problems DIR` write it"
            )
        return file(name, path.read_bytes())


# The Python that makes a step again, bit by bit.

MethodLog = StepLog[MethodChoice]


def tell_step(
    recipe: Recipe,
    step: int,
    methods: Sequence[MethodLog],
    compares: StepLog[Compare] | None = None,
    version: str = __version__,
) -> str:
    """A program that ends with `world` after this step, and `report` of it.

    `methods` has one log a lane. Where a second method was at work in this step, its answer is made as well.
    """
    made = f"step {step:,}" if step else "the beginning"
    head = [f"# {recipe.scene}, {made}; perp {version}", "import perp", "", *_tell_world(recipe, "world")]
    if step == 0:
        return _text(head)
    path = methods[0].spans(1, step)
    lines = [*head, "", *_tell_steps(path, "world", "report"), "", "print(report)", _tell_save(recipe.scene, step)]
    since, _, compare = Span(1, step, "off") if compares is None else compares.at(step)
    if compare == "same_state":
        answer = _tell_solve(methods[1].at(step).value, "report.problem", "report.x0")
        lines += ["", "# the second method on the problem of the same step", f"second = {answer}", "print(second)"]
    elif compare == "own_ways":
        path = [*methods[0].spans(1, since - 1), *methods[1].spans(since, step)]
        lines += ["", f"# the second method, which went its own way from step {since:,} on"]
        lines += [*_tell_world(recipe, "second_world"), ""]
        lines += [*_tell_steps(path, "second_world", "second_report"), "", "print(second_report)"]
    return _text(lines)


def tell_recorded_frame(path: str, place: int) -> str:
    """A program that reads a frame of a recording, where nothing is known that would make it again."""
    lines = [
        f"# frame {place:,} of a recording: what made it is not written in it; perp {__version__}",
        "import perp",
        "",
        f"with perp.recording.Recording({_literal(path)}) as recording:",
        f"    frame = recording[{place}]",
        "print(frame)",
    ]
    return _text(lines)


def _tell_world(recipe: Recipe, name: str) -> list[str]:
    kind = kinds()[recipe.scene]
    changed = {key: value for key, value in recipe.options.items() if value != kind.options[key].default}
    if kind.seeded:
        changed["seed"] = recipe.seed
    lines = [f"{name} = perp.scenes.make({_arguments([_literal(recipe.scene)], changed)}).world"]
    if recipe.model is not None:
        lines.append(f"{name}.model = {_literal(recipe.model)}")
    if recipe.warm_start is not None:
        lines.append(f"{name}.warm_start = {recipe.warm_start!r}")
    if recipe.compliance is not None:
        value, units = recipe.compliance
        lines.append(f"{name}.contact_compliance, {name}.compliance_units = {value!r}, {_literal(units)}")
    return [*lines, f"dt = {recipe.step_seconds!r}"]


def _tell_steps(path: Iterable[Span[MethodChoice]], world: str, report: str) -> list[str]:
    lines = []
    for first, last, method in path:
        lines.append(f"for _ in range({last - first + 1}):  # {_name_steps(first, last)}")
        lines.append(f"    {report} = {world}.step(dt, lambda problem, x0: {_tell_solve(method, 'problem', 'x0')})")
    return lines


def _name_steps(first: int, last: int) -> str:
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def _tell_solve(method: MethodChoice, problem: str, x0: str) -> str:
    """`perp.solve(problem, perp.PSOR(relaxation=1.2), x0=x0, tol=1e-06)`."""
    chosen = f"perp.{method.class_name}({_arguments([], method.options)})" if method.options else _literal(method.name)
    limits = {"tol": method.tol, "max_iterations": method.max_iterations}
    given = {name: value for name, value in limits.items() if value is not None}
    function = "solve_islands" if method.islands else "solve"
    return f"perp.{function}({_arguments([problem, chosen, f'x0={x0}'], given)})"


def _tell_save(scene: str, step: int) -> str:
    return f"perp.save(report.problem, {_literal(name_file(scene, step, 'npz'))}, x=report.x)"


def _arguments(words: Sequence[str], named: Any) -> str:
    return ", ".join([*words, *(f"{name}={_literal(value)}" for name, value in named.items())])


def _literal(value: Any) -> str:
    """`repr` with the quotation marks of this project."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
