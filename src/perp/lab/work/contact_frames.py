"""Frames: the boxed problems that steps of a scene pose, with friction bounds fixed in advance (THESIS 2.4.2).

    {"scene": "tower", "seed": 0, "options": {...}, "dt": 1 / 60, "frames": [45, 60, 75]}

is the recipe of three of them. Every step is solved twice by interior points and pivots: without friction, for the
normal impulses that friction is bounded by, and then between these bounds; the bodies move with the second answer. So
each frame is a convex problem with one solution, and all methods are given the same ones, with A by its entries.

`frame_facts`: how large and how ill-conditioned the frames of a scene are (Table 6.1). `softened_friction`: a scene
whose friction is softened for good where it pivots often (5.4, Algorithm 9), and how much more slips.
`block_principal` takes its softening back once the index sets are right, so that its answer is that of the problem
asked; the THESIS moves the bodies with the answer to the softened problem, and so does this work.
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
from scipy import sparse
from scipy.sparse.linalg import eigsh

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task, canonical
from perp.lab.work.recipes import fingerprint, make_scene, scene
from perp.problems.box import BoxLCP
from perp.problems.files import load, load_solution, save
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.islands import split_islands
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.pivoting.block_principal import BlockPrincipal
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

DENSE = 600
"""Rows up to which all eigenvalues are computed; beyond, the two at the ends alone."""

EIGENVALUE_TOLERANCE = 1e-3
"""Relative; condition numbers are told by their order of magnitude."""

LOADED = 1e-9
"""A contact counts as loaded where its normal impulse is above this share of the largest."""


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


def perform_frame_facts(task: Task, folder: Path | None) -> Measurement:
    """Series have one entry a frame: `step`, `rows`, `condition` of A and of A with a unit diagonal."""
    frames = make_frames(task.instance, folder)
    mass = make_scene(task.instance).world.mass
    moving = mass[np.isfinite(mass)]
    series = {
        "step": np.array([float(frame.step) for frame in frames]),
        "rows": np.array([float(frame.problem.n) for frame in frames]),
        "condition": np.array([condition_number(frame.problem) for frame in frames]),
        "condition_scaled": np.array([condition_number(frame.problem, scaled=True) for frame in frames]),
    }
    return Measurement(
        DONE,
        n=int(series["rows"].max()),
        problem=fingerprint(frames[-1].problem),
        numbers={
            "bodies": float(moving.size),
            "mass_ratio": float(moving.max() / moving.min()),
            "condition_worst": float(series["condition"].max()),
            "condition_scaled_worst": float(series["condition_scaled"].max()),
        },
        series=series,
    )


def frame_facts_task(recipe: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work."""
    return Task("frame_facts", recipe, **others)


def condition_number(problem: Problem, *, scaled: bool = False) -> float:
    """Largest over least eigenvalue of a symmetric positive definite A, from those of its islands.

    With `scaled` that of D A D with a unit diagonal, which does not depend on the units of the rows.
    """
    matrices = [island.problem.A.to_sparse() for island in split_islands(problem)]
    if scaled:
        matrices = [_with_unit_diagonal(matrix) for matrix in matrices]
    ends = np.array([_end_eigenvalues(matrix) for matrix in matrices])
    return float(ends[:, 1].max() / ends[:, 0].min())


def _with_unit_diagonal(A: Any) -> Any:
    D = sparse.diags_array(1.0 / np.sqrt(A.diagonal()))
    return D @ A @ D


def _end_eigenvalues(A: Any) -> tuple[float, float]:
    n = A.shape[0]
    if n <= DENSE:
        values = np.linalg.eigvalsh(A.toarray())
        return float(values[0]), float(values[-1])
    start, matrix = np.ones(n), sparse.csc_array(A)
    ask = {"k": 1, "v0": start, "tol": EIGENVALUE_TOLERANCE, "return_eigenvectors": False}
    least = eigsh(matrix, sigma=0.0, which="LM", **ask)
    return float(least[0]), float(eigsh(matrix, which="LA", **ask)[0])


def perform_softened_friction(task: Task, folder: Path | None) -> Measurement:
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
