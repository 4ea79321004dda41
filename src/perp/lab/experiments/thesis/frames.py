"""What frames tell of several solvers side by side: the table that Tables 6.2, 6.3 and 6.4 are, and clouds of points.

A solver that was stopped, or went round in circles, has counted and taken less than it would have needed: its numbers
are lower limits. So ratios are taken over those frames alone on which they say something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from perp.lab.experiments.experiment import Cell, Rows, Table
from perp.lab.experiments.thesis.scenes import OURS, PRINTED, SCENES, find_row, value
from perp.lab.palette import SERIES
from perp.lab.plots import name_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

Column = NDArray[np.float64]

Points = dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""x and y of the frames of each scene."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")

LEAST_FRAMES = 5
"""Below which ranks tell nothing."""


def paired(rows: Rows, scene: str, first: str, second: str, number: str) -> dict[str, Column]:
    """`first`, `second` and whether each is solved, on the frames that both were given."""
    a, b = find_row(rows, scene, first), find_row(rows, scene, second)
    if a is None or b is None:
        return {name: np.empty(0) for name in ("first", "second", "first_solved", "second_solved", "rows")}
    place = {step: index for index, step in enumerate(b.series["step"])}
    here = [index for index, step in enumerate(a.series["step"]) if step in place]
    there = [place[a.series["step"][index]] for index in here]
    return {
        "first": a.series[number][here],
        "second": b.series[number][there],
        "first_solved": a.series["solved"][here],
        "second_solved": b.series["solved"][there],
        "rows": a.series["rows"][here],
    }


def count_ratio(rows: Rows, scene: str, first: str, second: str, *, both: bool = False) -> float:
    """Index sets of the first over those of the second on frames that the first solved (or `both` of them); nan where
    there are none. Where the second was stopped, the true ratio is still smaller."""
    found = paired(rows, scene, first, second, "outer")
    kept = found["first_solved"] > 0.0
    if both:
        kept &= found["second_solved"] > 0.0
    return _ratio(found, kept)


def time_ratio(rows: Rows, scene: str, first: str, second: str) -> float:
    """Time of the first over that of the second on frames that at least one of them solved: what the other one took
    until it was stopped is then a lower limit, and the ratio errs towards 1."""
    found = paired(rows, scene, first, second, "frame_seconds")
    return _ratio(found, np.maximum(found["first_solved"], found["second_solved"]) > 0.0)


def time_ratios(rows: Rows, scene: str, first: str, second: str, least_rows: float = 0.0) -> list[float]:
    """The same, frame by frame, for frames of at least so many rows."""
    found = paired(rows, scene, first, second, "frame_seconds")
    kept = (np.maximum(found["first_solved"], found["second_solved"]) > 0.0) & (found["rows"] >= least_rows)
    return [float(each) for each in found["first"][kept] / found["second"][kept]]


def _ratio(found: dict[str, Column], kept: NDArray[np.bool_]) -> float:
    return float(found["first"][kept].sum() / found["second"][kept].sum()) if kept.any() else float("nan")


def compare_solvers(
    title: str,
    rows: Rows,
    printed: Mapping[str, tuple[float, float, float]],
    number: str,
    *,
    factor: float = 1.0,
    note: str = "",
) -> Table:
    """`printed` has BPP+PCG, PGCG and BPP of each scene; ours is `factor` times the `number` of a row."""
    headings = ["scene"]
    for solver in PRINTED:
        headings += [f"{solver.label} (paper)", f"{solver.label} (here)"]
    headings.append(OURS.label)
    lines: list[tuple[Cell, ...]] = []
    for name, numbers in printed.items():
        line: list[Cell] = [SCENES[name].title]
        for solver, paper in zip(PRINTED, numbers, strict=True):
            line += [paper, _scaled(value(rows, name, solver.label, number), factor)]
        lines.append((*line, _scaled(value(rows, name, OURS.label, number), factor)))
    return Table(title, tuple(headings), tuple(lines), note)


def share_solved(rows: Rows) -> Table:
    """On how many of the frames a solver found the index sets before its time was up."""
    solvers = (*PRINTED, OURS)
    lines = tuple(
        (scene.title, *(value(rows, name, solver.label, "solved") for solver in solvers))
        for name, scene in SCENES.items()
    )
    note = "All frames of a scene count that have tight rows."
    return Table("Share of frames solved (here)", ("scene", *(s.label for s in solvers)), lines, note)


def _scaled(number: float | None, factor: float) -> float | None:
    return None if number is None else factor * number


def frame_points(rows: Rows, scenes: Iterable[str], label: str, x: str, y: str, x_of: str | None = None) -> Points:
    """Columns `x` and `y` of a solver; `x_of` names the row that x is taken from, frame by frame, if not the same."""
    points: Points = {}
    for scene in scenes:
        row, other = find_row(rows, scene, label), find_row(rows, scene, x_of or label)
        if row is None or other is None:
            continue
        place = {step: index for index, step in enumerate(other.series["step"])}
        kept = [index for index, step in enumerate(row.series["step"]) if step in place]
        across = np.array([other.series[x][place[row.series["step"][index]]] for index in kept])
        points[scene] = across, row.series[y][kept]
    return points


def rank_correlation(points: Points) -> float:
    """Spearman's, of all frames together; nan for few of them, or where a column has one value only."""
    if not points:
        return float("nan")
    x, y = (np.concatenate(column) for column in zip(*points.values(), strict=True))
    if x.size < LEAST_FRAMES or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return float("nan")
    return float(spearmanr(x, y).statistic)


def draw_clouds(
    panels: Mapping[str, Points], titles: Mapping[str, str], x: str, y: str, *, log: str = "xy"
) -> tuple[Figure, list[PathCollection]]:
    """A panel a solver, a colour and a marker a scene."""
    figure, axes = new_figure(1, len(panels), panel=(3.9, 3.5), sharex=True, sharey=True)
    handles = {}
    for number, (axis, (label, points)) in enumerate(zip(axes, panels.items(), strict=True)):
        name_axes(axis, x, y if number == 0 else "", title=label, log=log)
        for index, scene in enumerate(titles):
            if scene in points:
                colour, marker = SERIES[index % len(SERIES)].light, MARKERS[index % len(MARKERS)]
                handles[scene] = axis.scatter(
                    *points[scene], s=22, color=colour, marker=marker, alpha=0.85, label=titles[scene], linewidths=0
                )
    return figure, [handles[scene] for scene in titles if scene in handles]
