"""THESIS Table 6.3: the LCP error of each solver, in joules."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Rows, Table
from perp.lab.experiments.thesis.frames import compare_solvers
from perp.lab.experiments.thesis.scenes import (
    BPP,
    BPP_PCG,
    OURS,
    PGCG,
    PRINTED,
    SCENES,
    SIZE,
    STORY,
    frame_tasks,
    value,
)
from perp.lab.runs.task import Task

PAPER = {
    "boxes": (2.3e-11, 9.7e-23, 2.3e-11),
    "tower": (1.9e-11, 7.6e-12, 2.8e-17),
    "spinner": (6.3e-14, 6.0e-14, 2.7e-22),
    "chain": (1.2e-13, 1.1e-13, 3.5e-20),
    "trucks": (8.6e-11, 9.3e-11, 1.4e-13),
    "rocks": (9.4e-17, 2.4e-16, 6.4e-19),
    "wall": (1.8e10, 1.1e-11, 1.8e10),
}
"""Largest LCP errors [J] of BPP+PCG, PGCG and BPP."""

NUMBER = "energy_mean_worst"
LOW = 1e-9
"""[J]; ten times the largest that is printed for a scene whose errors are called low."""


def make_tasks(quick: bool) -> list[Task]:
    return frame_tasks(quick, SCENES, (*PRINTED, OURS))


def measure(rows: Rows) -> dict[str, float]:
    def error(name: str, label: str) -> float:
        found = value(rows, name, label, NUMBER)
        return float("nan") if found is None else found

    pairs = [error(name, solver.label) for name in SCENES if name != "wall" for solver in PRINTED]
    found = {
        "wall_bpp": error("wall", BPP.label),
        "wall_bpp_pcg": error("wall", BPP_PCG.label),
        "wall_pgcg": error("wall", PGCG.label),
    }
    if all(map(isfinite, pairs)):
        found["low_pairs"] = float(sum(each <= LOW for each in pairs))
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    note = (
        "1/2 A_ii r_i^2 with r = x - clip(x - y / A_ii), averaged over the rows of a frame; the largest of all frames."
    )
    return [compare_solvers("LCP error, largest of all frames [J]", rows, PAPER, NUMBER, note=note)]


EXPERIMENT = Experiment(
    id="thesis-table6.3",
    source="THESIS",
    item="Table 6.3",
    title="LCP error of BPP+PCG, PGCG and BPP",
    story=STORY,
    size=SIZE,
    minutes=2.2,
    claims=read_claims(__package__, "table6_3"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
)
