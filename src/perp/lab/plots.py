"""The look of the lab's figures, how rows converge, and figures and matrices as text that stands inside a page.

Axes, lines and legends have the colours of the palette; SVG follows those of the page. Drawn with Matplotlib's objects,
without the global state of pyplot.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perp.extras import matplotlib
from perp.lab.palette import INK, LINE, MUTED, PAPER, SERIES, SHADES, Stroke, assign_strokes
from perp.lab.runs.row import LabRow
from perp.problems import operators
from perp.problems.problem import Problem

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

PATTERN_CELLS = 220
"""The largest number of dots along a side of a pattern picture."""

CLOUD = 1500
"""Artists of more marks than this are drawn as pictures."""

LINE_POINTS_PER_MARK = 4
"""A point of a plain line takes less room than a mark."""

CLOUD_DPI = 160

PNG_DPI = 130


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


def figure_to_svg(figure: Figure, name: str) -> str:
    """An <svg> element. `name` must be unique in the page: the names of the clip paths are made from it."""
    return svg_in_page(draw_svg(figure, name))


def draw_svg(figure: Figure, name: str) -> str:
    """A whole SVG file, without a background. Clouds of many points become pictures inside it."""
    rasterise_clouds(figure)
    sheet = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(
            sheet,
            format="svg",
            dpi=CLOUD_DPI,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    drawing = re.sub(r'<g id="[^"]*"', "<g", sheet.getvalue())  # nothing refers to them, and figures share them
    return re.sub(r' (?:d|x|y)="[^"]*"', lambda place: _shortened(place[0]), drawing)


def svg_in_page(drawing: str) -> str:
    """The <svg> element of a whole file, in the colours and the type of the page and as wide as the page likes."""
    drawing = drawing[drawing.index("<svg") :]
    for shade in SHADES:
        drawing = drawing.replace(shade.light, f"var({shade.variable})")
    drawing = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px system-ui, sans-serif", drawing)
    return re.sub(r' (width|height)="[^"]*"', "", drawing, count=2)


def svg_on_paper(drawing: str) -> str:
    """The whole file with a light background, for viewers that have a dark one."""
    start = drawing.index(">", drawing.index("<svg")) + 1
    return f'{drawing[:start]}\n <rect width="100%" height="100%" fill="{PAPER.light}"/>{drawing[start:]}'


def figure_to_png(figure: Figure) -> bytes:
    """On a light background."""
    sheet = io.BytesIO()
    figure.savefig(sheet, format="png", dpi=PNG_DPI, facecolor=PAPER.light, metadata={"Software": None})
    return sheet.getvalue()


def rasterise_clouds(figure: Figure) -> None:
    """Have artists of very many points drawn as pictures: as SVG elements each would take some hundred kilobytes."""
    for axes in figure.axes:
        for artist in axes.get_children():
            if isinstance(artist, matplotlib.collections.Collection):
                count = max(np.shape(artist.get_offsets())[0], len(artist.get_paths()))
            elif isinstance(artist, matplotlib.lines.Line2D):
                has_markers = artist.get_marker() not in (None, "", " ", "None", "none")
                count = np.size(artist.get_xdata()) // (1 if has_markers else LINE_POINTS_PER_MARK)
            else:
                continue
            if count > CLOUD:
                artist.set_rasterized(True)


def _shortened(place: str) -> str:
    """Coordinates with two decimals: a hundredth of a point cannot be seen."""
    return re.sub(r"(\.\d\d)\d+", r"\1", place)


def pattern_to_png(problem: Problem) -> str | None:
    """The non-zero pattern of A as a data URI, darker where entries are denser; None where A knows no entries."""
    if operators.base.TO_SPARSE not in problem.A.ability_set or problem.n == 0:
        return None
    entries = problem.A.to_sparse().tocoo()
    cells = min(problem.n, PATTERN_CELLS)
    count = np.zeros((cells, cells))
    np.add.at(count, (entries.row * cells // problem.n, entries.col * cells // problem.n), 1.0)
    share = count / max(count.max(), 1.0)
    picture = np.empty((cells, cells, 4))
    picture[..., :3] = [int(SERIES[0].light[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    picture[..., 3] = np.where(count > 0, 0.35 + 0.65 * share, 0.0)
    sheet = io.BytesIO()
    matplotlib.image.imsave(sheet, picture, format="png")
    return "data:image/png;base64," + base64.b64encode(sheet.getvalue()).decode("ascii")
