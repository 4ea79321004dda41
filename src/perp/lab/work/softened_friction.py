"""A scene whose friction is softened for good where it pivots often (THESIS 5.4, Algorithm 9): how much more slips.

`block_principal` takes its softening back once the index sets are right, so that its answer is that of the problem
asked. The THESIS moves the bodies with the answer to the softened problem, and so does this work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.contact_frames import FixedBoxLead, solve_exactly
from perp.lab.work.recipes import make_scene
from perp.problems.box import BoxLCP
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.pivoting.block_principal import BlockPrincipal
from perp.solvers.results.result import Result

LOADED = 1e-9
"""A contact counts as loaded where its normal impulse is above this share of the largest."""


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps`, `dt`, `pivot_limit` (None: no softening), `share` of A_ii that
    is added each time, `most_pivots` a step.

    `slip` is the mean speed of loaded contacts along the surface [m/s], `softened` the mean share of rows with a shift.
    """
    asked = task.arguments
    made = make_scene(task.instance)
    dt = asked["dt"] or made.dt
    shifts: list[Vector] = []

    def answer(problem: Problem, start: Vector) -> Result:
        shift = find_shifts(problem, start, asked["pivot_limit"], asked["share"], asked["most_pivots"])
        shifts.append(shift)
        return solve_exactly(soften(problem, shift))

    lead = FixedBoxLead(made.world, dt, answer)
    slips, travel = [], []
    for step in range(1, asked["steps"] + 1):
        lead.take_step(step)
        slips.append(lead.slip(LOADED))
        travel.append(made.world.bodies()[0][-1].copy())
    slip = np.array(slips)
    path = np.array(travel)
    touching = np.isfinite(slip)
    return Measurement(
        DONE,
        n=max(shift.size for shift in shifts),
        numbers={
            "slip": float(slip[touching].mean()) if touching.any() else float("nan"),
            "softened": float(np.mean([np.mean(shift > 0.0) for shift in shifts])),
            "energy_end": float(made.world.energy()),
        },
        series={
            "step": np.arange(1.0, slip.size + 1.0),
            "slip": np.where(touching, slip, 0.0),
            "x": path[:, 0],
            "z": path[:, 2],
            "softened": np.array([float(np.mean(shift > 0.0)) for shift in shifts]),
        },
    )


def softened_friction_task(
    recipe: Mapping[str, Any],
    *,
    steps: int,
    pivot_limit: int | None,
    share: float,
    most_pivots: int,
    dt: float | None = None,
    **others: Any,
) -> Task:
    """A task of this work."""
    arguments = {"steps": steps, "dt": dt, "pivot_limit": pivot_limit, "share": share, "most_pivots": most_pivots}
    return Task("softened_friction", recipe, arguments=arguments, **others)


def find_shifts(problem: Problem, start: Vector, pivot_limit: int | None, share: float, most_pivots: int) -> Vector:
    """What Algorithm 9 has added to the diagonal when the index sets are right for it, or after `most_pivots`."""
    shift = np.zeros(problem.n)
    if pivot_limit is None or problem.n == 0:
        return shift
    method = BlockPrincipal(fallback="progress", regularisation=share, pivot_limit=pivot_limit)
    state = method.start(problem, start)
    for _ in range(most_pivots):
        method.step(problem, state, 1)
        if state.ended is not None or state.hardened:
            break
        shift = state.softening.copy()
    return shift


def soften(problem: Problem, shift: Vector) -> BoxLCP:
    """A + diag(shift), with the same bias and bounds."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    return BoxLCP(sparse.csr_array(problem.A.to_sparse() + sparse.diags_array(shift)), problem.b, lower, upper)
