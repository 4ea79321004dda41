"""The eight scenes of PGS-SM Fig. 2: the step of each whose problem is looked at, and whole simulations of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from perp.lab.experiments.experiment import Rows
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.pgs_sm import BLOWN_UP, PRINTED, blow_up_task
from perp.lab.work.recipes import scene, scene_step
from perp.lab.work.touching_rows import EQUATION_3
from perp.scenes import kinds

STEP, QUICK_STEP = 100, 10
"""The same step of every scene: one second after its start, when all have come to rest but for slow creeping."""

STEPS, QUICK_STEPS = 60, 4

ITERATIONS = 2
"""Of PGS-SM a step, for the sake of interaction: fifty sweeps and up to ten subspace steps."""

SWEEPS = 25 * ITERATIONS

WALL_SECONDS = 240.0

GAMMA = 0.01
"""[1/kg], where the diagonal of A is about 2 for boxes of 1 kg; the paper names no value."""


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


@dataclass(frozen=True)
class Contender:
    label: str
    method: str
    options: Mapping[str, Any]
    iterations: int = ITERATIONS
    keep: str = "last"

    @property
    def stop(self) -> dict[str, Any]:
        return {"tol": 1e-10, "max_iterations": self.iterations, "keep": self.keep}


PGS = Contender("PGS", "pgs", {}, SWEEPS)
AS_PRINTED = Contender("PGS-SM", PRINTED, {})
EXACT = Contender("PGS-SM, factors", "pgs_sm", {"fallback": "none"})
BEST = Contender("PGS-SM, best iterate", "pgs_sm", {"fallback": "best"}, keep="best")
UNTIL = Contender("sweeps until ψ rests", PRINTED, {"until": 0.01})
DAMPED = Contender("γ on all rows", PRINTED, {"regularisation": GAMMA})
DAMPED_FRICTION = Contender("γ on friction", PRINTED, {"regularisation": GAMMA, "regularise": "friction"})
LAZY = Contender("lazy bounds", PRINTED, {"bounds": "lazy"})
OURS = Contender("pgs_sm (ours)", "pgs_sm", {}, keep="best")


def simulations(
    contenders: Iterable[Contender], quick: bool, *, form: str = EQUATION_3, cases: Iterable[TestCase] = CASES
) -> list[Task]:
    """Every contender in every scene."""
    steps, chosen = QUICK_STEPS if quick else STEPS, list(contenders)
    return [one_run(case.whole(quick), case.name, who, steps, form) for case in cases for who in chosen]


def one_run(instance: Mapping[str, Any], group: str, who: Contender, steps: int, form: str = EQUATION_3) -> Task:
    return blow_up_task(
        instance,
        who.method,
        steps=steps,
        form=form,
        stop=who.stop,
        options=who.options,
        label=who.label,
        group=group,
        wall_seconds=WALL_SECONDS,
    )


def run_of(rows: Rows, group: str, who: Contender, form: str = EQUATION_3) -> LabRow | None:
    """The run of a contender that got as far as to tell something."""
    found = select(rows, lambda row: row.name == who.label and "blown_up" in row.found.numbers, group=group, form=form)
    return found[0] if found else None


def blow_ups(
    rows: Rows, who: Contender, form: str = EQUATION_3, cases: Iterable[TestCase] = CASES
) -> dict[str, bool] | None:
    """Whether it blew up, scene by scene (letters); None where a run is missing."""
    found = {case.letter: run_of(rows, case.name, who, form) for case in cases}
    if any(row is None for row in found.values()):
        return None
    return {letter: row is not None and row.status == BLOWN_UP for letter, row in found.items()}


def count(blown: Mapping[str, bool] | None) -> float:
    return float("nan") if blown is None else float(sum(blown.values()))
