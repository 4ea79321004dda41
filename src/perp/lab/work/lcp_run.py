"""Take a scene through many steps, each step's contacts stated as an LCP (SLIDES, advanced programming).

`statement` is "frictionless" (the normals alone, `perp.frictionless`), "stewart_trinkle" (NOTES eq. 27), or "contact",
where the method gets the contact problem as the world makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perp.lab.runs.row import Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import make_scene, make_solver
from perp.lab.work.simulate import measure_run
from perp.problems.inputs import Vector
from perp.problems.models.frictionless import frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.simulation import simulate
from perp.worlds.world import Solve

STATEMENTS = {"frictionless": frictionless, "stewart_trinkle": stewart_trinkle}


@dataclass(frozen=True)
class Impulses:
    """What a step takes of an answer to another problem."""

    x: Vector
    iterations: int
    success: bool


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps` and `statement`. The residual of a step is that of the contact problem, for all alike."""
    made = make_scene(task.instance)
    solver = stated_as(task.arguments["statement"], make_solver(task.method, task.options, task.stop))
    return measure_run(simulate(made, task.arguments["steps"], method=solver))


def lcp_run_task(
    instance: Mapping[str, Any], method: str, stop: Mapping[str, Any], *, steps: int, statement: str, **others: Any
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("lcp_run", instance, method, stop=stop, arguments={"steps": steps, "statement": statement}, **others)


def stated_as(statement: str, solve: Solve) -> Solve:
    """`solve(problem, x0)` for contact problems, by a solver that gets them stated so."""
    if statement == "contact":
        return solve
    if statement not in STATEMENTS:
        raise ValueError(f"statement is {statement!r}, not one of {', '.join(STATEMENTS)}, contact")
    state = STATEMENTS[statement]

    def solve_stated(problem: Any, x0: Vector | None) -> Impulses:
        stated = state(problem)
        answer: Any = solve(stated, None if x0 is None else stated.unknowns(x0))
        return Impulses(stated.impulses(answer), answer.iterations, answer.success)

    return solve_stated
