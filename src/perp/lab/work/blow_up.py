"""Take a scene that only rests or falls through many steps, every solve cold: does its energy explode?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.pgs_units import PRINTED
from perp.lab.work.printed_pgs_sm import Ledger, PrintedPGSSM
from perp.lab.work.recipes import make_scene, make_solver
from perp.lab.work.simulate import measure_run
from perp.lab.work.touching_rows import EQUATION_3, solve_touching
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.simulation import simulate
from perp.solvers.api import solve
from perp.solvers.stopping import Stopping
from perp.worlds.report import StepReport
from perp.worlds.world import Solve

GAIN = 0.1
"""Nothing in these scenes brings energy in: a total above the first one by more than this share of it is a blow-up."""

HOPELESS = 1.0
"""A gain by this share ends the run: nothing is learnt from what bodies do after an explosion."""

BLOWN_UP = "BLOWN_UP"


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps`, and `form`, that of the problems (`touching_rows`).

    Numbers beside those of `simulate`: `blown_up` (1 or 0), `blow_up_step` (nan where there was none), `gain` (the
    largest energy over that of the start, less 1) and `way` (how far bodies went on the average [m]).
    """
    made = make_scene(task.instance)
    world, start = made.world, made.world.bodies()[0]
    first = world.energy()
    solver = cold(make_any_solver(task))
    if task.arguments["form"] == EQUATION_3:
        solver = solve_touching(world, made.dt, solver)

    def guard(report: StepReport, measured: Mapping[str, float]) -> None:
        if not measured["energy"] <= first + HOPELESS * abs(first):
            raise StopIteration

    result = simulate(made, task.arguments["steps"], method=solver, callback=guard)
    found = measure_run(result)
    energy = found.series["energy"]
    gains = (energy - first) / abs(first)
    over = np.flatnonzero(~(gains <= GAIN))
    blown = bool(over.size) or result.failed_step is not None
    step = float(over[0] + 1) if over.size else float(result.failed_step) if result.failed_step else nan
    numbers = dict(found.numbers) | {
        "blown_up": float(blown),
        "blow_up_step": step,
        "gain": float(np.max(gains, initial=0.0)) if result.failed_step is None else nan,
        "way": float(np.mean(np.linalg.norm(world.bodies()[0] - start, axis=1))),
    }
    told = {name: found.series[name] for name in ("energy", "residual", "penetration", "iterations")}
    return replace(found, status=BLOWN_UP if blown else DONE, numbers=numbers, series=told)


def blow_up_task(
    instance: Mapping[str, Any], method: str, *, steps: int, form: str, stop: Mapping[str, Any], **others: Any
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("blow_up", instance, method, stop=stop, arguments={"steps": steps, "form": form}, **others)


def cold(solver: Solve) -> Solve:
    """The same, from zero in every step: PGS-SM speaks of no warm start."""
    return lambda problem, x0: solver(problem, None)


def make_any_solver(task: Task) -> Solve:
    """By a method of the roster, or by the printed PGS-SM."""
    if task.method != PRINTED:
        return make_solver(task.method, task.options, task.stop)
    stopping = Stopping(**task.stop)

    def take(problem: Problem, x0: Vector | None) -> Any:
        return solve(problem, PrintedPGSSM(**task.options, ledger=Ledger()), x0=x0, stop=stopping)

    return take
