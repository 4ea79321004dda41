"""Works on random and on small LCPs (SLIDES).

`sequence`: LCPs of increasing size by one method (basic and intermediate programming);

    {"sequence": "dense_pd", "sizes": [4, 8, 16], "seed": 0, "options": {...}}

names a kind of the gallery, or "gaussian": every entry of A and b drawn from the normal distribution, A of no class.
`solutions`: the solutions of small problems, counted by looking at every index set ('Guessing a solution').
`error_curve`: how the error of an iterate, its distance to the true solution, falls from iteration to iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from perp.lab.runs.row import DONE, Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import Instance, chosen_method, fingerprint, gallery, make_instance
from perp.lab.work.solve import WARM_ITERATIONS, free_share
from perp.problems.inputs import Vector
from perp.problems.lcp import LCP
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.pivoting.all_solutions import enumerate_solutions
from perp.solvers.results import Status

GAUSSIAN = "gaussian"


def sequence(kind: str, sizes: Sequence[int], seed: int = 0, **options: Any) -> dict[str, Any]:
    """The recipe of a sequence."""
    return {"sequence": kind, "sizes": list(sizes), "seed": seed, "options": options}


def sequence_task(instance: Mapping[str, Any], method: str, stop: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work; `arguments` may have `repeats`: solve so often, and keep the fastest."""
    return Task("sequence", instance, method, stop=stop, **others)


def perform_sequence(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry a size: n, solved (1 or 0), iterations, seconds (preparation included), residual, active,
    and `error`, the largest |x_i - x*_i| against the solution x* that the problem was made from (nan without one).

    CONVERGED where every problem was solved; otherwise DONE.
    """
    method, stop = chosen_method(task.method, task.options), task.stopping
    lines = []
    problem = ""
    for n in task.instance["sizes"]:
        instance = draw(task.instance, n)
        solve(instance.problem, method, stop=replace(stop, max_iterations=WARM_ITERATIONS, max_seconds=None))
        results = [solve(instance.problem, method, stop=stop) for _ in range(task.arguments.get("repeats", 1))]
        best = min(results, key=lambda result: result.setup_seconds + result.seconds)
        lines.append(
            {
                "n": float(n),
                "solved": float(best.success),
                "iterations": float(best.iterations),
                "seconds": best.setup_seconds + best.seconds,
                "residual": best.residual,
                "active": free_share(instance.problem, best.x),
                "error": nan if instance.x is None else float(np.abs(best.x - instance.x).max()),
                "backend_iterations": float(best.history.counters.get("backend_iterations", [nan])[-1]),
            }
        )
        problem = fingerprint(instance.problem)
    columns = {name: np.array([line[name] for line in lines]) for name in lines[0]}
    numbers = {
        "residual": float(columns["residual"].max()),
        "iterations": float(columns["iterations"].sum()),
        "seconds": float(columns["seconds"].sum()),
        "setup_seconds": 0.0,
        "active": float(columns["active"].mean()),
        "solved_share": float(columns["solved"].mean()),
    }
    status = Status.CONVERGED.name if columns["solved"].all() else DONE
    return Measurement(status, n=int(columns["n"][-1]), problem=problem, numbers=numbers, series=columns)


def draw(recipe: Mapping[str, Any], n: int) -> Instance:
    """The problem of one size of a sequence."""
    if recipe["sequence"] != GAUSSIAN:
        return make_instance(gallery(recipe["sequence"], n, recipe["seed"], **recipe["options"]))
    rng = np.random.default_rng([recipe["seed"], n])
    return Instance(LCP(rng.standard_normal((n, n)), rng.standard_normal(n)))


def solutions_task(problems: Sequence[Mapping[str, Any]], **others: Any) -> Task:
    """A task of this work: `problems` are recipes of problems, or of sequences of a single size."""
    return Task("solutions", {"problems": list(problems)}, **others)


def perform_solutions(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry a problem: n, index_sets, seconds, isolated solutions, families of them (each infinite).

    The first problem is enumerated once more beforehand, so that its time is not that of loading kernels.
    """
    problems = [_make(recipe, folder) for recipe in task.instance["problems"]]
    enumerate_solutions(problems[0])
    lines = []
    for problem in problems:
        begun = perf_counter()
        found = enumerate_solutions(problem)
        seconds = perf_counter() - begun
        lines.append((problem.n, found.index_sets, seconds, len(found.isolated), len(found.families)))
    names = ("n", "index_sets", "seconds", "isolated", "families")
    columns = {
        name: np.array(column, dtype=np.float64) for name, column in zip(names, zip(*lines, strict=True), strict=True)
    }
    numbers = {"seconds": float(columns["seconds"].sum())}
    last = problems[-1]
    return Measurement(DONE, n=last.n, problem=fingerprint(last), numbers=numbers, series=columns)


def _make(recipe: Mapping[str, Any], folder: Path | None) -> Problem:
    if "sequence" in recipe:
        return draw(recipe, recipe["sizes"][0]).problem
    return make_instance(recipe, folder).problem


def error_curve_task(instance: Mapping[str, Any], method: str, stop: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work, on a problem whose solution is known.

    `arguments` may have `tolerances` for `quadratic_program`, whose iterates cannot be seen: it is called once for
    each, and the answers are taken for the iterates at as many iterations as the call took.
    """
    return Task("error_curve", instance, method, stop=stop, **others)


def perform_error_curve(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry an iteration, the start first: iteration, residual, error = max |x_i - x*_i|, and the
    objective 1/2 x^T A x + b^T x. `rise` is the most by which the objective rose in one iteration, as a share of its
    range: a step that leads nowhere but down has one of the order of rounding errors."""
    instance = make_instance(task.instance, folder)
    if instance.x is None:
        raise ValueError(f"the solution of {task.instance} is not known, so that no error can be measured")
    measure = _ladder if "tolerances" in task.arguments else _curve
    return measure(task, instance.problem, instance.x)


def _curve(task: Task, problem: Problem, truth: Vector) -> Measurement:
    lines: list[tuple[float, ...]] = []

    def note(progress: Progress) -> None:
        error = float(np.abs(progress.x - truth).max())
        lines.append((progress.iteration, progress.residual, error, objective(problem, progress.x)))

    stop = replace(task.stopping, check_every=1)
    result = solve(problem, chosen_method(task.method, task.options), stop=stop, callback=note)
    columns = _columns(lines)
    numbers = {
        "residual": result.residual,
        "error": float(columns["error"][-1]),
        "iterations": float(result.iterations),
        "seconds": result.seconds,
        "setup_seconds": result.setup_seconds,
        "active": free_share(problem, result.x),
        "rise": _rise(columns["objective"]),
    }
    return Measurement(result.status.name, result.message, problem.n, fingerprint(problem), numbers, columns)


def _ladder(task: Task, problem: Problem, truth: Vector) -> Measurement:
    start = problem.project(np.zeros(problem.n))
    lines: list[tuple[float, ...]] = [(0.0, nan, float(np.abs(start - truth).max()), objective(problem, start))]
    for tolerance in task.arguments["tolerances"]:
        method = chosen_method(task.method, {**task.options, "tolerance": tolerance})
        result = solve(problem, method, stop=replace(task.stopping, tol=0.0, max_iterations=1))
        iterations = float(result.history.counters["backend_iterations"][-1])
        if iterations > lines[-1][0]:  # two tolerances may be met by the same iterate
            error = float(np.abs(result.x - truth).max())
            lines.append((iterations, result.residual, error, objective(problem, result.x)))
    columns = _columns(lines)
    numbers = {
        "residual": float(columns["residual"][-1]),
        "error": float(columns["error"][-1]),
        "iterations": float(columns["iteration"][-1]),
        "active": free_share(problem, result.x),
    }
    return Measurement(DONE, "", problem.n, fingerprint(problem), numbers, columns)


def objective(problem: Problem, x: Vector) -> float:
    """f(x) = 1/2 x^T A x + b^T x = 1/2 x^T (y + b) with y = A x + b."""
    return 0.5 * float(x @ (problem.slack(x) + problem.b))


def _columns(lines: list[tuple[float, ...]]) -> dict[str, Column]:
    names = ("iteration", "residual", "error", "objective")
    return dict(zip(names, np.array(lines, dtype=np.float64).T, strict=True))


def _rise(values: Column) -> float:
    spread = float(np.ptp(values))
    return float(np.diff(values).max(initial=0.0)) / spread if spread > 0.0 else 0.0
