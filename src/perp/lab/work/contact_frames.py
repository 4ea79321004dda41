"""Frames: the boxed problems that steps of a scene pose, with friction bounds fixed in advance (THESIS 2.4.2).

    {"scene": "tower", "seed": 0, "options": {...}, "dt": 1 / 60, "frames": [45, 60, 75]}

is the recipe of three of them. Every step is solved twice by interior points and pivots: without friction, for the
normal impulses that friction is bounded by, and then between these bounds; the bodies move with the second answer. So
each frame is a convex problem with one solution, and all methods are given the same ones, with A by its entries.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.task import canonical
from perp.lab.work.recipes import make_scene, scene
from perp.problems.box import BoxLCP
from perp.problems.files import load, load_solution, save
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.results import Result, Status
from perp.version import __version__
from perp.worlds.contact_world import ContactWorld
from perp.worlds.contacts import Contacts, carry_impulses

LEADS = ("interior_pivoting", "block_principal")
"""The second is asked where the first one fails."""
LEAD_STOP: dict[str, Any] = {"tol": 1e-9, "max_iterations": 2000}

RIGHT_SETS = (Status.CONVERGED, Status.REDUCED_ACCURACY)
"""How a solve ends that has found the index sets; the second one could not make its residual as small as asked."""

AT_THE_LIMIT = 0.999
"""A friction impulse of this share of its bound was tight: tangents that are drawn anew turn it a little."""

Answer = Callable[[BoxLCP, Vector], Result]
"""Solves the boxed problem of a step from these index sets."""

KEPT_SCENES = 8
"""Sets of frames that a process remembers."""


@dataclass(frozen=True, eq=False)
class ContactStep:
    """`start` says by position which rows are free and which tight at first (THESIS 5.3)."""

    step: int
    problem: Problem
    start: Vector


def contact_frames(
    name: str, frames: Sequence[int], *, dt: float | None = None, seed: int = 0, **options: Any
) -> dict[str, Any]:
    """The recipe of the frames of these steps (1 is the first). dt None means the scene's own."""
    return scene(name, seed, **options) | {"dt": dt, "frames": list(frames)}


def make_frames(recipe: Mapping[str, Any], folder: Path | None = None) -> tuple[ContactStep, ...]:
    """The frames of a recipe that have rows at all. They are kept in `folder`, and taken from there by later tasks."""
    told = canonical({"recipe": recipe, "version": __version__})
    if folder is None:
        return _remembered(told)
    place = folder / "frames" / hashlib.sha256(told.encode()).hexdigest()[:32]
    index = place / "steps.npy"
    if not index.exists():
        place.mkdir(parents=True, exist_ok=True)
        frames = _remembered(told)
        for frame in frames:
            save(frame.problem, place / f"{frame.step}.npz", x=frame.start)
        whole = place / f"steps.{os.getpid()}.npy"  # its appearance says that all are there
        np.save(whole, np.array([frame.step for frame in frames], dtype=np.int64))
        whole.replace(index)
    steps = np.load(index)
    return tuple(_read(int(step), place / f"{step}.npz") for step in steps)


def _read(step: int, path: Path) -> ContactStep:
    problem, start = load(path), load_solution(path)
    assert start is not None
    return ContactStep(step, problem, start)


@lru_cache(KEPT_SCENES)
def _remembered(told: str) -> tuple[ContactStep, ...]:
    return tuple(_take_steps(json.loads(told)["recipe"]))


def _take_steps(recipe: Mapping[str, Any]) -> Iterator[ContactStep]:
    made = make_scene(recipe)
    world, dt = made.world, made.dt if recipe["dt"] is None else recipe["dt"]
    lead = FixedBoxLead(world, dt)
    wanted = set(recipe["frames"])
    for step in range(1, max(wanted) + 1):
        frame = lead.take_step(step)
        if step in wanted and frame.problem.n:
            yield frame


class FixedBoxLead:
    """Takes a world from step to step, with the bounds of THESIS 2.4.2."""

    world: ContactWorld
    dt: float

    def __init__(self, world: ContactWorld, dt: float, answer: Answer | None = None) -> None:
        self.world, self.dt = world, dt
        self._answer = answer or (lambda problem, start: solve_exactly(problem))
        self._last: tuple[Contacts, Vector, Vector] | None = None
        self._slack = np.empty(0)

    def take_step(self, step: int) -> ContactStep:
        """Move on by a step; what it posed comes back."""
        posed: list[tuple[BoxLCP, Vector]] = []
        contacts = self.world.find_contacts(self.dt)

        def answer(problem: ContactProblem, x0: Vector | None) -> Result:
            normals = solve_exactly(frictionless(problem))
            limits = problem.friction * normals.x[: problem.contacts]
            box = fixed_box(problem, limits=limits)
            start = self._carry_sets(contacts, box, limits)
            by_entries = BoxLCP(box.A.to_sparse(), box.b, box.lower, box.upper)
            posed.append((by_entries, start))
            result = self._answer(by_entries, start)
            self._last = contacts, result.x, limits
            self._slack = by_entries.slack(result.x)
            return result

        self.world.step(self.dt, answer)
        return ContactStep(step, *posed[0])

    def slip(self, loaded: float) -> float:
        """The mean speed along the surface of contacts whose normal impulse is above a share of the largest; nan where
        nothing touches."""
        if self._last is None or not len(self._last[0]):
            return np.nan
        contacts, x, _ = self._last
        d, count = contacts.dimension, len(contacts)
        normals = x[: d * count : d]
        pressed = normals > loaded * max(float(normals.max()), np.finfo(np.float64).tiny)
        speeds = np.linalg.norm(self._slack[: d * count].reshape(count, d)[:, 1:], axis=1)
        return float(speeds[pressed].mean()) if pressed.any() else np.nan

    def _carry_sets(self, contacts: Contacts, box: BoxLCP, limits: Vector) -> Vector:
        """Rows of contacts that go on begin where they ended, free or at a bound; rows of new ones begin free."""
        d, count = contacts.dimension, len(contacts)
        start = np.zeros(box.n)
        parts = start[: d * count].reshape(count, d)
        parts[:, 0] = 1.0  # free; only the position counts
        if self._last is None:
            return np.clip(start, box.lower, box.upper)
        old, x, old_limits = self._last
        match = self.world.match_contacts(old, contacts)
        known = match >= 0
        carried = carry_impulses(old, x, contacts, match, box.n)
        start[d * count :] = carried[d * count :]
        share = carried[: d * count].reshape(count, d)[known]
        before = old_limits[match[known]][:, None]
        with np.errstate(all="ignore"):
            share_of_bound = np.where(before > 0.0, share[:, 1:] / before, 0.0)
        tight = np.abs(share_of_bound) >= AT_THE_LIMIT
        parts[known, 0] = share[:, 0]
        parts[known, 1:] = np.where(tight, np.sign(share_of_bound), share_of_bound) * limits[known][:, None]
        return np.clip(start, box.lower, box.upper)


def solve_exactly(problem: Problem) -> Result:
    """The solution, from a cold start; the nearest to one where no lead finds it."""
    found = []
    for method in LEADS:
        found.append(solve(problem, method, **LEAD_STOP))
        if found[-1].status in RIGHT_SETS:
            return found[-1]
    return min(found, key=lambda result: result.residual)
