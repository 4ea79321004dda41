"""A simulation in which each step is swept a fixed number of times, whatever the residual: RES after each step.

RES is the 2-norm of the natural map (AMGS eq. 24). With `adapt` alpha is chosen while the simulation runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import make_scene, make_solver
from perp.lab.work.simulate import measure_run
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import verify
from perp.simulation import simulate
from perp.solvers.results.result import Result
from perp.worlds.world import Solve, World

KEPT = ("rows", "energy", "penetration")
"""Columns of the run that a row keeps beside RES."""

LONGEST_FALL = 100
"""Steps within which bodies touch: the kernels are loaded before the clock runs."""


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps`, `sweeps` a step, and `adapt`: None, or the fields of `TrialAlpha`."""
    made = make_scene(task.instance)
    adapt, stop = task.arguments["adapt"], sweeps_only(task.arguments["sweeps"])
    solver: Solve
    if adapt is None:
        solver = make_solver(task.method, task.options, stop)
    else:
        solver = TrialAlpha(task.method, dict(task.options), stop, **adapt)
    _load_kernels(copy(made.world), made.dt, make_solver(task.method, task.options, stop))
    res: list[float] = []
    alpha: list[float] = []

    def look(report: Any, measured: Mapping[str, float]) -> None:
        res.append(report.residuals.natural_2)
        if isinstance(solver, TrialAlpha):
            alpha.append(solver.alpha)

    result = simulate(made, task.arguments["steps"], method=solver, callback=look)
    found = measure_run(result)
    trials = solver.sweeps if isinstance(solver, TrialAlpha) else 0
    numbers = {
        "sweeps": found.numbers["iterations"] + trials,
        "row_sweeps": float(np.sum(result.statistics["rows"] * result.statistics["iterations"])),
        "step_seconds": float(np.sum(result.statistics["seconds"])),
        "seconds": float(np.sum(result.statistics["solve_seconds"])),
        "contacts": float(np.mean(result.statistics["contacts"])) if result.steps else np.nan,
    }
    series = {name: found.series[name] for name in KEPT} | {"res": np.array(res)}
    if alpha:
        series["alpha"] = np.array(alpha)
    return replace(found, numbers={**found.numbers, **numbers}, series=series)


def amgs_run_task(
    instance: Mapping[str, Any],
    method: str,
    *,
    steps: int,
    sweeps: int,
    adapt: Mapping[str, Any] | None = None,
    **others: Any,
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("amgs_run", instance, method, arguments={"steps": steps, "sweeps": sweeps, "adapt": adapt}, **others)


def sweeps_only(sweeps: int) -> dict[str, Any]:
    """The stop preset of AMGS section 5: so many sweeps, and the last x is the answer."""
    return {"tol": 0.0, "max_iterations": sweeps, "check_every": sweeps, "keep": "last"}


@dataclass
class TrialAlpha:
    """`solve(problem, x0)` that tries a neighbour of alpha now and then, and keeps it where it does better.

    Every `every`-th step is solved twice from the same x0: with alpha, and with alpha times or divided by `factor`, by
    turns. The better answer is taken, and its alpha is the one of the steps to come; a trial that wins is followed by
    one in the same direction. Better is a smaller `measure`: RES ("natural_2"), or the "objective" 1/2 x^T A x + b^T x,
    which sweeps make smaller (NOTES eq. 21).
    """

    method: str
    options: Mapping[str, Any]
    stop: Mapping[str, Any]
    every: int
    factor: float
    lowest: float
    highest: float
    measure: str
    upwards: bool = False
    steps: int = 0
    sweeps: int = 0
    """Spent on trials."""
    solvers: dict[float, Solve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alpha: float = float(self.options["alpha"])

    def __call__(self, problem: Problem, x0: Vector | None) -> Result:
        self.steps += 1
        found = self._solve(self.alpha, problem, x0)
        if problem.n == 0 or self.steps % self.every:
            return found
        trial = self._neighbour()
        other = self._solve(trial, problem, x0)
        self.sweeps += other.iterations
        if self._value(problem, other) < self._value(problem, found):
            self.alpha = trial
            return other
        self.upwards = not self.upwards
        return found

    def _value(self, problem: Problem, answer: Result) -> float:
        return float(getattr(verify(problem, answer.x), self.measure))

    def _neighbour(self) -> float:
        wanted = self.alpha * self.factor if self.upwards else self.alpha / self.factor
        return min(max(wanted, self.lowest), self.highest)

    def _solve(self, alpha: float, problem: Problem, x0: Vector | None) -> Result:
        if alpha not in self.solvers:
            self.solvers[alpha] = make_solver(self.method, {**self.options, "alpha": alpha}, self.stop)
        answer = self.solvers[alpha](problem, None if x0 is None else x0.copy())
        assert isinstance(answer, Result)
        return answer


def _load_kernels(world: World, dt: float, solver: Solve) -> None:
    """Take a copy of the world to the first step in which something touches."""
    for _ in range(LONGEST_FALL):
        if world.step(dt, solver).problem.n:
            return
