"""Panels of merits against iterations: one a family and a kind of problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perp.lab.experiments.experiment import Rows
from perp.lab.experiments.notes.merit_readings import FAMILIES, group_name, line, merit
from perp.lab.palette import assign_strokes
from perp.lab.plots import FLOOR, add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import select

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

TOP = 1e6


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
