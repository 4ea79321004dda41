"""The two families of problems that NOTES Fig. 2 to 4 are run on; readings and panels of the merits of iterates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from perp.lab.analysis.rates import NO_RATE, RateFit, fit_rate
from perp.lab.experiments.experiment import Rows
from perp.lab.experiments.notes.papers_methods import FREE_SHARE, PapersMethod
from perp.lab.palette import assign_strokes
from perp.lab.plots import FLOOR, add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import Column, LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.merits import convergence_task
from perp.lab.work.num4lcp_problems import num4lcp
from perp.lab.work.recipes import gallery

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PUBLISHED, PLANTED = "num4lcp's", "planted"
"""Problems with num4lcp's own b, whose x is no solution, and problems of the gallery, whose solution is known."""

FAMILIES = (PUBLISHED, PLANTED)

FAMILIES_STORY = (
    "All is run on two families of problems. num4lcp's, the paper's own: their b makes every row of a fluid "
    "problem free, so that no complementarity is left to find, and their contact matrices couple the friction "
    "cones of different contacts. And planted ones of the same sizes with a known solution, a quarter of the "
    "cells or contacts at zero, which is what num4lcp means to make. Claims are judged on the first family, which "
    "is what the paper measured; what becomes of them on the second is judged beside."
)

GALLERY = {"fluid": "fluid_like", "contact": "contact_like"}

WORKS = 1e-3
"""The absolute tolerance of NOTES section 7 on a merit: a method that gets there works."""

ACCURATE = 1e-10
"""A merit that counts as high accuracy."""

TOP = 1e6


def recipe(family: str, kind: str, n: int, seed: int) -> dict[str, Any]:
    """Of a "fluid" or "contact" problem."""
    return num4lcp(kind, n, seed) if family == PUBLISHED else gallery(GALLERY[kind], n, seed, active=FREE_SHARE)


def group_name(family: str, kind: str) -> str:
    return f"{family} {kind}"


def follow(method: PapersMethod, instance: Mapping[str, Any], max_iterations: int, group: str) -> Task:
    """A run of so many iterations, with the merits of every iterate."""
    return convergence_task(
        instance,
        method.method,
        max_iterations,
        options=method.options,
        arguments=method.arguments,
        label=method.label,
        group=group,
        wall_seconds=60.0,
    )


def merit_name(row: LabRow) -> str:
    """Which merit function NOTES looks at: the modified one for splittings, their own for the Newton methods."""
    return row.task.method if row.task.method in ("minimum_map", "fischer") else "modified"


def merit(row: LabRow) -> Column:
    """By iteration; empty where the row has none."""
    return np.asarray(row.series.get(merit_name(row), np.zeros(0)))


def line(row: LabRow) -> tuple[Column, Column]:
    """Iterations and merits as they are drawn: from the first step to where the floor of the axis is reached."""
    values = merit(row)[1:]
    below = np.flatnonzero(values <= FLOOR)
    end = int(below[0]) + 1 if below.size else values.size
    return row.series["iteration"][1 : end + 1], values[:end]


def final_merit(row: LabRow) -> float:
    values = merit(row)
    return float(values[-1]) if values.size else nan


def works(row: LabRow) -> bool:
    return final_merit(row) <= WORKS


def reach(row: LabRow, level: float) -> float:
    """The first iteration, after the start, whose merit is at most `level`; inf where none is, nan without iterates."""
    values = merit(row)[1:]
    if not values.size:
        return nan
    below = np.flatnonzero(values <= level)
    return float(row.series["iteration"][1 + below[0]]) if below.size else inf


def rate(row: LabRow) -> RateFit:
    """Of the merit where it is linear in x, of its root where it is a square."""
    values = merit(row)
    if not values.size:
        return NO_RATE
    is_square = merit_name(row) != "modified"
    return fit_rate(row.series["iteration"], np.sqrt(values) if is_square else values)


def median(values: Iterable[float]) -> float:
    """Of those that are numbers, infinite ones among them; nan where there is none."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.median(known)) if known else nan


def share(truths: Iterable[bool]) -> float:
    known = list(truths)
    return sum(known) / len(known) if known else nan


def cell(value: float) -> float | None:
    """Of a table."""
    return float(value) if np.isfinite(value) else None


def finite(figures: Mapping[str, float]) -> dict[str, float]:
    """Those that can be told."""
    return {name: float(value) for name, value in figures.items() if np.isfinite(value)}


def endings(rows: Iterable[LabRow]) -> str:
    """How often each ending occurred: "9 x accurate, 1 x NON_DESCENT".

    A run without a tolerance goes on until its limit, or until rounding errors stop it in some way or other: once it is
    accurate, its ending says nothing.
    """
    counts: dict[str, int] = {}
    for row in rows:
        ending = "accurate" if final_merit(row) <= ACCURATE else row.status
        counts[ending] = counts.get(ending, 0) + 1
    return ", ".join(f"{count} x {status}" for status, count in sorted(counts.items(), key=lambda item: -item[1]))


def draw_merits(rows: Rows, labels: Sequence[str]) -> Figure:
    """Of the first problem of each kind; `labels` are the rows that are shown, in the order of the legend."""
    figure, panels = new_figure(2, 2, sharex=True, sharey=True)
    strokes = assign_strokes(labels)
    shown: dict[str, Line2D] = {}
    places = [(family, kind) for family in FAMILIES for kind in ("fluid", "contact")]
    for axes, (family, kind) in zip(panels, places, strict=True):
        x = "iterations" if family == FAMILIES[-1] else ""
        name_axes(axes, x, "merit" if kind == "fluid" else "", title=f"{kind}, {family} problem", log="y")
        found = select(rows, group=group_name(family, kind), seed=0)
        lines = {row.name: line(row) for row in found if merit(row).size > 1}
        shown |= dict(zip(lines, draw_lines(axes, lines, strokes=strokes, marker="."), strict=True))
        axes.set_ylim(FLOOR, TOP)
    add_legend(figure, [shown[label] for label in labels if label in shown])
    return figure
