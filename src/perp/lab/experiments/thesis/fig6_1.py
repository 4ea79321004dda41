"""THESIS Figure 6.1: conjugate gradient steps of PGCG on the chain with several preconditioners."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.thesis.frames import frame_points
from perp.lab.experiments.thesis.scenes import (
    IMAGINARY,
    ORDERING,
    PGCG,
    SIZE,
    STORY,
    find_row,
    frame_tasks,
    value,
)
from perp.lab.palette import DASHES, assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.task import Task

SCENE = "chain"
STEPS, QUICK_STEPS = 20_000, 2_000
"""At which PGCG is stopped, frame by frame: counts do not depend on the machine."""

JACOBI, ZERO_FILL, COARSE, FINE, NATURAL = (
    "Jacobi",
    "imaginary IC(0)",
    "ICT, 1e-5",
    "ICT, 1e-8",
    "imaginary IC(0), unordered (ours)",
)
_PRECONDITIONERS: dict[str, str | dict[str, Any]] = {
    JACOBI: "jacobi",
    ZERO_FILL: IMAGINARY,
    COARSE: {"name": "ict", "drop_tolerance": 1e-5, "largest": 2000, "ordering": ORDERING},
    FINE: {"name": "ict", "drop_tolerance": 1e-8, "largest": 2000, "ordering": ORDERING},
    NATURAL: {"name": "imaginary_ic0", "ordering": "natural"},
}


def make_tasks(quick: bool) -> list[Task]:
    solvers = [PGCG.preconditioned(label, recipe) for label, recipe in _PRECONDITIONERS.items()]
    stop = {"max_iterations": QUICK_STEPS if quick else STEPS, "max_seconds": None}
    tasks = frame_tasks(quick, [SCENE], solvers, timed=False)
    return [replace(task, stop={**task.stop, **stop}) for task in tasks]


def measure(rows: Rows) -> dict[str, float]:
    found = {
        "jacobi_to_zero_fill": _typical_ratio(rows, JACOBI, ZERO_FILL),
        "zero_fill_to_coarse": _typical_ratio(rows, ZERO_FILL, COARSE),
        "fine_to_zero_fill": _typical_ratio(rows, FINE, ZERO_FILL),
    }
    return {name: number for name, number in found.items() if isfinite(number)}


def _typical_ratio(rows: Rows, top: str, bottom: str) -> float:
    """The median over frames of the ratio of steps: frames that were stopped weigh no more than the others."""
    points = frame_points(rows, [SCENE], top, "inner_sum", "inner_sum", bottom).get(SCENE)
    if points is None or not points[0].size:
        return float("nan")
    return float(np.median(np.maximum(points[1], 1.0) / np.maximum(points[0], 1.0)))


def tabulate(rows: Rows) -> list[Table]:
    headings = ("preconditioner", "PCG steps a frame", "index sets a frame", "shifts a factor", "share solved")
    numbers = ("inner_sum", "outer", "shifts", "solved")
    lines = tuple((label, *(value(rows, SCENE, label, number) for number in numbers)) for label in _PRECONDITIONERS)
    note = "Means over frames. ICT begins again with more on the diagonal at a negative pivot: shifts."
    return [Table("PGCG on the chain (here)", headings, lines, note)]


def draw(rows: Rows) -> list[Picture]:
    figure, (axes,) = new_figure(panel=(7.2, 3.8))
    name_axes(axes, "frame (step of the simulation)", "PCG steps in all passes", title="Chain, PGCG", log="y")
    lines = {}
    for label in _PRECONDITIONERS:
        row = find_row(rows, SCENE, label)
        if row is not None:
            lines[label] = (row.series["step"], np.maximum(row.series["inner_sum"], 1.0))
    strokes = assign_strokes(_PRECONDITIONERS)
    strokes[NATURAL] = replace(strokes[NATURAL], dash=DASHES[1])  # where both are stopped, Jacobi shows through
    handles = draw_lines(axes, lines, strokes=strokes, marker="o")
    add_legend(figure, handles)
    caption = f"Steps of PGCG until the index sets are right, stopped at {STEPS:,} a frame."
    return [Picture("thesis-fig6.1", caption, figure)]


EXPERIMENT = Experiment(
    id="thesis-fig6.1",
    source="THESIS",
    item="Figure 6.1",
    title="Preconditioners for PGCG on the chain",
    story=f"{STORY} Here PGCG is stopped by a number of steps alone. The smaller drop tolerance of ICT is our choice; "
    "the THESIS names 1e-5 only.",
    size=SIZE,
    minutes=0.4,
    claims=read_claims(__package__, "fig6_1"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
