"""What Figures 6.2, 6.3 and 6.4 share: a point a frame, and how two columns of such points go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from perp.lab.experiments.experiment import Rows
from perp.lab.experiments.thesis.scenes import find_row
from perp.lab.palette import SERIES
from perp.lab.plots import name_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

Points = dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""x and y of the frames of each scene."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LEAST_FRAMES = 5
"""Below which ranks tell nothing."""


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
