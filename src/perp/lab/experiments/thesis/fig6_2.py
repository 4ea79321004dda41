"""THESIS Figure 6.2: solve time against the condition number of A."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.thesis.frames import Points, draw_clouds, frame_points, rank_correlation
from perp.lab.experiments.thesis.scenes import BPP, BPP_PCG, PGCG, PRINTED, SCENES, SIZE, STORY, fact_tasks, frame_tasks
from perp.lab.plots import add_legend
from perp.lab.runs.task import Task


def make_tasks(quick: bool) -> list[Task]:
    return fact_tasks(quick, SCENES) + frame_tasks(quick, SCENES, PRINTED)


def clouds(rows: Rows, condition: str = "condition") -> dict[str, Points]:
    return {
        solver.label: frame_points(rows, SCENES, solver.label, condition, "frame_seconds", "facts")
        for solver in (BPP_PCG, PGCG, BPP)
    }


def measure(rows: Rows) -> dict[str, float]:
    ranks = {label: rank_correlation(points) for label, points in clouds(rows).items()}
    found = {
        "bpp_pcg_rank": ranks[BPP_PCG.label],
        "pgcg_rank": ranks[PGCG.label],
    }
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    scaled = clouds(rows, "condition_scaled")
    lines = tuple((label, _told(points), _told(scaled[label])) for label, points in clouds(rows).items())
    headings = ("solver", "condition of A", "condition with unit diagonal")
    return [Table("Rank correlation (Spearman's) of condition number and time (here)", headings, lines)]


def _told(points: Points) -> float | None:
    rank = rank_correlation(points)
    return rank if isfinite(rank) else None


def draw(rows: Rows) -> list[Picture]:
    titles = {name: scene.title for name, scene in SCENES.items()}
    figure, handles = draw_clouds(clouds(rows), titles, "condition number of A", "solve time of a frame [s]")
    add_legend(figure, handles)
    return [Picture("thesis-fig6.2", "A point a frame. Solvers are stopped after 1.5 s (trucks 3 s).", figure)]


EXPERIMENT = Experiment(
    id="thesis-fig6.2",
    source="THESIS",
    item="Figure 6.2",
    title="Solve time against the condition number of A",
    story=STORY,
    size=SIZE,
    minutes=2.5,
    claims=read_claims(__package__, "fig6_2"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
