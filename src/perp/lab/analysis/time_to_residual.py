"""How long a method takes to come down to a residual, for many residuals and over many problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from perp.lab.palette import Stroke
from perp.lab.plots import draw_lines, name_axes
from perp.lab.runs.row import Column, LabRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

LEVELS = np.logspace(0.0, -10.0, 41)
"""Residuals from 1 to 1e-10, four a decade."""


@dataclass(frozen=True)
class Arrival:
    """When a history first is at or below a residual; infinite where it never is, or where nothing tells when."""

    reached: bool = False
    seconds: float = inf
    """Preparation included."""
    iteration: float = inf


def first_arrival(row: LabRow, level: float) -> Arrival:
    """The first check with a residual of at most `level`. Nothing is interpolated between checks.

    Rows keep some 400 checks of a long history, spaced geometrically, so that an arrival may be a few per cent late.
    A row without a history arrives at its end, if at all.
    """
    residual = row.series.get("residual")
    if residual is None or residual.size == 0:
        if not row["residual"] <= level:
            return Arrival()
        return Arrival(True, _known(row.total_seconds), _known(row["iterations"]))
    (below,) = np.nonzero(residual <= level)  # a residual that is nan is not below
    if below.size == 0:
        return Arrival()
    unknown = np.full(residual.size, inf)
    seconds, iteration = (row.series.get(name, unknown)[below[0]] for name in ("seconds", "iteration"))
    return Arrival(True, _known(row["setup_seconds"] + seconds), _known(iteration))


def _known(value: float) -> float:
    return float(value) if isfinite(value) else inf


@dataclass(frozen=True, eq=False)
class ArrivalCurve:
    """Medians over problems, at each residual of `levels`.

    A problem on which the residual is never reached counts as infinitely long, so that giving up early does not look
    fast: the median is infinite as soon as half of the problems are out of reach.
    """

    levels: Column
    seconds: Column
    iterations: Column
    share: Column
    """Of the problems on which it is reached."""


def arrival_curve(rows: Sequence[LabRow], levels: ArrayLike = LEVELS) -> ArrivalCurve:
    """The curve of one method: `rows` are its rows, one a problem."""
    wanted = np.asarray(levels, dtype=np.float64)
    if not rows:
        nothing = np.full(wanted.size, inf)
        return ArrivalCurve(wanted, nothing, nothing, np.zeros(wanted.size))
    arrivals = [[first_arrival(row, level) for row in rows] for level in wanted]
    seconds = np.array([[arrival.seconds for arrival in line] for line in arrivals])
    iterations = np.array([[arrival.iteration for arrival in line] for line in arrivals])
    return ArrivalCurve(
        wanted,
        np.median(seconds, axis=1),
        np.median(iterations, axis=1),
        np.array([np.mean([arrival.reached for arrival in line]) for line in arrivals]),
    )


def draw_arrivals(
    axes: Axes,
    curves: Mapping[str, ArrivalCurve],
    *,
    by: str = "seconds",
    strokes: Mapping[str, Stroke] | None = None,
) -> list[Line2D]:
    """Residual against the median time to it, or with `by="iterations"` the median number of iterations."""
    if by not in ("seconds", "iterations"):
        raise ValueError(f"by={by!r} is neither 'seconds' nor 'iterations'")
    label = "median time to the residual [s]" if by == "seconds" else "median iterations to the residual"
    name_axes(axes, label, "residual", log="xy")
    lines = {}
    for name, curve in curves.items():
        cost = getattr(curve, by)
        reached = np.isfinite(cost)
        lines[name] = (np.maximum(cost[reached], 1.0 if by == "iterations" else 1e-7), curve.levels[reached])
    return draw_lines(axes, lines, strokes=strokes)
