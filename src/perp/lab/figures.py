"""Figures from rows. Drawn with Matplotlib's objects, without the global state of pyplot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perp.errors import MissingExtra
from perp.lab.palette import INK, LINE, MUTED, PAPER, Stroke, assign_strokes
from perp.lab.rows import Row, ranked, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Column = NDArray[np.float64] | NDArray[np.int64]

FLOOR = 1e-17
"""Smaller residuals, zero among them, are drawn here: a logarithmic axis has no zero."""

HEADROOM = 100.0
"""How far above the residual at the start a diverging line is followed."""

IN_SIGHT = 1e3
"""The tolerance is drawn when the best residual is within this factor of it."""


def require_matplotlib() -> None:
    """Raise `MissingExtra`, with the command that installs it, where Matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra("matplotlib", "drawing figures", "report") from error


def draw_convergence(
    rows: Sequence[Row],
    tol: float,
    *,
    strokes: Mapping[str, Stroke] | None = None,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Figure:
    """Residual against iterations and against seconds, one line a row, with a shared legend, best first.

    A line ends in a dot where the method converged, and in a cross where it ended otherwise. `strokes` gives the same
    method the same look in several figures; `size` is in inches.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = [row for row in ranked(list(rows)) if len(row.history)]
    looks = strokes or assign_strokes(row.method for row in rows)
    figure = Figure(figsize=size or (10.4, max(3.9, 0.6 + 0.19 * len(shown))), layout="constrained")
    figure.set_facecolor("none")
    by_iteration, by_seconds = figure.subplots(1, 2, sharey=True)
    limits = _residual_limits(shown, tol)
    lines = []
    for row in shown:
        history = thinned(row.history)
        residual = np.clip(history.residual, FLOOR, 10.0 * limits[1])
        lines.append(_draw_line(by_iteration, row, looks[row.method], history.iteration, residual))
        _draw_line(by_seconds, row, looks[row.method], row.setup_seconds + history.seconds, residual)
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


def _draw_line(axes: Axes, row: Row, stroke: Stroke, along: Column, residual: Column) -> Line2D:
    (line,) = axes.plot(along, residual, color=stroke.colour, linestyle=stroke.dash, linewidth=1.5, zorder=2)
    line.set_label(row.method)
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
    from matplotlib.ticker import EngFormatter, FuncFormatter, NullLocator

    by_iteration.set_xscale("symlog", linthresh=1.0, linscale=0.3)
    by_iteration.set_xlim(left=0.0)
    by_iteration.xaxis.set_minor_locator(NullLocator())
    by_iteration.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    by_iteration.set_xlabel("iterations")
    by_iteration.set_ylabel("residual")
    by_seconds.set_xscale("log")
    by_seconds.xaxis.set_major_formatter(EngFormatter(unit="s"))
    by_seconds.set_xlabel("time, preparation included")
    by_iteration.set_yscale("log")
    by_iteration.set_ylim(*limits)
    shows_tol = limits[0] < tol < limits[1]
    for axes in (by_iteration, by_seconds):
        if shows_tol:
            axes.axhline(tol, color=MUTED.light, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        axes.set_facecolor("none")
        axes.grid(True, which="major", color=LINE.light, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(which="both", color=LINE.light, labelcolor=INK.light, labelsize=9)
        axes.xaxis.label.set_color(INK.light)
        axes.yaxis.label.set_color(INK.light)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(MUTED.light)
    if shows_tol:
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


def _residual_limits(rows: Sequence[Row], tol: float) -> tuple[float, float]:
    """From the best residual to a little above the start, whatever a diverging line does.

    The tolerance is shown as well unless it is so far below all lines that it would squeeze them.
    """
    if not rows:
        return 0.1, 1.0
    start = max(max(float(row.history.residual[0]) for row in rows), FLOOR)
    least = max(min(float(row.history.residual.min()) for row in rows), FLOOR)
    most = max(float(row.history.residual.max()) for row in rows)
    bottom = min(least, tol) if least <= IN_SIGHT * tol else least
    return 0.4 * bottom, 2.5 * max(min(most, HEADROOM * start), 10.0 * bottom)
