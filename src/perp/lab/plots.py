"""The look of the lab's figures: axes, lines and bars in the colours of the palette, without pyplot's global state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from perp.lab.figures import FLOOR, require_matplotlib
from perp.lab.palette import INK, LINE, MUTED, Stroke, assign_strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PANEL = (4.6, 3.4)
"""Width and height of one panel [inches]."""


def new_figure(
    down: int = 1, across: int = 1, *, panel: tuple[float, float] = PANEL, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of styled panels, row by row; `shared` is sharex and sharey of Matplotlib."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(panel[0] * across, panel[1] * down), layout="constrained")
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
    """A line a name. On a logarithmic axis zeros lie at 1e-17. `strokes` gives a name the same look in many panels."""
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
    from matplotlib.figure import Figure

    if isinstance(target, Figure):
        target.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9, labelcolor=INK.light)
    else:
        target.legend(frameon=False, fontsize=8, labelcolor=INK.light)
