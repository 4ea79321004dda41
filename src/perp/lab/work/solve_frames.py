"""Solve the frames of a scene, each from the index sets of the step before it, island by island (THESIS 6.2).

The preconditioner counts how often it is made, and how many of its columns are imaginary (THESIS 6.2.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from perp.lab.runs.row import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.contact_frames import RIGHT_SETS, ContactStep, make_frames
from perp.lab.work.recipes import fingerprint
from perp.lab.work.solve import WARM_ITERATIONS
from perp.linalg.preconditioners import BY_NAME, Preconditioner, Recipe, make_recipe
from perp.linalg.preconditioners.base import Mask
from perp.problems.inputs import Vector
from perp.problems.islands import gather, split_islands
from perp.problems.problem import Problem
from perp.problems.residuals import verify
from perp.solvers.api import solve
from perp.solvers.islands.islands import WORTH_A_SOLVE
from perp.solvers.method import Method
from perp.solvers.results import Result, Status
from perp.solvers.roster import make_method
from perp.solvers.stopping import Stopping


@dataclass
class Tally:
    """Sums over all factors that were made."""

    made: int = 0
    columns: int = 0
    imaginary: int = 0
    shifts: int = 0


@dataclass(frozen=True)
class MeteredRecipe(Recipe):
    """The same preconditioner, whose factors are added to a tally."""

    name: ClassVar[str] = "metered"
    reference: ClassVar[str] = "THESIS 6.2.4"

    inner: Recipe
    tally: Tally = field(compare=False)

    def objection(self, problem: Problem) -> str | None:
        return self.inner.objection(problem)

    def prepare(self, problem: Problem) -> Preconditioner:
        return _Metered(self.inner.prepare(problem), self.tally)


class _Metered(Preconditioner):
    def __init__(self, inner: Preconditioner, tally: Tally) -> None:
        self._inner, self._tally = inner, tally
        self._last: tuple[Mask, Vector] | None = None

    def follow(self, free: Mask, shift: Vector) -> None:
        self._inner.follow(free, shift)
        if self._last is not None and np.array_equal(free, self._last[0]) and np.array_equal(shift, self._last[1]):
            return
        self._last = free.copy(), shift.copy()
        report = self._inner.report()
        self._tally.made += 1
        self._tally.columns += int(np.count_nonzero(free))
        self._tally.imaginary += int(report.get("imaginary_columns", 0))
        self._tally.shifts += int(report.get("shifts", 0))

    def apply(self, r: Vector) -> Vector:
        return self._inner.apply(r)

    def report(self) -> dict[str, float]:
        return self._inner.report()


def read_recipe(given: str | Mapping[str, Any]) -> Recipe:
    """A recipe from plain data: a name, or a mapping with the `name` and options."""
    if isinstance(given, str):
        return make_recipe(given)
    options = dict(given)
    return BY_NAME[options.pop("name")](**options)


def perform(task: Task, folder: Path | None) -> Measurement:
    """Series have one entry a frame whose solution has tight rows, numbers are means over these frames."""
    frames = make_frames(task.instance, folder)
    _solve_frame(frames[0], task, replace(task.stopping, max_iterations=WARM_ITERATIONS))
    found = [_solve_frame(frame, task, task.stopping) for frame in frames]
    hard = [each for each in found if each["tight"] > 0.0]
    series = {name: np.array([each[name] for each in hard]) for name in found[0]}
    numbers = {name: float(column.mean()) for name, column in series.items() if hard and name != "step"}
    if hard:
        worst = ("residual", "energy_mean", "energy_max", "rows")
        numbers |= {f"{name}_worst": float(series[name].max()) for name in worst}
        numbers |= {
            "iterations": float(series["outer_sum"].sum()),
            "seconds": float(series["frame_seconds"].sum()),
            "setup_seconds": 0.0,
            "residual": float(series["residual"].max()),
        }
    solved = bool(hard) and bool(series["solved"].all())
    return Measurement(
        status=Status.CONVERGED.name if solved else Status.ITERATION_LIMIT.name,
        message=f"{len(hard)} of {len(found)} frames have tight rows; {int(series['solved'].sum())} of them are solved",
        n=max(frame.problem.n for frame in frames),
        problem=fingerprint(frames[-1].problem),
        numbers=numbers,
        series=series,
    )


def solve_frames_task(recipe: Mapping[str, Any], method: str, stop: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work. `preconditioner` among the options may be a mapping with a name and options of its own;
    `max_seconds` of the stop preset holds for each frame."""
    return Task("solve_frames", recipe, method, stop=stop, **others)


@dataclass
class _IslandResult:
    result: Result
    tally: Tally

    @property
    def outer(self) -> float:
        """Index sets tried: passes of PGCG, of which the counter leaves out the first, solves of the others."""
        return 1.0 + self._count("passes", float(self.result.iterations) - 1.0)

    @property
    def inner(self) -> float:
        """Conjugate gradient steps."""
        return self._count("inner_iterations", float(self.result.iterations))

    @property
    def seconds(self) -> float:
        return self.result.setup_seconds + self.result.seconds

    def _count(self, name: str, otherwise: float) -> float:
        column = self.result.history.counters.get(name)
        return otherwise if column is None or not len(column) else float(column[-1])


def _solve_frame(frame: ContactStep, task: Task, stop: Stopping) -> dict[str, float]:
    islands = split_islands(frame.problem, WORTH_A_SOLVE)
    begun, parts = perf_counter(), []
    for island in islands:
        tally = Tally()
        method = _make_method(task, tally)
        left = None if stop.max_seconds is None else max(0.0, stop.max_seconds - (perf_counter() - begun))
        start = frame.start[island.rows]
        parts.append(
            _IslandResult(solve(island.problem, method, x0=start, stop=replace(stop, max_seconds=left)), tally)
        )
    x = gather(islands, [part.result for part in parts])
    judged = verify(frame.problem, x)
    slowest = max(parts, key=lambda part: part.seconds)
    lower, upper = frame.problem.bounds(x)
    free = (x > lower) & (x < upper)
    made = sum(part.tally.made for part in parts)
    return {
        "step": float(frame.step),
        "rows": float(frame.problem.n),
        "tight": float(np.mean(~free & (lower < upper))),
        "active": float(np.mean(free)),
        "outer": max(part.outer for part in parts),
        "outer_sum": sum(part.outer for part in parts),
        "inner": slowest.inner,
        "inner_sum": sum(part.inner for part in parts),
        "slowest_rows": float(slowest.result.problem.n),
        "frame_seconds": sum(part.seconds for part in parts),
        "factors": float(made),
        "imaginary": slowest.tally.imaginary / slowest.tally.columns if slowest.tally.columns else 0.0,
        "shifts": sum(part.tally.shifts for part in parts) / made if made else 0.0,
        "solved": float(all(part.result.status in RIGHT_SETS for part in parts)),
        "residual": judged.residual,
        "objective": judged.objective if judged.objective is not None else np.nan,
        "energy_mean": judged.energy_mean if judged.energy_mean is not None else np.nan,
        "energy_max": judged.energy_max if judged.energy_max is not None else np.nan,
    }


def _make_method(task: Task, tally: Tally) -> Method:
    options = dict(task.options)
    if "preconditioner" in options:
        options["preconditioner"] = MeteredRecipe(read_recipe(options["preconditioner"]), tally)
    return make_method(task.method, options)
