"""A scene that is stepped with one method, or with two side by side, and the steps that were seen.

Frames are kept to go back to, and the problems of the last steps; logs know what held from which step on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import ModuleType
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from perp.errors import InvalidProblem, MethodRefused, MissingAbility, StateNotFinite
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.scenes import Scene
from perp.simulation.run import TakenStep, take_step
from perp.solvers.results import Status
from perp.solvers.roster import suitable_methods
from perp.viewer.choices import MethodChoice, Recipe, choose_method, refusing, scene_method
from perp.viewer.frame_encoding import encode_frame
from perp.viewer.messages import Compare, Message
from perp.viewer.scene_message import describe_world
from perp.worlds.world import StepReport, World

DIVERGED = "paused at the last good frame; choose another method, a smaller tolerance or more iterations, or reset"


USELESS = (Status.BREAKDOWN, Status.NON_FINITE)
"""Endings after which the answer may be as far off as the starting point."""


class Taken(NamedTuple):
    """A step of one lane."""

    frame: bytes
    solved: Solved
    breakdown: str
    """How the solve ended without an answer; else empty."""


class SceneRun:
    """A world, its methods, and the steps that were seen. A step that cannot be taken changes nothing."""

    recipe: Recipe
    scene: Scene
    methods: list[MethodChoice]
    """Of the first lane, and of the second, where one was ever chosen."""
    compare: Compare
    moments: Moments
    method_logs: tuple[StepLog[MethodChoice], StepLog[MethodChoice]]
    compare_log: StepLog[Compare]
    breakdown: str
    """Which methods found no answer in the last step, and why; else empty."""

    def __init__(
        self, recipe: Recipe, methods: list[MethodChoice], compare: Compare = "off", memory: Memory | None = None
    ) -> None:
        """Without methods the scene's own is at work."""
        self.recipe, self.scene = recipe, recipe.build()
        self.methods = []
        self.moments = Moments(memory)
        self.method_logs, self.compare_log = (StepLog(), StepLog()), StepLog()
        self.compare, self.breakdown = "off", ""
        self._second: World | None = None
        """Of the second lane, where it goes its own way."""
        self._suitable: tuple[Problem, list[str]] | None = None
        for lane, method in enumerate(methods or [scene_method(self.scene.kind)]):
            self.use_method(lane, method)
        self.compare_log.note(1, "off")
        self.moments.add(0, [self._encode_state(self.world, 0)])
        self.use_compare(compare)

    @property
    def world(self) -> World:
        """Of the first lane."""
        return self.scene.world

    @property
    def lanes(self) -> int:
        return 1 if self.compare == "off" else 2

    @property
    def step_seconds(self) -> float:
        return self.recipe.step_seconds

    @property
    def rows(self) -> int:
        """Of the problem of the last step; 0 before the first."""
        problem = self.moments.newest_problem()
        return 0 if problem is None else problem.n

    def describe(self) -> Message:
        """The `SceneMessage` of `messages.ts`."""
        world = self.world
        return describe_world(
            self.scene.name,
            world.frame(),
            world.shapes(),
            world.grid(),
            dt=self.step_seconds,
            seed=self.scene.seed,
            options=self.scene.options,
        )

    def use_method(self, lane: int, method: MethodChoice) -> None:
        """From the next step on."""
        self.methods[lane : lane + 1] = [method]
        self.method_logs[lane].note(self.world.steps + 1, method)

    def use_compare(self, mode: Compare) -> None:
        """From the next step on; a second lane begins with the state of the first."""
        if mode == self.compare:
            return
        if mode != "off" and len(self.methods) == 1:
            self.use_method(1, self._other_method())
        if mode == "own_ways":
            self._second = deepcopy(self.world)
        elif mode == "off" or self.compare == "own_ways":
            self._second = None
        self.compare = mode
        self.compare_log.note(self.world.steps + 1, mode)
        if mode != "off":
            self.moments.show_beside(self._encode_state(self.world, 1))

    def step(self) -> list[bytes]:
        """One step in each lane: their frames. A `Refusal` tells why there is none."""
        world, taken = self.world, []
        second = None
        if self.compare != "off":  # on a copy, as the first lane may fail after it
            second = deepcopy(world if self._second is None else self._second)
            taken = [self._step_lane(1, second)]
        taken.insert(0, self._step_lane(0, world))
        if self.compare == "own_ways":
            self._second = second
        self.breakdown = "; ".join(each.breakdown for each in taken if each.breakdown)
        frames = [each.frame for each in taken]
        self.moments.add(world.steps, frames, [each.solved for each in taken])
        return frames

    def frames(self, place: int) -> list[bytes]:
        """Of this place, or of the nearest that is kept; of the second lane only where there is one now."""
        return self.moments.frames(place)[: self.lanes]

    def suitable(self) -> list[str] | None:
        """Methods that take the problem of the last step."""
        problem = self.moments.newest_problem()
        if problem is None:
            return None
        if self._suitable is None or self._suitable[0] is not problem:
            self._suitable = problem, ["auto", *(method.name for method in suitable_methods(problem))]
        return self._suitable[1]

    def _step_lane(self, lane: int, world: World) -> Taken:
        method = self.methods[lane]
        about = f"the {'first' if lane == 0 else 'second'} method" if self.compare != "off" else ""
        with (
            refusing(StateNotFinite, advice=DIVERGED, about=about),
            refusing(MethodRefused, advice="choose another method", about=about),
            refusing(InvalidProblem, MissingAbility, ImportError, about=about or method.name),
        ):
            step = take_step(world, self.step_seconds, method.solve)
        report = step.report
        return Taken(
            self._encode_step(world, lane, step),
            Solved(report.problem, report.x),
            tell_breakdown(method.name, report),
        )

    def _encode_step(self, world: World, lane: int, step: TakenStep) -> bytes:
        return encode_frame(
            world.frame(step.report),
            lane=lane,
            place=world.steps,
            report=step.report,
            statistics=step.statistics,
            tol=self.methods[lane].asked_tol,
        )

    def _encode_state(self, world: World, lane: int) -> bytes:
        """As it is, without a solve."""
        return encode_frame(world.frame(), lane=lane, place=world.steps, statistics={"energy": world.energy()})

    def _other_method(self) -> MethodChoice:
        """To compare with: the scene's own; or one that takes every problem of a world, and little time."""
        first, own = self.methods[0].name, scene_method(self.scene.kind)
        if first != own.name:
            return own
        return choose_method("nncg" if first == "pgs" else "pgs", {})


def tell_breakdown(name: str, report: StepReport) -> str:
    """Why this method has no answer; empty where it has one, however good."""
    status = getattr(report.solution, "status", None)
    if status not in USELESS:
        return ""
    return f"{name} has no answer in step {report.step:,}: {report.solution.message or status.value}"


# The steps that were seen: frames to go back to, and the problems of the last ones.


@dataclass(frozen=True)
class Memory:
    """How much is kept; what is oldest goes first. The newest step is kept in any case."""

    frame_bytes: int = 512 << 20
    problems: int = 256
    """Of so many steps."""
    problem_bytes: int = 512 << 20
    """Estimated by the arrays in them."""


class Solved(NamedTuple):
    """The problem of a step, and what the solver found."""

    problem: Problem
    x: Vector


class Moments:
    """Encoded frames and problems by place, each a list with one entry a lane."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory: Memory = Memory() if memory is None else memory
        self._frames: OrderedDict[int, list[bytes]] = OrderedDict()
        self._solved: OrderedDict[int, tuple[Sequence[Solved], int]] = OrderedDict()
        self._frame_bytes = self._solved_bytes = 0

    @property
    def first(self) -> int:
        return next(iter(self._frames))

    @property
    def last(self) -> int:
        return next(reversed(self._frames))

    def add(self, place: int, frames: Sequence[bytes], solved: Sequence[Solved] = ()) -> None:
        """The next place; the oldest ones make room for it."""
        self._frames[place] = list(frames)
        self._frame_bytes += sum(map(len, frames))
        while self._frame_bytes > self.memory.frame_bytes and len(self._frames) > 1:
            self._frame_bytes -= sum(map(len, self._frames.popitem(last=False)[1]))
        if solved:
            size = sum(array_bytes(each) for each in solved)
            self._solved[place] = (solved, size)
            self._solved_bytes += size
        while len(self._solved) > 1 and (
            len(self._solved) > self.memory.problems or self._solved_bytes > self.memory.problem_bytes
        ):
            self._solved_bytes -= self._solved.popitem(last=False)[1][1]

    def show_beside(self, frame: bytes) -> None:
        """Put a frame of the second lane beside that of the first at the last place."""
        frames = self._frames[self.last]
        self._frame_bytes += len(frame) - sum(map(len, frames[1:]))
        frames[1:] = [frame]

    def frames(self, place: int) -> list[bytes]:
        """Those of the nearest place that is kept."""
        return list(self._frames[min(max(place, self.first), self.last)])

    def solved(self, place: int, lane: int) -> Solved | None:
        """None where it was dropped, or never was."""
        kept = self._solved.get(place, ((), 0))[0]
        return kept[lane] if lane < len(kept) else None

    def newest_problem(self) -> Problem | None:
        """Of the first lane."""
        return next(reversed(self._solved.values()))[0][0].problem if self._solved else None


def array_bytes(thing: object) -> int:
    """The memory of all arrays that can be reached from this object through attributes, tuples, lists and dicts."""
    seen: set[int] = set()
    waiting, total = [thing], 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            if isinstance(each.base, np.ndarray):
                waiting.append(each.base)
            else:
                total += each.nbytes
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, tuple | list):
            waiting.extend(each)
        elif hasattr(each, "__dict__") and not isinstance(each, type | ModuleType):
            waiting.extend(vars(each).values())
    return total


# What held from which step on: a method, or how two of them hang together.

T = TypeVar("T")


class Span(NamedTuple, Generic[T]):
    """Steps first..last (1 is the first step of a world), and what held in all of them."""

    first: int
    last: int
    value: T


class StepLog(Generic[T]):
    """A value for each step; it holds until another one is noted."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, T]] = []

    def note(self, first: int, value: T) -> None:
        """From step `first` on it is this one. Later notes about that step or those after it are forgotten."""
        while self._entries and self._entries[-1][0] >= first:
            self._entries.pop()
        self._entries.append((first, value))

    def at(self, step: int) -> Span[T]:
        """What holds in this step, since when, and until the step itself."""
        first, value = next(entry for entry in reversed(self._entries) if entry[0] <= step)
        return Span(first, step, value)

    def spans(self, first: int, last: int) -> list[Span[T]]:
        """Steps first..last, cut where the value changed."""
        cut: list[Span[T]] = []
        while last >= first:
            span = self.at(last)
            cut.append(Span(max(span.first, first), last, span.value))
            last = span.first - 1
        return cut[::-1]
