"""What makes a scene, again and again the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from perp.errors import suggest
from perp.scenes import Scene, kinds, make
from perp.viewer.messages import Build, Start
from perp.viewer.sessions.forms import read_scene_options
from perp.viewer.sessions.refusals import Refusal, refusing
from perp.worlds.contact_world import LAWS


@dataclass(frozen=True)
class Recipe:
    """A scene by name, with what was chosen; None: the scene's own."""

    scene: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    model: str | None = None
    """The law of friction, for scenes that have no option of that name."""
    warm_start: bool | None = None
    dt: float | None = None
    """[s]"""
    compliance: tuple[float, str] | None = None
    """`contact_compliance` and `compliance_units` of the world."""

    def build(self) -> Scene:
        with (
            refusing(ValueError, TypeError, ImportError, about=self.scene),
            refusing(MemoryError, about=self.scene, advice="there is not enough memory: choose a smaller one"),
        ):
            made = make(self.scene, seed=self.seed, **self.options)
        world: Any = made.world
        if self.model is not None:
            if not hasattr(world, "model"):
                raise Refusal(f"{self.scene} has no contacts, and so no law of friction: leave the model out")
            world.model = self.model
        if self.warm_start is not None:
            world.warm_start = self.warm_start
        if self.compliance is not None:
            if not hasattr(world, "contact_compliance"):
                raise Refusal(f"{self.scene} has no contacts that could give way: leave the compliance out")
            with refusing(ValueError, TypeError):
                world.contact_compliance, world.compliance_units = self.compliance
        return made

    @property
    def step_seconds(self) -> float:
        """The length of a step [s]."""
        return kinds()[self.scene].dt if self.dt is None else self.dt


def first_recipe(start: Start) -> Recipe:
    """The scene that a connection begins with."""
    if start.model is not None and start.model not in LAWS:
        raise Refusal(f"model {start.model!r} is unknown{suggest(start.model, LAWS)}")
    if start.dt is not None and not 0.0 < start.dt < float("inf"):
        raise Refusal(f"dt is {start.dt}; a positive number is needed")
    options, model = _read(start.scene, start.options), start.model
    if model is not None and "model" in kinds()[start.scene].options:
        options, model = options | {"model": model}, None
    return Recipe(start.scene, options, start.seed, model, dt=start.dt, compliance=start.compliance)


def next_recipe(build: Build, before: Recipe | None) -> Recipe:
    """The scene that the page asks for; law of friction, compliance and length of steps stay where it is the same."""
    options = _read(build.scene, build.options)
    if before is None or before.scene != build.scene:
        return Recipe(build.scene, options, build.seed)
    return replace(before, options=options, seed=build.seed)


def _read(scene: str, options: Mapping[str, Any]) -> dict[str, Any]:
    with refusing(ValueError, TypeError):
        return read_scene_options(scene, options)
