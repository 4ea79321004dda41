"""The eight scenes of PGS-SM Fig. 2, and the step of each whose problem is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perp.lab.work.recipes import scene, scene_step
from perp.scenes import kinds

STEP, QUICK_STEP = 100, 10
"""The same step of every scene: one second after its start, when all have come to rest but for slow creeping."""


@dataclass(frozen=True)
class TestCase:
    letter: str
    scene: str
    what: str
    is_small: bool
    """Whether the text counts it among the small configurations and those with joints."""

    @property
    def name(self) -> str:
        return f"({self.letter}) {self.what}"

    def options(self, quick: bool) -> dict[str, Any]:
        return dict(kinds()[self.scene].small) if quick else {}

    def whole(self, quick: bool) -> dict[str, Any]:
        """The recipe of the scene."""
        return scene(self.scene, **self.options(quick))

    def step(self, quick: bool) -> dict[str, Any]:
        """The recipe of the problem of its step; the scene's own method takes the steps before."""
        kind = kinds()[self.scene]
        lead = {"method": kind.method, "options": {}, "stop": {"max_iterations": kind.iterations}}
        return scene_step(self.scene, QUICK_STEP if quick else STEP, lead=lead, **self.options(quick))


CASES = (
    TestCase("a", "snake", "snake", True),
    TestCase("b", "snake_loaded", "snake with a heavy box", True),
    TestCase("c", "stack", "large stack", False),
    TestCase("d", "heavy_on_light", "heavy box on light ones", True),
    TestCase("e", "incline", "boxes on a slope", True),
    TestCase("f", "gears_small", "small pyramid of gears", True),
    TestCase("g", "gears_medium", "medium pyramid of gears", False),
    TestCase("h", "wall_of_boxes", "large wall of boxes", False),
)
