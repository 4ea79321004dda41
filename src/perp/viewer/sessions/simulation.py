"""A live simulation behind the commands of the page."""

from __future__ import annotations

from perp.scenes import kinds
from perp.viewer.messages import (
    Build,
    ChooseCompare,
    ChooseMethod,
    Command,
    Reset,
    Save,
    Start,
    TellCode,
)
from perp.viewer.sessions.answers import Message, Outgoing, code, note, state
from perp.viewer.sessions.method_choice import MethodChoice, choose_method, scene_method
from perp.viewer.sessions.moments import Memory, Solved
from perp.viewer.sessions.recipe import Recipe, first_recipe, next_recipe
from perp.viewer.sessions.refusals import Refusal
from perp.viewer.sessions.reproduction import tell_step
from perp.viewer.sessions.saving import name_file, pack_problem
from perp.viewer.sessions.scene_run import SceneRun
from perp.viewer.sessions.session import Session

TELL_FIRST_EVERY = 64
"""Once so many of the oldest frames were dropped, the page is told."""

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
        """Whether a step changed what the page was told: which methods suit the problem, or what can be gone back to.

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
