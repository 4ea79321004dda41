"""Who competes, and on what: the methods of AMGS section 5 by the names of its tables, and its scenes.

Step 100 without friction, swept until RES is below 1e-4, is what Table 1 and the study of adaptive alphas share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perp.lab.palette import DASHES, SERIES, Stroke
from perp.lab.runs.task import Task
from perp.lab.work.amgs import FACTORED, NORMALS, amgs_step_task
from perp.lab.work.recipes import scene, scene_step

ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
GAMMA = 2.0

WARM = {"warm_rule": "always"}
"""The last sweep of a step is where the next step starts, whatever it is worth (AMGS section 5)."""

SWEEPS = 10
"""A step (AMGS section 5)."""

LEAD = {
    "method": "pgs",
    "stop": {"tol": 0.0, "max_iterations": SWEEPS, "check_every": SWEEPS, "keep": "last"},
}
"""What takes the steps before the one that is examined."""

SMALL_POOL: dict[str, Any] = {"discs": 24, "width": 2.0}
SMALL_STACK: dict[str, Any] = {"discs": 8}
SMALL: dict[str, dict[str, Any]] = {"pool1": SMALL_POOL, "pool2": SMALL_POOL, "stacking": SMALL_STACK}
"""Options of the quick runs."""

TITLES = {"pool1": "Pool 1", "pool2": "Pool 2", "stacking": "Stacking"}

ENOUGH = 1e-4

STEP = 100

MOST_SWEEPS = 100_000

REPEATS = 5

SCENES: dict[str, dict[str, Any]] = {"pool1": {}, "pool2": {}, "stacking": {"discs": 150}}
"""Options beside friction; 30 stacked discs were too quick to be timed (AMGS section 5.1)."""


@dataclass(frozen=True)
class Contestant:
    """A method as the tables name it."""

    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    form: str = FACTORED
    """Of A."""


PGS = Contestant("PGS", "pgs")
IDENTITY = Contestant("3.1 [ω E]", "amgs", {"omega": "identity"})
"""Omega = ω E with ω = mean(D) / gamma, which is what alpha = None stands for there."""


def scaled(alpha: float) -> Contestant:
    """Method 3.1 (3.2 where there is friction) with Omega = alpha D."""
    return Contestant(f"3.1 [{alpha:g} D]", "amgs", {"alpha": alpha})


HALF = scaled(1.0 / GAMMA)
"""Omega = D / gamma: projected Gauss-Seidel under another name."""

FAMILY = (PGS, *(scaled(alpha) for alpha in ALPHAS))
"""The lines of Fig. 6-8 and of Table 2."""

STROKES = {
    PGS.label: Stroke(SERIES[6].light, "-"),
    IDENTITY.label: Stroke(SERIES[3].light, DASHES[3]),
    **{
        scaled(alpha).label: Stroke(SERIES[place].light, DASHES[1] if scaled(alpha) == HALF else "-")
        for alpha, place in zip(ALPHAS, (1, 0, 2, 5, 4, 3), strict=True)
    },
}
"""The look of each line in every figure. Omega = D / gamma is dashed, so that the line of PGS shows through it."""


def whole(name: str, quick: bool, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The recipe of a scene of AMGS, or of a small one of its kind."""
    return scene(name, seed, **(SMALL[name] if quick else {}), **options) | WARM


def one_step(name: str, step: int, quick: bool, **options: Any) -> dict[str, Any]:
    """The recipe of the problem of one step of it."""
    return scene_step(name, step, lead=LEAD, **({**options, **SMALL[name]} if quick else options)) | WARM


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
