"""A scene that is stepped with one method, or with two side by side."""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from perp.errors import InvalidProblem, MethodRefused, MissingAbility, StateNotFinite
from perp.problems.problem import Problem
from perp.scenes import Scene
from perp.simulation.run import TakenStep, take_step
from perp.solvers.results.status import Status
from perp.solvers.roster import suitable_methods
from perp.viewer.frames.frame_encoding import encode_frame
from perp.viewer.frames.scene_message import describe_world
from perp.viewer.messages import Compare
from perp.viewer.sessions.answers import Message
from perp.viewer.sessions.method_choice import MethodChoice, choose_method, scene_method
from perp.viewer.sessions.moments import Memory, Moments, Solved
from perp.viewer.sessions.recipe import Recipe
from perp.viewer.sessions.refusals import refusing
from perp.viewer.sessions.step_log import StepLog
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
