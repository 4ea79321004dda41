"""NOTES Fig. 4: which relaxation parameter is best for PSOR on a fluid problem."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.notes.merit_readings import (
    FAMILIES,
    FAMILIES_STORY,
    PLANTED,
    PUBLISHED,
    WORKS,
    cell,
    final_merit,
    finite,
    follow,
    group_name,
    line,
    median,
    merit,
    rate,
    reach,
    recipe,
    share,
)
from perp.lab.experiments.notes.papers_methods import PSOR, PapersMethod
from perp.lab.palette import assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SEEDS, QUICK_SEEDS = range(10), range(3)
ITERATIONS = 50

RELAXATIONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8)
"""Those of num4lcp; 1 is PGS."""

PAPERS_BEST = 1.4
PREFIXES = {PUBLISHED: "", PLANTED: "planted_"}


def make_tasks(quick: bool) -> list[Task]:
    seeds, n = (QUICK_SEEDS, 125) if quick else (SEEDS, 1000)
    return [
        follow(_relaxed(value), recipe(family, "fluid", n, seed), ITERATIONS, group_name(family, "fluid"))
        for family in FAMILIES
        for seed in seeds
        for value in RELAXATIONS
    ]


def _relaxed(value: float) -> PapersMethod:
    return PapersMethod(_label(value), PSOR.method, PSOR.merit, {"relaxation": value})


def _label(value: float) -> str:
    return f"relaxation {value:g}"


def measure(rows: Rows) -> dict[str, float]:
    figures: dict[str, float] = {}
    for family, prefix in PREFIXES.items():
        factors = {value: _median_factor(_find(rows, family, value)) for value in RELAXATIONS}
        if np.isnan(list(factors.values())).any():
            continue
        best = _best_by_problem(rows, family)
        figures |= {
            f"{prefix}best": min(factors, key=lambda value: factors[value]),
            f"{prefix}best_here": share(value == PAPERS_BEST for value in best),
            f"{prefix}slowest_factor": max(factors.values()),
            f"{prefix}least_best": min(best, default=np.nan),
            f"{prefix}most_best": max(best, default=np.nan),
        }
    return finite(figures)


def _find(rows: Rows, family: str, value: float) -> list[LabRow]:
    return select(rows, group=group_name(family, "fluid"), relaxation=value)


def _median_factor(found: list[LabRow]) -> float:
    return median(rate(row).factor for row in found)


def _best_by_problem(rows: Rows, family: str) -> list[float]:
    """The parameter with the least factor, problem by problem, where all of them can be told."""
    best = []
    for seed in sorted({row.task.seed for row in rows}):
        factors = {
            row.task.options["relaxation"]: rate(row).factor
            for row in select(rows, group=group_name(family, "fluid"), seed=seed)
        }
        if len(factors) == len(RELAXATIONS) and not np.isnan(list(factors.values())).any():
            best.append(min(factors, key=lambda value: factors[value]))
    return best


def tabulate(rows: Rows) -> list[Table]:
    lines = []
    for value in RELAXATIONS:
        numbers: list[float | None] = []
        for family in FAMILIES:
            found = _find(rows, family, value)
            best = _best_by_problem(rows, family)
            numbers += [
                cell(_median_factor(found)),
                cell(median(reach(row, WORKS) for row in found)),
                cell(median(map(final_merit, found))),
                float(sum(each == value for each in best)),
            ]
        lines.append((value, *numbers))
    headings = ("factor per iteration", f"iterations to {WORKS:g}", "merit after 50", "best on so many problems")
    return [
        Table(
            "PSOR by relaxation parameter",
            ("parameter", *(f"{heading}, {family}" for family in FAMILIES for heading in headings)),
            tuple(lines),
            "Medians over the problems; empty where most of them do not get there. The paper names 1.4 as best "
            "and prints no other number.",
        )
    ]


def draw(rows: Rows) -> list[Picture]:
    figure, panels = new_figure(1, 3, panel=(3.9, 3.7))
    labels = [_label(value) for value in RELAXATIONS]
    strokes = assign_strokes(labels)
    shown: dict[str, Line2D] = {}
    for axes, family in zip(panels, FAMILIES, strict=False):
        name_axes(axes, "iterations", "merit x'|Ax + b|", title=f"{family} problem", log="y")
        found = select(rows, group=group_name(family, "fluid"), seed=0)
        lines = {row.name: line(row) for row in found if merit(row).size > 1}
        shown |= dict(zip(lines, draw_lines(axes, lines, strokes=strokes), strict=True))
    _draw_factors(panels[-1], rows)
    add_legend(figure, [shown[label] for label in labels if label in shown])
    caption = (
        "Left and middle: the merit after each sweep on the first problem of each family, by relaxation "
        "parameter. Right: the factor per sweep by which the merit falls in the end, the median over all "
        "problems."
    )
    return [Picture("notes-fig4", caption, figure)]


def _draw_factors(axes: Axes, rows: Rows) -> None:
    name_axes(axes, "relaxation parameter", "factor per iteration", title="median over the problems")
    lines = {}
    for family in FAMILIES:
        factors = {value: _median_factor(_find(rows, family, value)) for value in RELAXATIONS}
        known = {value: factor for value, factor in factors.items() if factor < inf}
        if known:
            lines[family] = (list(known), list(known.values()))
    draw_lines(axes, lines, marker="o")
    axes.set_ylim(0.0, 1.0)
    if lines:
        add_legend(axes)


EXPERIMENT = Experiment(
    id="notes-fig4",
    source="NOTES",
    item="Fig. 4",
    title="Relaxation parameter of PSOR",
    story=(
        "PSOR with nine relaxation parameters takes 50 sweeps over fluid problems from zero. The best parameter "
        f"is the one whose merit falls by the least factor per sweep in the end. {FAMILIES_STORY} The paper has "
        "one problem; here figures are medians over ten, as the conditioning of these matrices changes much from "
        "one to the next."
    ),
    size="1000-row fluid problems, 10 in each of 2 families, 9 parameters",
    minutes=0.1,
    claims=read_claims(__package__, "fig4"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
