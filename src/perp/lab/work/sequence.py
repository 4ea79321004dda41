"""Solve a sequence of random LCPs of increasing size by one method (SLIDES, basic and intermediate programming).

    {"sequence": "dense_pd", "sizes": [4, 8, 16], "seed": 0, "options": {...}}

names a kind of the gallery, or "gaussian": every entry of A and b drawn from the normal distribution, A of no class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import Instance, chosen_method, fingerprint, gallery, make_instance
from perp.lab.work.solve import WARM_ITERATIONS, free_share
from perp.problems.lcp import LCP
from perp.solvers.api import solve
from perp.solvers.results.status import Status

GAUSSIAN = "gaussian"


def sequence(kind: str, sizes: Sequence[int], seed: int = 0, **options: Any) -> dict[str, Any]:
    """The recipe of a sequence."""
    return {"sequence": kind, "sizes": list(sizes), "seed": seed, "options": options}


def sequence_task(instance: Mapping[str, Any], method: str, stop: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work; `arguments` may have `repeats`: solve so often, and keep the fastest."""
    return Task("sequence", instance, method, stop=stop, **others)


def perform(task: Task, folder: Path | None) -> Measurement:
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
