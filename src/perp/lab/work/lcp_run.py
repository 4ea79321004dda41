"""Take a scene through many steps, each step's contacts stated as an LCP (SLIDES, advanced programming).

`statement` is "frictionless" (the normals alone, `perp.frictionless`), "stewart_trinkle" (NOTES eq. 27), or "contact",
where the method gets the contact problem as the world makes it. `spectrum` has the eigenvalues of the matrix that each
step poses, its symmetry, and how open its impulses are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import fingerprint, make_scene, make_solver
from perp.lab.work.simulate import measure_run
from perp.problems.inputs import Matrix, Vector
from perp.problems.models.restatement import frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.simulation import simulate
from perp.solvers.api import solve
from perp.worlds.world import Solve

STATEMENTS = {"frictionless": frictionless, "stewart_trinkle": stewart_trinkle}

ZERO = 1e-10
"""An eigenvalue below this share of the largest counts as zero."""


@dataclass(frozen=True)
class Impulses:
    """What a step takes of an answer to another problem."""

    x: Vector
    iterations: int
    success: bool


def perform_lcp_run(task: Task, folder: Path | None) -> Measurement:
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


def spectrum_task(
    instance: Mapping[str, Any],
    lead: Mapping[str, Any],
    *,
    steps: int,
    every: int,
    statement: str,
    witnesses: Sequence[str] = (),
    whole: Sequence[int] = (),
    **others: Any,
) -> Task:
    """A task of this work. The `lead` (method, options, stop) takes the contact problems of all steps; the matrix is
    looked at in every `every`-th step, and its spectrum is kept whole in the steps `whole`. Two `witnesses`, methods,
    solve these problems as stated."""
    arguments = {
        "steps": steps,
        "every": every,
        "statement": statement,
        "witnesses": list(witnesses),
        "whole": list(whole),
        "lead_statement": lead.get("statement", "contact"),
    }
    return Task(
        "spectrum",
        instance,
        lead["method"],
        options=lead.get("options", {}),
        stop=lead.get("stop", {}),
        arguments=arguments,
        **others,
    )


def perform_spectrum(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry a look: step, rows (of the stated problem), asymmetry max |A - A^T| / max |A|, least and
    greatest eigenvalue (of the symmetric part, where A is not symmetric), how many are zero and how many negative, the
    `condition` number of those above zero, zero_diagonal (the share of rows with A_ii = 0); and, from the witnesses,
    `impulse_gap`, the largest difference of their x over the largest x, `motion_gap`, the same of their y over the
    largest |b|, `active` and `active_zeros`, the rows in which the first has x > 0 and the zero eigenvalues of A in
    these rows alone, and `both_solved`. The whole spectra are the columns spectrum_<step>.
    """
    asked = task.arguments
    made = make_scene(task.instance)
    take = stated_as(asked["lead_statement"], make_solver(task.method, task.options, task.stop))
    lines: list[dict[str, float]] = []
    spectra: dict[str, NDArray[np.float64]] = {}
    last = None
    for step in range(1, asked["steps"] + 1):
        report = made.world.step(made.dt, take)
        if (step % asked["every"] and step not in asked["whole"]) or report.problem.n == 0:
            continue
        last = STATEMENTS[asked["statement"]](report.problem)
        A = last.A.to_dense()
        values = eigenvalues(A)
        lines.append({"step": float(step), **describe(A, values), **_compare(last, A, asked["witnesses"])})
        if step in asked["whole"]:
            spectra[f"spectrum_{step}"] = values
    if last is None:
        raise ValueError(f"no step of {task.instance} that was looked at has a contact")
    columns = {name: np.array([line[name] for line in lines]) for name in lines[0]}
    return Measurement(
        DONE,
        n=int(columns["rows"].max()),
        problem=fingerprint(last),
        numbers={"looks": float(len(lines))},
        series={**columns, **spectra},
    )


def eigenvalues(A: Matrix) -> Vector:
    """Of the symmetric part of A, from the least on: x^T A x knows no other part."""
    values: Vector = np.linalg.eigvalsh(0.5 * (A + A.T)).astype(np.float64)
    return values


def describe(A: Matrix, values: Vector) -> dict[str, float]:
    """What the spectrum of A says."""
    largest = float(np.abs(values).max())
    positive = values[values > ZERO * largest]
    return {
        "rows": float(values.size),
        "asymmetry": float(np.abs(A - A.T).max() / np.abs(A).max()),
        "least": float(values[0]),
        "greatest": float(values[-1]),
        "zeros": _count_zeros(values),
        "negative": float(np.sum(values < -ZERO * largest)),
        "condition": float(positive[-1] / positive[0]) if positive.size else nan,
        "zero_diagonal": float(np.mean(np.diagonal(A) == 0.0)),
    }


def _compare(problem: Any, A: Matrix, witnesses: Sequence[str]) -> dict[str, float]:
    if len(witnesses) != 2:
        return dict.fromkeys(("impulse_gap", "motion_gap", "active", "active_zeros", "both_solved"), nan)
    first, second = (solve(problem, method, tol=1e-10) for method in witnesses)
    pushed = max(float(np.abs(problem.b).max()), np.finfo(float).tiny)
    size = max(float(np.abs(first.x).max()), np.finfo(float).tiny)
    active = first.x > ZERO * size
    return {
        "impulse_gap": float(np.abs(first.x - second.x).max()) / size,
        "motion_gap": float(np.abs(first.y - second.y).max()) / pushed,
        "active": float(active.sum()),
        "active_zeros": _count_zeros(eigenvalues(A[np.ix_(active, active)])),
        "both_solved": float(first.success and second.success),
    }


def _count_zeros(values: Vector) -> float:
    return float(np.sum(np.abs(values) <= ZERO * np.abs(values).max(initial=0.0)))
