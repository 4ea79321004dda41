"""Steps of scenes as frictional problems, cold and warm, and the time of MuJoCo's own step for orientation."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import perp
from benchmarks.friction_problems import SOFT, Case
from benchmarks.progress import say
from perp.extras import mujoco
from perp.problems.inputs import Vector
from perp.scenes import Scene
from perp.scenes import make as make_scene
from perp.solvers.roster import BY_NAME
from perp.worlds.rigid3d import RigidWorld

SCENES = ("tower", "wall", "wall_of_boxes", "rocks", "gears_medium", "chain")

INTERIOR = "cone_interior"

MOST_SWEEPS = 500
"""Of `block_gauss_seidel`, where it moves a scene on."""


@dataclass(frozen=True)
class Run:
    """How scenes are run."""

    steps: int
    every: int
    """So many steps one is a case."""
    seed: int
    stepper: str | None
    """The method that moves a scene on; warm starts are as good as its answers. None: `cone_interior` where there is
    one, else the scene's own, or `block_gauss_seidel` where that does not know the model."""
    limit: float
    """Seconds a step."""


def collect(name: str, model: str | None, run: Run) -> Iterator[Case]:
    """Problems of a scene, each cold and from the impulses of the step before; `model` None: the scene's own."""
    law = "cone" if model in SOFT else model
    scene = make_scene(name, seed=run.seed, **({} if law is None else {"model": law}))
    if model in SOFT:
        world: Any = scene.world
        world.compliance_units, world.contact_compliance = model, SOFT[model]
    method = run.stepper or _choose_stepper(scene)
    limits: dict[str, Any] = {"max_seconds": run.limit}
    if method != run.stepper and method != INTERIOR:
        limits["max_iterations"] = scene.kind.iterations if method == scene.kind.method else MOST_SWEEPS
    seen: list[tuple[perp.ContactProblem, Vector | None]] = []

    def solve(problem: perp.ContactProblem, x0: Vector | None) -> perp.Result:
        seen.append((problem, None if x0 is None else np.array(x0)))
        return perp.solve(problem, method, x0=x0, **limits)

    for step in range(run.steps):
        scene.world.step(scene.dt, solve)
        problem, start = seen.pop()
        if step % run.every or not isinstance(problem, perp.ContactProblem) or problem.n == 0:
            continue
        say(f"{name}, step {step + 1} of {run.steps}: {problem.n:,} rows")
        case = Case(problem, "scenes", model or problem.model, name, step + 1, seed=run.seed)
        yield case
        if start is not None:
            yield replace(case, start=start)


def _choose_stepper(scene: Scene) -> str:
    if INTERIOR in BY_NAME:
        return INTERIOR
    kind = f"contact/{getattr(scene.world, 'model', 'box')}"
    return scene.kind.method if kind in BY_NAME[scene.kind.method].accepts else "block_gauss_seidel"


def time_mujoco(name: str, run: Run) -> str | None:
    """The median time of `mj_step` of the scene's model with MuJoCo's own soft contacts; None where there is none."""
    scene = make_scene(name, seed=run.seed)
    if not isinstance(scene.world, RigidWorld):
        return None
    bodies = scene.world.shapes_and_masses
    model = copy(bodies.given)
    model.opt.timestep = scene.dt
    data = mujoco.MjData(model)
    seconds, contacts = [], []
    for _ in range(run.steps):
        begun = perf_counter()
        mujoco.mj_step(model, data)
        seconds.append(perf_counter() - begun)
        contacts.append(float(data.ncon))
    return (
        f"{name}: mj_step of MuJoCo {mujoco.__version__} takes {1e3 * median(seconds):.3g} ms "
        f"(soft contacts, {median(contacts):.0f} of them, steps of {scene.dt:g} s, without joints of perp)"
    )
