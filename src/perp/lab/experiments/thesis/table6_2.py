"""THESIS Table 6.2: how many index sets each solver tries."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Rows, Table
from perp.lab.experiments.thesis.frames import compare_solvers, count_ratio, share_solved
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
    "boxes": (1.6, 1.5, 1.6),
    "tower": (40.9, 31.7, 40.9),
    "spinner": (9.6, 9.5, 9.6),
    "chain": (68.0, 17.2, 68.0),
    "trucks": (47.6, 7.8, 47.6),
    "rocks": (17.5, 64.4, 17.5),
    "wall": (1.3e3, 32.9, 1.9e3),
}
"""Average outer iterations of BPP+PCG, PGCG and BPP."""

ALIKE = 1.25
"""Counts within this factor are similar."""


def make_tasks(quick: bool) -> list[Task]:
    return frame_tasks(quick, SCENES, (*PRINTED, OURS))


def measure(rows: Rows) -> dict[str, float]:
    direct = [count_ratio(rows, name, BPP_PCG.label, BPP.label, both=True) for name in SCENES]
    found = {f"{name}_pgcg_to_bpp": count_ratio(rows, name, PGCG.label, BPP.label) for name in SCENES}
    if all(map(isfinite, direct)):
        found["similar_scenes"] = float(sum(1.0 / ALIKE <= each <= ALIKE for each in direct))
    left = [value(rows, "wall", solver.label, "solved") for solver in (PGCG, BPP)]
    if left[0] is not None and left[1] is not None:
        found["wall_solved_more"] = left[0] - left[1]
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    note = (
        "Of several islands the one with the most counts: a sum over 200 stacks could not be 1.6. "
        "Solvers that were stopped, or went round in circles, count as far as they came."
    )
    return [
        compare_solvers("Outer iterations, mean over frames", rows, PAPER, "outer", note=note),
        share_solved(rows),
        _tabulate_ratios(rows),
    ]


def _tabulate_ratios(rows: Rows) -> Table:
    """What the claims rest on."""

    def told(number: float) -> float | None:
        return number if isfinite(number) else None

    lines = tuple(
        (
            scene.title,
            told(count_ratio(rows, name, BPP_PCG.label, BPP.label, both=True)),
            told(count_ratio(rows, name, PGCG.label, BPP.label)),
        )
        for name, scene in SCENES.items()
    )
    headings = ("scene", "BPP+PCG / BPP, frames both solved", "PGCG / BPP, frames PGCG solved")
    return Table("Ratios of outer iterations (here)", headings, lines)


EXPERIMENT = Experiment(
    id="thesis-table6.2",
    source="THESIS",
    item="Table 6.2",
    title="How many index sets BPP+PCG, PGCG and BPP try",
    story=STORY,
    size=SIZE,
    minutes=2.2,
    claims=read_claims(__package__, "table6_2"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
)
