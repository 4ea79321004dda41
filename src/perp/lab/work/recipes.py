"""Recipes: plain data that make a problem or a scene, the same everywhere.

    {"gallery": "fluid_like", "n": 1000, "seed": 3, "options": {...}}
    {"num4lcp": "fluid", "n": 1000, "seed": 3, "options": {...}}    (`num4lcp_problems`)
    {"scene": "pool1", "seed": 0, "options": {...}}
    {"scene": "pool1", "seed": 0, "options": {...}, "step": 100, "dt": None, "lead": {"method": "pgs", "stop": {...}}}

The last is the problem of one step of a scene, after the `lead` has solved all steps before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from perp import scenes
from perp.gallery import make as make_example
from perp.lab.runs.task import canonical
from perp.lab.work.num4lcp_problems import make_num4lcp
from perp.problems.files import load, load_solution, save
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.method import Method
from perp.solvers.roster import make_method
from perp.solvers.stopping import Stopping
from perp.version import __version__
from perp.worlds.world import Solve


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem, where a solve of it starts (None: at zero), and a solution where one is known."""

    problem: Problem
    x0: Vector | None = None
    x: Vector | None = None


def gallery(kind: str, n: int, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The recipe of a problem of the gallery."""
    return {"gallery": kind, "n": n, "seed": seed, "options": options}


def scene(name: str, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The recipe of a scene, to be simulated."""
    return {"scene": name, "seed": seed, "options": options}


def scene_step(
    name: str,
    step: int,
    *,
    lead: Mapping[str, Any],
    dt: float | None = None,
    seed: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """The recipe of the problem that step number `step` (1 is the first) of a scene poses.

    `lead` has the `method`, its `options` and its `stop` that take the steps before. dt None means the scene's own.
    """
    return scene(name, seed, **options) | {"step": step, "dt": dt, "lead": dict(lead)}


def make_instance(recipe: Mapping[str, Any], folder: Path | None = None) -> Instance:
    """The problem of a recipe. A step of a scene is kept in `folder`, and taken from there by later tasks."""
    if "gallery" in recipe:
        example = make_example(recipe["gallery"], n=recipe["n"], seed=recipe["seed"], **recipe["options"])
        return Instance(example.problem, None, example.x)
    if "num4lcp" in recipe:
        return Instance(make_num4lcp(recipe))
    if folder is None:
        return _reach_step(recipe)
    kept = folder / "problems" / f"{_name(recipe)}.npz"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        reached = _reach_step(recipe)
        save(reached.problem, kept, x=reached.x0)  # atomic: another task that makes it at the same time does no harm
    return Instance(load(kept), load_solution(kept))


def make_scene(recipe: Mapping[str, Any]) -> Any:
    """The `Scene` of a recipe. `warm_rule`, where it is given, is that of its world."""
    made = scenes.make(recipe["scene"], seed=recipe["seed"], **recipe["options"])
    if "warm_rule" in recipe:
        made.world.warm_rule = recipe["warm_rule"]  # type: ignore[attr-defined]  # every world of bodies has one
    return made


def make_solver(method: str, options: Mapping[str, Any], stop: Mapping[str, Any]) -> Solve:
    """`solve(problem, x0)` by a method of the roster."""
    chosen = chosen_method(method, options)
    stopping = Stopping(**stop)
    return lambda problem, x0: solve(problem, chosen, x0=x0, stop=stopping)


def chosen_method(method: str, options: Mapping[str, Any]) -> str | Method:
    return method if method == "auto" else make_method(method, dict(options))


def fingerprint(problem: Problem) -> str:
    """A hash of b and of what A and the bounds make of two vectors: equal data have equal ones."""
    probe = np.cos(np.arange(problem.n) + 1.0)
    digest = hashlib.sha256()
    for values in (problem.b, problem.slack(probe), *problem.bounds(probe)):
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


class _Reached(Exception):
    """The step that was asked for poses its problem."""

    def __init__(self, problem: Problem, x0: Vector | None) -> None:
        super().__init__()
        self.instance = Instance(problem, x0)


def _reach_step(recipe: Mapping[str, Any]) -> Instance:
    made = make_scene(recipe)
    lead = recipe["lead"]
    take = make_solver(lead["method"], lead.get("options", {}), lead.get("stop", {}))
    dt = made.dt if recipe["dt"] is None else recipe["dt"]
    for _ in range(recipe["step"] - 1):
        made.world.step(dt, take)

    def hand_over(problem: Problem, x0: Vector | None) -> Any:
        raise _Reached(problem, x0)

    try:
        made.world.step(dt, hand_over)
    except _Reached as reached:
        return reached.instance
    raise ValueError(f"step {recipe['step']} of {recipe['scene']} has no problem to solve")


def _name(recipe: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical({"recipe": recipe, "version": __version__}).encode()).hexdigest()[:32]
