"""Steps of worlds in the form of PGS-SM eq. 3: rows that touch, and b = J (v + h M^-1 f) without gaps or corrections.

The worlds here put gaps and overlaps into b, so that bodies stop at the surface. Then b is no longer in the range of J,
and the equations of redundant contacts contradict each other a little. The b of eq. 3 is in the range of J, so every
reduced equation (eq. 22) has a solution: A_FF = J_F M^-1 J_F^T, and what stands on its right is J_F times a velocity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.lab.runs.task import canonical
from perp.lab.work.recipes import make_instance, make_scene, make_solver
from perp.problems.files import load, save
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import BodyMasses, FactoredOperator
from perp.problems.problem import Problem
from perp.solvers.results import Result
from perp.version import __version__
from perp.worlds.rigid3d.rigid_world import RigidWorld
from perp.worlds.world import Solve

TOUCHES = 1e-5
"""Contacts and limits with a wider gap [m or rad] are left out."""

EQUATION_3, WITH_GAPS = "eq. 3", "with gaps"
FORMS = (EQUATION_3, WITH_GAPS)


def in_form(recipe: Mapping[str, Any], form: str) -> dict[str, Any]:
    """The recipe of the step of a scene, in one of the two forms."""
    return dict(recipe) if form == WITH_GAPS else {**recipe, "form": form}


def make_step(recipe: Mapping[str, Any], folder: Path | None) -> Problem:
    """The problem of a recipe that `in_form` made."""
    if "form" not in recipe:
        return make_instance(recipe, folder).problem
    kept = None if folder is None else folder / "problems" / f"{_name(recipe)}.npz"
    if kept is not None and kept.exists():
        return load(kept)
    problem = _reach(recipe)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        save(problem, kept)
    return problem


@dataclass(frozen=True, eq=False)
class Touching:
    """The rows of a problem that touch, as a problem of their own."""

    problem: ContactProblem
    rows: NDArray[np.intp]
    size: int

    def spread(self, x: Vector) -> Vector:
        """x of the whole problem: nothing acts in the rows that were left out."""
        whole = np.zeros(self.size)
        whole[self.rows] = x
        return whole


@dataclass(frozen=True, eq=False)
class SpreadAnswer:
    """What a step of a world asks of a solver."""

    x: Vector
    iterations: int
    success: bool


def touching_rows(world: RigidWorld, problem: ContactProblem, dt: float) -> Touching:
    """The form of eq. 3 of a problem that the world has made in its present state."""
    A = problem.A.factored
    assert A is not None
    assert A.pairs is not None
    assert isinstance(A.mass, BodyMasses)
    force = world.force.copy()
    force[:, :3] += world.mass[:, None] * world.gravity
    free = A.relative_velocity(world.velocity.reshape(-1) + dt * A.mass.solve(force.reshape(-1)))
    gap = dt * (problem.b - free)
    one_sided = np.ones(problem.n, dtype=np.bool_)
    one_sided[problem.contact_rows :] = np.isfinite(problem.lower)
    touches = ~one_sided | (gap <= TOUCHES)
    contacts = touches[problem.normal_rows]
    touches[: problem.contact_rows] = np.repeat(contacts, problem.dimension)
    rows = np.flatnonzero(touches)
    bodies = A.pairs.bodies.reshape(-1, 2)[rows].astype(np.int64)
    bodies[bodies == A.pairs.body_count] = -1
    blocks = A.pairs.jacobian.reshape(-1, 2, 6)[rows]
    operator = FactoredOperator.from_body_pairs(bodies, blocks, A.mass)
    others = touches[problem.contact_rows :]
    lower, upper = problem.lower[others], problem.upper[others]
    friction = problem.friction[contacts]
    found = ContactProblem(operator, free[rows], friction, problem.model, lower=lower, upper=upper)
    return Touching(found, rows, problem.n)


def solve_touching(world: RigidWorld, dt: float, solver: Solve) -> Solve:
    """`solve(problem, x0)` for the steps of this world, cold, in the form of eq. 3."""

    def take(problem: ContactProblem, x0: Vector | None) -> SpreadAnswer:
        part = touching_rows(world, problem, dt)
        result = solver(part.problem, None)
        assert isinstance(result, Result)
        return SpreadAnswer(part.spread(result.x), result.iterations, result.success)

    return take


def _reach(recipe: Mapping[str, Any]) -> ContactProblem:
    made, lead = make_scene(recipe), recipe["lead"]
    take = make_solver(lead["method"], lead.get("options", {}), lead.get("stop", {}))
    dt = made.dt if recipe["dt"] is None else recipe["dt"]
    for _ in range(recipe["step"] - 1):
        made.world.step(dt, take)
    whole = made.world.make_problem(made.world.find_contacts(dt), dt)
    return touching_rows(made.world, whole, dt).problem


def _name(recipe: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical({"recipe": recipe, "version": __version__}).encode()).hexdigest()[:32]
