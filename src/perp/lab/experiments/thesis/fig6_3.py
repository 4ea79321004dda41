"""THESIS Figure 6.3: solve time against the size of A."""

from __future__ import annotations

from math import isfinite

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.experiments.thesis.frames import Points, draw_clouds, frame_points, time_ratios
from perp.lab.experiments.thesis.scenes import BPP, BPP_PCG, PGCG, PRINTED, SCENES, SIZE, STORY, fact_tasks, frame_tasks
from perp.lab.plots import add_legend
from perp.lab.runs.task import Task

LARGE = 1000
"""Rows from which a frame counts as large."""


def make_tasks(quick: bool) -> list[Task]:
    return fact_tasks(quick, SCENES) + frame_tasks(quick, SCENES, PRINTED)


def clouds(rows: Rows) -> dict[str, Points]:
    return {
        solver.label: frame_points(rows, SCENES, solver.label, "rows", "frame_seconds", "facts")
        for solver in (BPP_PCG, PGCG, BPP)
    }


def slow_down(rows: Rows, scene: str, label: str, least_rows: float = 0.0) -> list[float]:
    """Time of a solver over that of BPP, frame by frame."""
    return time_ratios(rows, scene, label, BPP.label, least_rows)


def measure(rows: Rows) -> dict[str, float]:
    found = {}
    for name, label in (("bpp_pcg", BPP_PCG.label), ("pgcg", PGCG.label)):
        large = [each for scene in SCENES for each in slow_down(rows, scene, label, LARGE)]
        spinner = slow_down(rows, "spinner", label)
        found[f"{name}_large"] = float(np.median(large)) if large else float("nan")
        found[f"{name}_spinner"] = float(np.median(spinner)) if spinner else float("nan")
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    def middle(scene: str, label: str) -> Cell:
        found = slow_down(rows, scene, label)
        return float(np.median(found)) if found else None

    lines = tuple(
        (scene.title, middle(name, BPP_PCG.label), middle(name, PGCG.label)) for name, scene in SCENES.items()
    )
    note = "Frames that one of the two solved."
    return [Table("Time over that of BPP, median of frames (here)", ("scene", BPP_PCG.label, PGCG.label), lines, note)]


def draw(rows: Rows) -> list[Picture]:
    titles = {name: scene.title for name, scene in SCENES.items()}
    figure, handles = draw_clouds(clouds(rows), titles, "rows of A", "solve time of a frame [s]")
    add_legend(figure, handles)
    return [Picture("thesis-fig6.3", "A point a frame. Solvers are stopped after 1.5 s (trucks 3 s).", figure)]


EXPERIMENT = Experiment(
    id="thesis-fig6.3",
    source="THESIS",
    item="Figure 6.3",
    title="Solve time against the size of A",
    story=STORY,
    size=SIZE,
    minutes=2.5,
    claims=read_claims(__package__, "fig6_3"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
