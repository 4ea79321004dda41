"""The look of the lab's figures: axes, lines and legends in the colours of the palette, and how rows converge.

Drawn with Matplotlib's objects, without the global state of pyplot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perp.extras import matplotlib
from perp.lab.palette import INK, LINE, MUTED, PAPER, Stroke, assign_strokes
from perp.lab.runs.row import LabRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Column = NDArray[np.float64] | NDArray[np.int64]

PANEL = (4.6, 3.4)
"""Width and height of one panel [inches]."""

FLOOR = 1e-17
"""Smaller residuals, zero among them, are drawn here: a logarithmic axis has no zero."""

HEADROOM = 100.0
"""How far above the residual at the start a diverging line is followed."""

IN_SIGHT = 1e3
"""The tolerance is drawn when the best residual is within this factor of it."""


def new_figure(
    down: int = 1, across: int = 1, *, panel: tuple[float, float] = PANEL, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of styled panels, row by row; `shared` is sharex and sharey of Matplotlib."""
    figure = matplotlib.figure.Figure(figsize=(panel[0] * across, panel[1] * down), layout="constrained")
    figure.set_facecolor("none")
    panels = list(np.ravel(figure.subplots(down, across, squeeze=False, **shared)))
    for axes in panels:
        style_axes(axes)
    return figure, panels


def style_axes(axes: Axes) -> None:
    axes.set_facecolor("none")
    axes.grid(True, which="major", color=LINE.light, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", color=LINE.light, labelcolor=INK.light, labelsize=9)
    axes.title.set_color(INK.light)
    axes.title.set_fontsize(10)
    axes.xaxis.label.set_color(INK.light)
    axes.yaxis.label.set_color(INK.light)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(MUTED.light)


def name_axes(axes: Axes, x: str, y: str, *, title: str = "", log: str = "") -> None:
    """Labels, with units in them; `log` names the logarithmic ones: "x", "y" or "xy"."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")


def draw_lines(
    axes: Axes,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    strokes: Mapping[str, Stroke] | None = None,
    marker: str | None = None,
) -> list[Line2D]:
    """One line per name. On a logarithmic axis zeros lie at 1e-17. `strokes` gives a name one look in all panels."""
    looks = strokes or assign_strokes(lines)
    drawn = []
    for name, (x, y) in lines.items():
        heights = np.asarray(y, dtype=np.float64)
        if axes.get_yscale() == "log":
            heights = np.where(heights < FLOOR, FLOOR, heights)
        look = looks[name]
        (line,) = axes.plot(
            np.asarray(x, dtype=np.float64), heights, color=look.colour, linestyle=look.dash, linewidth=1.5, label=name
        )
        if marker:
            line.set_marker(marker)
            line.set_markersize(4.5)
        drawn.append(line)
    return drawn


def add_legend(target: Figure | Axes, handles: Sequence[Any] | None = None) -> None:
    """Beside the panels of a figure (give the `handles`), or within one panel."""
    if isinstance(target, matplotlib.figure.Figure):
        target.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9, labelcolor=INK.light)
    else:
        target.legend(frameon=False, fontsize=8, labelcolor=INK.light)


def ranked(rows: list[LabRow]) -> list[LabRow]:
    """Best first: those that converged by their time, then the others by their residual, then those that raised."""

    def rank(row: LabRow) -> tuple[int, float]:
        if row.success:
            return 0, row.total_seconds
        return (2, 0.0) if np.isnan(row.residual) else (1, row.residual)

    return sorted(rows, key=rank)


def draw_convergence(
    rows: Sequence[LabRow],
    tol: float,
    *,
    strokes: Mapping[str, Stroke] | None = None,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Figure:
    """Residual against iterations and against seconds, one line per row, with a shared legend, best first.

    A line ends in a dot where the method converged, and in a cross where it ended otherwise. `strokes` gives the same
    method the same look in several figures; `size` is in inches.
    """
    shown = [row for row in ranked(list(rows)) if "residual" in row.series]
    looks = strokes or assign_strokes(row.name for row in rows)
    width, height = size or (10.4, max(3.9, 0.6 + 0.19 * len(shown)))
    figure, (by_iteration, by_seconds) = new_figure(1, 2, panel=(0.5 * width, height), sharey=True)
    limits = _residual_limits(shown, tol)
    lines = []
    for row in shown:
        history, look = row.series, looks[row.name]
        residual = np.clip(history["residual"], FLOOR, 10.0 * limits[1])
        lines.append(_draw_line(by_iteration, row, look, history["iteration"], residual))
        _draw_line(by_seconds, row, look, row["setup_seconds"] + history["seconds"], residual)
    _set_axes(by_iteration, by_seconds, limits, tol)
    if title:
        figure.suptitle(title, color=INK.light, fontsize=11)
    if shown:
        figure.legend(
            handles=lines,
            loc="outside right upper",
            frameon=False,
            fontsize=9,
            labelcolor=INK.light,
            handlelength=2.2,
        )
    return figure


def _draw_line(axes: Axes, row: LabRow, stroke: Stroke, along: Column, residual: Column) -> Line2D:
    (line,) = axes.plot(along, residual, color=stroke.colour, linestyle=stroke.dash, linewidth=1.5, zorder=2)
    line.set_label(row.name)
    axes.plot(
        along[-1:],
        residual[-1:],
        linestyle="none",
        marker="o" if row.success else "x",
        markersize=5.5,
        markeredgewidth=1.4,
        color=stroke.colour,
        zorder=3,
    )
    return line


def _set_axes(by_iteration: Axes, by_seconds: Axes, limits: tuple[float, float], tol: float) -> None:
    by_iteration.set_xscale("symlog", linthresh=1.0, linscale=0.3)
    by_iteration.set_xlim(left=0.0)
    by_iteration.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    by_iteration.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
    by_iteration.set_xlabel("iterations")
    by_iteration.set_ylabel("residual")
    by_seconds.set_xscale("log")
    by_seconds.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter(unit="s"))
    by_seconds.set_xlabel("time, preparation included")
    by_iteration.set_yscale("log")
    by_iteration.set_ylim(*limits)
    shows_tol = limits[0] < tol < limits[1]
    if shows_tol:
        for axes in (by_iteration, by_seconds):
            axes.axhline(tol, color=MUTED.light, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        by_iteration.annotate(
            f"tolerance {tol:.0e}",
            (0.01, tol),
            xycoords=("axes fraction", "data"),
            xytext=(2, 3),
            textcoords="offset points",
            fontsize=8,
            color=MUTED.light,
            bbox={"facecolor": PAPER.light, "edgecolor": "none", "pad": 0.5},
        )


def _residual_limits(rows: Sequence[LabRow], tol: float) -> tuple[float, float]:
    """From the best residual to a little above the start, whatever a diverging line does.

    The tolerance is shown as well unless it is so far below all lines that it would squeeze them.
    """
    if not rows:
        return 0.1, 1.0
    start = max(max(float(row.series["residual"][0]) for row in rows), FLOOR)
    least = max(min(float(row.series["residual"].min()) for row in rows), FLOOR)
    most = max(float(row.series["residual"].max()) for row in rows)
    bottom = min(least, tol) if least <= IN_SIGHT * tol else least
    return 0.4 * bottom, 2.5 * max(min(most, HEADROOM * start), 10.0 * bottom)
