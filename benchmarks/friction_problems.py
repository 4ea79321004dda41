"""Frictional problems of the benchmark: stacks of boxes, a packing of spheres, files, and steps of scenes.

Steps come cold and warm; MuJoCo's time of its own step is for orientation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import perp
from benchmarks.tables import say
from perp import gallery
from perp.extras import mujoco
from perp.lab.survey import UNREADABLE, find_candidates
from perp.problems.inputs import Vector
from perp.scenes import Scene
from perp.scenes import make as make_scene
from perp.solvers.roster import BY_NAME
from perp.worlds.rigid3d import RigidWorld

FRICTIONS = (0.1, 0.3, 0.5, 0.7, 1.0)
"""Taken in turn, by seed."""

SHAPES = {"wall": ("wall", "gravity"), "pyramid": ("pyramid", "gravity"), "planted": ("wall", "planted")}
"""Layout and load."""

SOFT = {"by_inertia": 1e-4, "by_load": 1e-3}
"""The compliant law in both its units."""

MODELS = ("convex", "disc", "cone", "box", *SOFT)

PACKING_MODELS = ("convex", "cone", *SOFT)

SCENES = ("tower", "wall", "wall_of_boxes", "rocks", "gears_medium", "chain")

INTERIOR = "cone_interior"

MOST_SWEEPS = 500
"""Of `block_gauss_seidel`, where it moves a scene on."""


@dataclass(frozen=True)
class Case:
    """One problem, and what it is."""

    problem: perp.ContactProblem
    part: str
    model: str
    """Of `MODELS`; the compliant ones are exact cones with a compliance."""
    name: str
    wanted: int
    """Rows asked for: problems of one size have nearly, not exactly, as many."""
    ratio: float = 1.0
    friction: float = 0.5
    seed: int = 0
    start: Vector | None = None
    """Where a warm start begins; None: cold."""


def make_stack(shape: str, rows: int, model: str, ratio: float, seed: int) -> Case:
    layout, load = SHAPES[shape]
    friction = FRICTIONS[seed % len(FRICTIONS)]
    law = "cone" if model in SOFT else model
    example = gallery.make(
        "box_stack", n=rows, seed=seed, layout=layout, load=load, mass_ratio=ratio, friction=friction, model=law
    )
    return Case(_with_law(example.problem, model), "stacks", model, shape, rows, ratio, friction, seed)


def packings(spheres: int, models: Sequence[str], seeds: Sequence[int]) -> Iterator[Case]:
    """A random packing under gravity, nine rows a sphere."""
    for model in models:
        for seed in seeds:
            law = "cone" if model in SOFT else model
            problem = gallery.make("sphere_packing", n=9 * spheres, seed=seed, model=law, load="gravity").problem
            yield Case(_with_law(problem, model), "packing", model, f"{spheres:,} spheres", 9 * spheres, seed=seed)


def files(folder: Path, models: Sequence[str]) -> Iterator[Case]:
    """The contact problems below a folder, as they are; other files are passed over."""
    for candidate in find_candidates(folder):
        if not candidate.has_known_suffix:
            continue
        try:
            problem = candidate.read()
        except UNREADABLE:
            continue
        if isinstance(problem, perp.ContactProblem) and problem.model in models:
            yield Case(problem, "files", problem.model, candidate.name, problem.n)


def _with_law(problem: object, model: str) -> perp.ContactProblem:
    assert isinstance(problem, perp.ContactProblem)
    if model not in SOFT:
        return problem
    return problem.with_compliance(perp.contact_compliance(problem, SOFT[model], model))


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
