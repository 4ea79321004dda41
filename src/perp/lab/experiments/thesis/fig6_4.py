"""THESIS Figure 6.4: conjugate gradient steps against the share of imaginary columns."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.thesis.frames import Points, draw_clouds, frame_points, rank_correlation
from perp.lab.experiments.thesis.scenes import BPP_PCG, PGCG, SCENES, SIZE, STORY, frame_tasks, ratio, value
from perp.lab.plots import add_legend
from perp.lab.runs.task import Task

HARD = ("chain", "trucks", "rocks")
SOLVERS = (BPP_PCG, PGCG)


def make_tasks(quick: bool) -> list[Task]:
    return frame_tasks(quick, HARD, SOLVERS)


def clouds(rows: Rows) -> dict[str, Points]:
    return {solver.label: frame_points(rows, HARD, solver.label, "imaginary", "inner") for solver in SOLVERS}


def measure(rows: Rows) -> dict[str, float]:
    found = {
        "bpp_pcg_rank": rank_correlation(clouds(rows)[BPP_PCG.label]),
        "pgcg_rank": rank_correlation(clouds(rows)[PGCG.label]),
    }
    shares = {(name, solver.label): value(rows, name, solver.label, "imaginary") for name in HARD for solver in SOLVERS}
    pairs = [(shares[name, PGCG.label], shares[name, BPP_PCG.label]) for name in HARD]
    if all(each is not None for pair in pairs for each in pair):
        found["fewer_with_pgcg"] = float(sum(a < b for a, b in pairs if a is not None and b is not None))
        others = max(shares[name, BPP_PCG.label] or 0.0 for name in ("chain", "trucks"))
        found["rocks_to_others"] = ratio(shares["rocks", BPP_PCG.label], others)
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    headings = ["scene"]
    for solver in SOLVERS:
        headings += [f"{solver.label}: imaginary columns", f"{solver.label}: PCG steps a frame"]
    lines = tuple(
        (
            SCENES[name].title,
            *(value(rows, name, s.label, number) for s in SOLVERS for number in ("imaginary", "inner")),
        )
        for name in HARD
    )
    note = (
        "Means over frames, of the island that takes longest. Imaginary columns as a share of all that were factored."
    )
    return [Table("Imaginary columns (here)", tuple(headings), lines, note)]


def draw(rows: Rows) -> list[Picture]:
    titles = {name: SCENES[name].title for name in HARD}
    percent = {
        label: {scene: (100.0 * x, y) for scene, (x, y) in points.items()} for label, points in clouds(rows).items()
    }
    figure, handles = draw_clouds(percent, titles, "imaginary columns [%]", "PCG steps", log="y")
    add_legend(figure, handles)
    return [Picture("thesis-fig6.4", "A point a frame: the island that takes longest.", figure)]


EXPERIMENT = Experiment(
    id="thesis-fig6.4",
    source="THESIS",
    item="Figure 6.4",
    title="Imaginary columns and conjugate gradient steps",
    story=STORY,
    size=SIZE,
    minutes=0.8,
    claims=read_claims(__package__, "fig6_4"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
