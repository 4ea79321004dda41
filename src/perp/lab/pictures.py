"""Figures and matrices as text that stands inside a page: SVG that follows the page's colours, and PNG data."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING

import numpy as np

from perp.extras import matplotlib
from perp.lab.palette import PAPER, SERIES, SHADES
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATTERN_CELLS = 220
"""The largest number of dots along a side of a pattern picture."""

CLOUD = 1500
"""Artists of more marks than this are drawn as pictures."""

LINE_POINTS_PER_MARK = 4
"""A point of a plain line takes less room than a mark."""

CLOUD_DPI = 160
PNG_DPI = 130


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
    if TO_SPARSE not in problem.A.ability_set or problem.n == 0:
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
