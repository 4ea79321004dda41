"""The problem of one step of a simulation, sweep by sweep: RES after each, and what the sweeps that it takes cost.

RES is the 2-norm of the natural map, for an LCP |min(x, A x + b)| (AMGS eq. 24).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from perp.lab.runs.row import Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import fingerprint, make_instance
from perp.lab.work.solve import free_share
from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.lcp import LCP
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.frictionless import frictionless
from perp.problems.problem import Problem
from perp.problems.residuals import verify
from perp.solvers.method import Method, State
from perp.solvers.results.status import Status
from perp.solvers.roster import make_method
from perp.solvers.splitting.gauss_seidel import PGS

FACTORED, DENSE, SPARSE = "factored", "dense", "sparse"
"""Forms of A: J M^-1 J^T never multiplied out (AMGS Method 3.1), or explicit (Method 2.2)."""

AS_IT_IS, NORMALS, SHIFTED_BOX = "as it is", "normals", "shifted box"
"""What becomes of the tangents: bounds that follow the newest normal impulse; left out, which makes an LCP; or bounds
that the normal impulses of the start fix, with unknowns shifted so that all lower bounds are 0 (AMGS section 3.1)."""

ALL_KEPT, GROWTH = 200, 1.02
"""Of the first sweeps RES is kept after each; of later ones after each that is so many times as late as the last."""


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `sweeps`, at most so many; `until`, the RES below which they end (0: none); `form` of A;
    `restate`, as what the problem is solved; `repeats`, how often the sweeps are timed (0: not at all)."""
    asked = task.arguments
    instance = make_instance(task.instance, folder)
    assert isinstance(instance.problem, ContactProblem)
    impulses = np.zeros(instance.problem.n) if instance.x0 is None else instance.x0
    problem, start = restate(instance.problem, impulses, asked["restate"])
    method = make_method(task.method, dict(task.options))
    explicit = in_form(problem, asked["form"])
    iteration, res, x = sweep_until(explicit, method, start, asked["sweeps"], asked["until"])
    reached = bool(res[-1] < asked["until"])
    lower, upper = problem.bounds(x)
    numbers = {
        "residual": verify(problem, x).residual,
        "res": float(res[-1]),
        "iterations": float(iteration[-1]),
        "active": free_share(problem, x),
        "warm": float(instance.x0 is not None),
        "at_upper": float(np.sum((lower < upper) & (x >= upper))),
    }
    if asked["repeats"]:
        numbers |= time_sweeps(problem, asked["form"], method, start, int(iteration[-1]), asked["repeats"])
    return Measurement(
        status=(Status.CONVERGED if reached else Status.ITERATION_LIMIT).name,
        n=problem.n,
        problem=fingerprint(problem),
        numbers=numbers,
        series={"iteration": iteration, "res": res},
    )


def amgs_step_task(
    instance: Mapping[str, Any],
    method: str,
    *,
    sweeps: int,
    until: float = 0.0,
    form: str = FACTORED,
    restate: str = AS_IT_IS,
    repeats: int = 0,
    **others: Any,
) -> Task:
    """A task of this work; `others` are further fields of `Task`. Where `repeats` is given, the task is timed."""
    arguments = {
        "sweeps": sweeps,
        "until": until,
        "form": form,
        "restate": restate,
        "repeats": repeats,
    }
    return Task("amgs_step", instance, method, arguments=arguments, timed=repeats > 0, **others)


def restate(problem: ContactProblem, impulses: Vector, law: str) -> tuple[Problem, Vector]:
    """The problem under that law, and the impulses as a start within its bounds."""
    if law == AS_IT_IS:
        return problem, problem.project(impulses)
    if law == NORMALS:
        normals = frictionless(problem)
        return normals, normals.unknowns(impulses)
    box = fixed_box(problem, impulses[problem.normal_rows])
    shift = np.where(np.isfinite(box.lower), box.lower, 0.0)
    shifted = BoxLCP(box.A, box.slack(shift), box.lower - shift, box.upper - shift)
    return shifted, shifted.project(impulses - shift)


def in_form(problem: Problem, form: str) -> Problem:
    """The same problem with A in that form."""
    if form == FACTORED:
        return problem
    assert problem.A.factored is not None
    assert problem.kind == "lcp"
    return LCP(problem.A.to_dense() if form == DENSE else problem.A.to_sparse(), problem.b)


def sweep_until(
    problem: Problem, method: Method, start: Vector, sweeps: int, until: float
) -> tuple[Column, Column, Vector]:
    """Sweep numbers, RES after each of them (both thinned), and the last x."""
    state: State = method.start(problem, start.copy())
    iterations, measured = [0], [verify(problem, state.x).natural_2]
    res, next_kept = measured[0], 1
    done = 0
    while done < sweeps and not res < until:
        method.step(problem, state, 1)
        done += 1
        res = verify(problem, state.x).natural_2
        if done >= next_kept or res < until or done == sweeps:
            iterations.append(done)
            measured.append(res)
            next_kept = done + 1 if done < ALL_KEPT else int(GROWTH * done) + 1
    return np.array(iterations, dtype=np.float64), np.array(measured), state.x


def time_sweeps(
    problem: Problem, form: str, method: Method, start: Vector, sweeps: int, repeats: int
) -> dict[str, float]:
    """Seconds of making A explicit and of preparing (`setup_seconds`), and of that many sweeps without a look at x.

    As many sweeps of projected Gauss-Seidel are timed by turns with them (`pgs_seconds`, its preparation included):
    what slows the machine down slows both. Each is the least of the repeats.
    """
    setups, sweepings, references = [], [], []
    for _ in range(repeats):
        clock = perf_counter()
        fresh = in_form(problem, form)
        state = method.start(fresh, start.copy())
        prepared = perf_counter()
        method.step(fresh, state, sweeps)
        done = perf_counter()
        pgs = PGS()
        pgs.step(problem, pgs.start(problem, start.copy()), sweeps)
        references.append(perf_counter() - done)
        sweepings.append(done - prepared)
        setups.append(prepared - clock)
    return {"setup_seconds": min(setups), "seconds": min(sweepings), "pgs_seconds": min(references)}
