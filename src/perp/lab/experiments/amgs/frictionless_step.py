"""What Table 1 and the study of adaptive alphas share: step 100 without friction, swept until RES is below 1e-4."""

from __future__ import annotations

from typing import Any

from perp.lab.experiments.amgs.contestants import Contestant, one_step
from perp.lab.runs.task import Task
from perp.lab.work.amgs import NORMALS, amgs_step_task

ENOUGH = 1e-4
STEP = 100
MOST_SWEEPS = 100_000
REPEATS = 5
SCENES: dict[str, dict[str, Any]] = {"pool1": {}, "pool2": {}, "stacking": {"discs": 150}}
"""Options beside friction; 30 stacked discs were too quick to be timed (AMGS section 5.1)."""


def race_task(name: str, quick: bool, each: Contestant, *, timed: bool) -> Task:
    return amgs_step_task(
        one_step(name, STEP, quick, friction=0.0, **SCENES[name]),
        each.method,
        options=each.options,
        sweeps=MOST_SWEEPS,
        until=ENOUGH,
        form=each.form,
        restate=NORMALS,
        repeats=REPEATS if timed else 0,
        label=each.label,
        group=name,
    )
