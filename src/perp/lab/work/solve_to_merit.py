"""Solve by the criteria of NOTES section 6: a merit function of the paper decides, not the natural map.

    theta(x) < absolute                              (NOTES eq. 107)  -> CONVERGED
    |theta - theta before| < relative theta before   (NOTES eq. 108)  -> RELATIVE, if theta has changed at all

All other endings are those of the method and of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.measurement import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.num4lcp_problems import make_num4lcp
from perp.lab.work.recipes import chosen_method, make_instance
from perp.lab.work.solve import measure_result
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.result import Result
from perp.solvers.status import Status
from perp.solvers.stopping import Stopping

STARTER = "pgs"
"""What warms up."""

FARTHEST = 10.0
"""Entries of a random start lie between zero and this: ten times the largest of a planted solution."""


def modified(x: Vector, y: Vector) -> float:
    """x^T |y| (NOTES eq. 106), of PGS and PSOR. It is zero at x = 0, whatever y is."""
    return float(np.sum(x * np.abs(y)))


def fischer(x: Vector, y: Vector) -> float:
    """1/2 F^T F with F = sqrt(x^2 + y^2) - x - y (NOTES eq. 96)."""
    F = np.hypot(x, y) - x - y
    return 0.5 * float(np.sum(F * F))


def minimum_map(x: Vector, y: Vector) -> float:
    """1/2 H^T H with H = min(x, y) (NOTES eq. 65)."""
    H = np.minimum(x, y)
    return 0.5 * float(np.sum(H * H))


MERITS: dict[str, Callable[[Vector, Vector], float]] = {
    "modified": modified,
    "fischer": fischer,
    "minimum_map": minimum_map,
}


@dataclass
class Judge:
    """A callback that ends a solve when theta says so."""

    problem: Problem
    merit: str
    absolute: float
    relative: float
    merits: list[float] = field(default_factory=list)
    ending: Status | None = None

    def __call__(self, progress: Progress) -> None:
        theta = MERITS[self.merit](progress.x, self.problem.slack(progress.x))
        before = self.merits[-1] if self.merits else inf
        self.merits.append(theta)
        if self.merit == "modified" and progress.iteration == 0:
            self.merits[-1] = inf  # at x = 0 it says nothing
        elif theta < self.absolute:
            self.ending = Status.CONVERGED
        elif before < inf and 0.0 < abs(theta - before) < self.relative * before:
            self.ending = Status.RELATIVE  # where x has not moved at all, the method or the loop says why
        if self.ending is not None:
            raise StopIteration


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `merit` is "modified", "fischer" or "minimum_map"; `absolute` and `relative` are the tolerances.

    `warm_up` iterations of PGS lead to the start, and take `warm_up_seconds`; `start` is "zero" (the default) or "far":
    anywhere between zero and ten. With `gradient_steps` False a run of Fischer's method counts only up to its first
    step down the gradient, where it ends as NON_DESCENT: num4lcp takes no such steps.
    """
    asked = task.arguments
    is_published = "num4lcp" in task.instance
    problem = make_num4lcp(task.instance) if is_published else make_instance(task.instance, folder).problem
    method, stop = chosen_method(task.method, task.options), task.stopping
    x0, warm_up_seconds = _start(problem, asked, task.seed)
    solve(problem, method, x0=x0, stop=replace(stop, max_iterations=1))  # loads the compiled kernels
    judge = Judge(problem, asked["merit"], asked["absolute"], asked["relative"])
    result = solve(problem, method, x0=x0, stop=stop, callback=judge)
    return measure_ending(result, judge, warm_up_seconds, cut=not asked.get("gradient_steps", True))


def solve_to_merit_task(
    instance: Mapping[str, Any],
    method: str,
    *,
    merit: str,
    absolute: float,
    relative: float,
    max_iterations: int,
    arguments: Mapping[str, Any] | None = None,
    **others: Any,
) -> Task:
    """A task of this work: `arguments` are what `perform` knows beside the criteria, `others` fields of `Task`."""
    stop = {"tol": 0.0, "max_iterations": max_iterations, "check_every": 1, "keep": "last"}
    asked = {"merit": merit, "absolute": absolute, "relative": relative, **(arguments or {})}
    return Task("solve_to_merit", instance, method, stop=stop, arguments=asked, **others)


def measure_ending(result: Result, judge: Judge, warm_up_seconds: float, *, cut: bool) -> Measurement:
    """What `work.solve` measures, and theta; cut off where a gradient step would begin."""
    found = measure_result(result)
    theta = np.asarray(judge.merits)
    status = judge.ending.name if judge.ending is not None else found.status
    message = judge.ending.value if judge.ending is not None else found.message
    numbers = dict(found.numbers) | {"merit": theta[-1], "warm_up_seconds": warm_up_seconds}
    series = dict(found.series)
    if len(series["iteration"]) == theta.size:
        series["theta"] = theta
    taken = series.get("gradient_steps", np.zeros(0))
    if cut and np.any(taken > 0.0):
        last = int(np.argmax(taken > 0.0)) - 1
        status, message = Status.NON_DESCENT.name, "the next step would have gone down the gradient"
        series = {name: column[: last + 1] for name, column in series.items()}
        share = (last + 1) / theta.size
        numbers |= {
            "merit": theta[last],
            "iterations": series["iteration"][-1],
            "residual": series["residual"][-1],
            "natural": series["residual"][-1],
            "active": series["active"][-1] / result.problem.n,
            "seconds": numbers["seconds"] * share,
        }
    return replace(found, status=status, message=message, numbers=numbers, series=series)


def _start(problem: Problem, asked: Mapping[str, Any], seed: int) -> tuple[Vector | None, float]:
    """Where the solve begins, and what it took to get there."""
    x0 = None
    if asked.get("start", "zero") == "far":
        x0 = np.random.default_rng(seed).uniform(0.0, FARTHEST, problem.n)
    iterations = asked.get("warm_up", 0)
    if not iterations:
        return x0, 0.0
    stop = Stopping(tol=0.0, max_iterations=iterations, keep="last")
    solve(problem, STARTER, x0=x0, stop=stop)
    warm = solve(problem, STARTER, x0=x0, stop=stop)
    return warm.x, warm.setup_seconds + warm.seconds
