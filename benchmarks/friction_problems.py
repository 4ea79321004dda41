"""Frictional problems of the benchmark: stacks of boxes, a packing of spheres, files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import perp
from perp import gallery
from perp.lab.survey import UNREADABLE, find_candidates
from perp.problems.inputs import Vector

FRICTIONS = (0.1, 0.3, 0.5, 0.7, 1.0)
"""Taken in turn, by seed."""

SHAPES = {"wall": ("wall", "gravity"), "pyramid": ("pyramid", "gravity"), "planted": ("wall", "planted")}
"""Layout and load."""

SOFT = {"by_inertia": 1e-4, "by_load": 1e-3}
"""The compliant law in both its units."""

MODELS = ("convex", "disc", "cone", "box", *SOFT)

PACKING_MODELS = ("convex", "cone", *SOFT)


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
