"""Steps of scenes as frictional problems, cold and warm, and the time of MuJoCo's own step for orientation."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import perp
from benchmarks.friction_problems import Case
from benchmarks.progress import say
from perp.problems.inputs import Vector
from perp.scenes import make as make_scene
from perp.solvers.roster import BY_NAME
from perp.worlds.rigid3d import RigidWorld

SCENES = ("tower", "wall", "wall_of_boxes", "rocks", "gears_medium", "chain")

MOST_SWEEPS = 500
"""Of the method that moves a scene on, where the scene itself does not say how many."""


def collect(name: str, steps: int, every: int, seed: int, stepper: str | None, limit: float) -> Iterator[Case]:
    """Every so many steps the problem of a scene, once cold and once from the impulses of the step before.

    `stepper` moves the scene on: warm starts are as good as its answers. None: `cone_interior` where there is one, else
    the scene's own method.
    """
    scene = make_scene(name, seed=seed)
    method = stepper or ("cone_interior" if "cone_interior" in BY_NAME else scene.kind.method)
    limits: dict[str, Any] = {"max_seconds": limit}
    if method == scene.kind.method:
        limits["max_iterations"] = scene.kind.iterations or MOST_SWEEPS
    seen: list[tuple[perp.ContactProblem, Vector | None]] = []

    def solve(problem: perp.ContactProblem, x0: Vector | None) -> perp.Result:
        seen.append((problem, None if x0 is None else np.array(x0)))
        return perp.solve(problem, method, x0=x0, **limits)

    for step in range(steps):
        scene.world.step(scene.dt, solve)
        problem, start = seen.pop()
        if step % every or not isinstance(problem, perp.ContactProblem) or problem.n == 0:
            continue
        say(f"{name}, step {step + 1} of {steps}: {problem.n:,} rows")
        case = Case(problem, "scenes", problem.model, name, step + 1, seed=seed)
        yield case
        if start is not None:
            yield replace(case, start=start)


def time_mujoco(name: str, steps: int, seed: int) -> str | None:
    """The median time of `mj_step` of the scene's model with MuJoCo's own soft contacts; None where there is none."""
    scene = make_scene(name, seed=seed)
    if not isinstance(scene.world, RigidWorld):
        return None
    bodies = scene.world.shapes_and_masses
    mujoco, model = bodies.mujoco, copy(bodies.given)
    model.opt.timestep = scene.dt
    data = mujoco.MjData(model)
    seconds, contacts = [], []
    for _ in range(steps):
        begun = perf_counter()
        mujoco.mj_step(model, data)
        seconds.append(perf_counter() - begun)
        contacts.append(float(data.ncon))
    return (
        f"{name}: mj_step of MuJoCo {mujoco.__version__} takes {1e3 * median(seconds):.3g} ms "
        f"(soft contacts, {median(contacts):.0f} of them, steps of {scene.dt:g} s, without joints of perp)"
    )
